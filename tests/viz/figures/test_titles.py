"""Titles of charts that no page draws by itself; `tests/viz/pages/statements` has all others."""

import numpy as np
import pytest

from transformer.analysis.heads.head import Head
from transformer.kinds import KINDS
from transformer.text.languages import Languages
from viz.figures import changes, heads
from viz.figures.still import small_maps


def test_lines_are_counted_over_their_change() -> None:
    spec = changes.lines_chart(np.ones(4), 1.0).to_dict()
    axes = [part["encoding"].get(name, {}) for part in spec["layer"] for name in "xy"]
    titles = {(axis["field"], axis["title"]) for axis in axes if axis.get("title")}
    assert titles == {("low", "change of log p per subword, in nats"), ("lines", "lines")}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_that_look_and_columns_where_they_look(kind) -> None:
    languages = Languages("English", "German")
    figure = heads.head_map(
        np.full((2, 2), 0.5), ["a", "b"], ["c", "d"], kind=kind, languages=languages
    )
    assert figure.layout.xaxis.title.text.endswith("where it looks")
    assert figure.layout.yaxis.title.text.split(":")[0] == (
        "English" if kind == "encoder_self" else "German"
    )
    assert "where it looks" not in figure.layout.yaxis.title.text


def test_heads_and_layers_count_from_1() -> None:
    small = small_maps(np.full((1, 2, 2, 2), 0.5), kind="cross", layers=[0], counts=[2])
    facet = small.to_dict()["facet"]
    assert {part["header"]["labelExpr"] for part in facet.values()} == {
        "'L' + (datum.value + 1)", "'H' + (datum.value + 1)",
    }  # fmt: skip
    assert Head("cross", 0, 0).title == "L1 H1 · cross-attention"
