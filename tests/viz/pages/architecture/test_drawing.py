"""Each box of Figure 1 opens to the model's own shapes and parameters, and links lead on."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url
from tests.viz.pages import reading
from transformer import Transformer, TransformerConfig
from transformer.paper import costs, flow
from transformer.text.languages import OURS, Languages
from viz.app.chrome import explanations
from viz.draw import labels
from viz.pages.architecture import drawing
from viz.pages.architecture.boxes import Box, model_boxes

BOXES = model_boxes(TransformerConfig.base(), OURS)


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_what_a_box_shows_is_a_place_of_the_model(model: Transformer, box: Box) -> None:
    points = model.hook_points()
    for value in (box.value, *(hook for _, hook in box.inside)):
        if value and value not in (flow.LOGITS, flow.PROBABILITIES):
            for layer in range(model.config.N):
                assert value.format(layer) in points
    if box.module:
        module = box.module.format(1)
        if not module.endswith(".positions"):  # learnt or a formula, as the model has it
            assert costs.parameter_shapes(model, module)
    # a value belongs to the stack and the sub-layer that the box is named after
    if box.value not in ("", flow.LOGITS, flow.PROBABILITIES):
        assert box.value.startswith(box.stack)
    if box.layered:
        assert box.name.split(".")[1] in box.value
    assert all(explanations.function_name(function) for function in box.code)
    assert set(box.pages) <= set(labels.PAGE_TITLES)
    assert box.title.lower() in drawing.spoken_name(box).lower()
    assert box.heading in drawing.spoken_name(box)


def test_no_two_boxes_can_be_taken_for_each_other() -> None:
    assert len({box.name for box in BOXES}) == len({box.heading for box in BOXES}) == 20
    assert {box.kind for box in BOXES if box.kind} == {"encoder_self", "decoder_self", "cross"}


def described(languages: Languages, **fields: Any) -> tuple[dict[str, Box], str]:
    """Return the boxes of a model by their names, and their texts joined."""
    boxes = model_boxes(TransformerConfig(vocab_size=100, **fields), languages)
    assert [box.heading for box in boxes] == [box.heading for box in BOXES]
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
    untrue = ("share one matrix", "joint", "with a ReLU", "waves", "English", "German")
    assert [word for word in untrue if word in text] == []
    titles = boxes["encoder.tokens"].title, boxes["decoder.tokens"].title
    assert titles == ("French", "Target, shifted right")
    for name in ("encoder.embedding", "decoder.embedding"):
        assert "Here the source" in boxes[name].text
    assert r"\text{swish}" in boxes["encoder.feed_forward"].equation
    assert "z · σ(z)" in boxes["decoder.feed_forward"].text
    for box in boxes.values():
        assert ("have biases" in box.text) == bool(box.kind)
    assert boxes["decoder.linear"].equation.endswith("+ b")
    assert "a bias" in boxes["decoder.linear"].text
    assert boxes["encoder.positions"].equation == "P[pos]"


def test_of_the_papers_model_all_is_said_that_is_the_papers() -> None:
    _, text = described(Languages("English", "German"))
    assert all(word in text for word in ("share one matrix", "joint", "with a ReLU", "waves"))
    assert "bias" not in text
    assert "Each English token looks at all English tokens" in text
    assert "Each German position" in text


def facts(app: AppTest) -> dict[str, str]:
    """Return names and values of the open box."""
    return dict(reading.tables(app)[-1][2:])


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_every_box_opens_to_the_shapes_and_parameters_of_the_model(opened, translator, box) -> None:
    app = opened(arch_box=box.heading, arch_layer="2")
    heading = app.subheader[0].value
    assert heading == box.heading + (", layer 2" if box.layered else "")
    trace, model = translator.trace(reading.SENTENCE), translator.model
    n, m, d, vocab = len(trace.source_tokens), len(trace.target_tokens), 32, model.config.vocab_size
    rows = n if box.stack == "encoder" else m
    keys = m if box.name == "decoder.self_attention" else n
    shown = facts(app)
    if box.kind:
        assert shown["weights"] == f"4 × {rows} × {keys}"
        assert (shown["Q"], shown["K"], shown["V"]) == (
            f"4 × {rows} × 8", f"4 × {keys} × 8", f"4 × {keys} × 8",
        )  # fmt: skip
    elif box.name.endswith(("linear", "softmax")):
        assert shown["out"] == f"{m} × {vocab}"
    else:
        assert shown["out"] == (f"{rows} tokens" if "tokens" in box.name else f"{rows} × {d}")
    assert ("set to 0 by the ReLU" in shown.get("hidden", "")) == box.name.endswith("feed_forward")
    expected = {
        "attention": 4 * 32 * 32, "feed_forward": 32 * 64 + 64 + 64 * 32 + 32, "norm": 64,
        "embedding": vocab * 32, "linear": vocab * 32, "positions": "none: a formula",
    }  # fmt: skip
    last = box.name.rpartition("_norm")[1].strip("_") or box.name.split(".")[1]
    wanted = expected.get("attention" if last.endswith("attention") else last, "none")
    assert shown["parameters"] == (f"{wanted:,}" if isinstance(wanted, int) else wanted)


def test_a_norm_leads_to_the_view_of_norms(opened) -> None:
    app = opened(arch_box="Add & norm after feed forward of the encoder", arch_layer="2")
    app.button(key="to-norms").click().run()
    assert not app.exception
    assert in_url(app, "arch_view") == drawing.NORMS


def test_a_feed_forward_network_is_two_convolutions(opened) -> None:
    app = opened(arch_box="Feed forward of the decoder", arch_layer="2")
    difference = facts(app)["as two convolutions"]
    assert difference == "equal" or float(difference.split()[-1]) < 1e-5
