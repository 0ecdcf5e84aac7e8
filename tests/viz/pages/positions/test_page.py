"""The positions page opens with each of its views, whatever the URL asks for."""

import pytest

from tests.viz.app_test import texts
from viz.pages.positions import VIEWS


@pytest.mark.parametrize("view", VIEWS)
def test_a_choice_that_makes_no_sense_leaves_the_view_alive(opened, view: str) -> None:
    names = ("pe_pos", "pe_k", "pe_moved", "pe_seed", "pe_stack", "pe_part", "pe_drawn")
    app = opened(view, **dict.fromkeys(names, "9999999"))
    assert app.button_group(key="pe_view").value == view
    assert any("§3." in element.value and ".py:" in element.value for element in app.markdown)


@pytest.mark.parametrize("view", ["Remove positions", "Shift positions"])
def test_what_no_search_can_do_is_one_sentence_beside_an_edited_translation(opened, view) -> None:
    app = opened(view, edited="Der Hund schläft.", forbid="z.B.")
    assert "“z.B.” cannot be forbidden" in texts(app)[-1]
