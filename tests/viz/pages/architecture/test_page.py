"""The architecture page opens with each of its views, whatever the URL asks for."""

import pytest

from tests.viz.app_test import texts
from viz.pages.architecture import VIEWS


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("wrong", ["x", "99999999"])
def test_a_url_that_makes_no_sense_opens_the_page_as_ever(opened, view: str, wrong: str) -> None:
    names = ("box", "norm", "N", "d_k", "positions", "quantity", "d", "n", "padding")
    app = opened(arch_view=view, arch_layer=wrong, **{f"arch_{name}": wrong for name in names})
    assert not app.error
    assert not any("must be" in line or "nothing to draw" in line for line in texts(app))


def test_a_view_that_does_not_exist_is_the_drawing(opened) -> None:
    assert opened(arch_view="x").subheader[0].value == "Self-attention of the encoder, layer 1"
