"""Every box is about a place that the model has, and leads to a page that the app has."""

import runpy
from pathlib import Path

import pytest
import streamlit as st

from transformer import Transformer
from transformer.analysis.counting import parameter_shapes
from transformer.analysis.flow import LOGITS, PROBABILITIES
from viz.app.look import code_line
from viz.app.page_links import PAGES
from viz.pages.architecture.boxes import BOXES, BY_NAME, BY_OPENED, Box
from viz.pages.architecture.norms import NAMES

APP = Path(__file__).parents[4] / "app.py"


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_what_a_box_shows_is_a_place_of_the_model(model: Transformer, box: Box) -> None:
    points = model.hook_points()
    for value in (box.value, *(hook for _, hook in box.inside)):
        if value and value not in (LOGITS, PROBABILITIES):
            for layer in range(model.config.N):
                assert value.format(layer) in points
    if box.module:
        module = box.module.format(1)
        if not module.endswith(".positions"):  # learnt or a formula, as the model has it
            assert parameter_shapes(model, module)
    # a value belongs to the stack and the sub-layer that the box is named after
    if box.value not in ("", LOGITS, PROBABILITIES):
        assert box.value.startswith(box.stack)
    if box.layered:
        assert box.name.split(".")[1] in box.value
    assert all(code_line(function) for function in box.code)
    assert set(box.pages) <= set(PAGES)


def test_no_two_boxes_can_be_taken_for_each_other() -> None:
    assert len(BY_NAME) == len(BY_OPENED) == len(BOXES) == 20
    assert {box.kind for box in BOXES if box.kind} == {"encoder_self", "decoder_self", "cross"}
    assert [box.name for box in NAMES.values()] == [b.name for b in BOXES if "_norm" in b.name]


def test_a_page_that_a_box_leads_to_is_one_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[dict[str, object]] = []

    def navigation(pages: list[dict[str, object]], **_: object) -> None:
        there.extend(pages)
        raise StopIteration  # what follows draws a page

    monkeypatch.setattr(st, "Page", lambda show, **said: {"show": show, **said})
    monkeypatch.setattr(st, "navigation", navigation)
    with pytest.raises(StopIteration):
        runpy.run_path(str(APP))
    assert [one["url_path"] for one in there if one["default"]] == ["translate"]
    by_path = {one["url_path"]: (one["show"], one["title"]) for one in there}
    assert len(by_path) == 8
    for path, page in PAGES.items():
        assert by_path[path] == (page.show, page.TITLE)
