"""Every box is about a place that the model has, and leads to a page that the app has."""

from typing import Any

import pytest

from transformer import Transformer, TransformerConfig
from transformer.analysis.paper.costs import parameter_shapes
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES
from transformer.text.languages import Languages
from viz.app.chrome.explanations import code_line
from viz.app.links.navigation import TITLES
from viz.pages.architecture.boxes import BOXES, BY_HEADING, BY_NAME, Box, model_boxes
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


def described(languages: Languages, **fields: Any) -> tuple[dict[str, Box], str]:
    """Return the boxes of a model by their names, and their texts joined."""
    boxes = model_boxes(TransformerConfig(vocab_size=100, **fields), languages)
    assert [box.heading for box in boxes] == list(BY_HEADING)
    return {box.name: box for box in boxes}, " ".join(box.text for box in boxes)


def test_of_a_model_with_two_vocabularies_and_biases_nothing_is_said_that_is_the_papers() -> None:
    boxes, text = described(
        Languages("French", ""),
        source_vocab_size=90,
        activation="swish",
        attention_bias=True,
        output_bias=True,
        positions="learned",
    )
    untrue = ("one and the same", "joint", "with a ReLU", "waves", "English", "German")
    assert [word for word in untrue if word in text] == []
    titles = boxes["encoder.tokens"].title, boxes["decoder.tokens"].title
    assert titles == ("French", "Target, shifted right")
    for name in ("encoder.embedding", "decoder.embedding"):
        assert "another" in boxes[name].text or "of its own" in boxes[name].text
    assert r"\text{swish}" in boxes["encoder.feed_forward"].equation
    assert "z · σ(z)" in boxes["decoder.feed_forward"].text
    for box in boxes.values():
        assert ("have biases" in box.text) == bool(box.kind)
    assert boxes["decoder.linear"].equation.endswith("+ b")
    assert "a bias" in boxes["decoder.linear"].text
    assert boxes["encoder.positions"].equation == "P[pos]"


def test_of_the_papers_model_all_is_said_that_is_the_papers() -> None:
    _, text = described(Languages("English", "German"))
    assert all(word in text for word in ("one and the same", "joint", "with a ReLU", "waves"))
    assert "bias" not in text
    assert "Each English token looks at all English tokens" in text
    assert "every German position" in text
