"""The note under a map says what a square is a share of, and what is left out."""

import pytest

from transformer.analysis.lenses import LENSES
from transformer.kinds import KINDS
from viz.draw.caption import row_note


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lens", [name for name in LENSES if name != "weights"])
def test_a_note_says_where_the_residual_is_not_drawn(lens, kind) -> None:
    leaves_out = LENSES[lens].without_residual and kind == "cross"
    assert ("the residual aside" in row_note(lens, kind)) == leaves_out
    assert LENSES[lens].shares in row_note(lens, kind)
