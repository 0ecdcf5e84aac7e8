"""Every box is about a place that the model has, and leads to a page that the app has."""

import pytest

from transformer import Transformer
from transformer.analysis.paper.counting import parameter_shapes
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES
from viz.app.explanations import code_line
from viz.app.navigation import TITLES
from viz.pages.architecture.boxes import BOXES, BY_HEADING, BY_NAME, Box
from viz.pages.architecture.norms import NAMES


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
    assert set(box.pages) <= set(TITLES)


def test_no_two_boxes_can_be_taken_for_each_other() -> None:
    assert len(BY_NAME) == len(BY_HEADING) == len(BOXES) == 20
    assert {box.kind for box in BOXES if box.kind} == {"encoder_self", "decoder_self", "cross"}
    assert [box.name for box in NAMES.values()] == [b.name for b in BOXES if "_norm" in b.name]
