"""Each hook point of a layer shows what its code reads, and its edit changes the logits."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import choice
from tests.viz.draw.message import decode
from tests.viz.pages import reading
from transformer import Transformer, TransformerConfig, Translator
from transformer.analysis.teacher_forcing import forced_pair
from transformer.checkpoints import checkpoint
from transformer.paper.hook_points import axes, layer_points, value_name
from viz.pages import hooks

COUNTS = {"encoder": 3 + 8 + 3 + 1 + 3, "decoder": 3 + 2 * (8 + 3) + 1 + 3}
LAYERS = {"encoder": 1, "decoder": 1}
EVERY = [  # of a model with any number of layers
    (f"{stack}.{box}", value)
    for stack in COUNTS
    for box, values in {
        "embedding": ("tokens",),
        "positions": ("positions",),
        "sum": ("sum",),
        "self_attention": ("mask", "q", "k", "v", "attn_scores", "pattern", "z", "result"),
        "self_attention_norm": ("sublayer", "sum", "normalised"),
        "cross_attention": ("mask", "q", "k", "v", "attn_scores", "pattern", "z", "result"),
        "cross_attention_norm": ("sublayer", "sum", "normalised"),
        "feed_forward": ("hidden",),
        "feed_forward_norm": ("sublayer", "sum", "normalised"),
    }.items()
    if stack == "decoder" or "cross" not in box
    for value in values
]


def test_the_boxes_list_every_hook_point_of_a_layer_once(model) -> None:
    points = layer_points(model, LAYERS)
    listed = [(box, value_name(point)) for box, own in points.items() for point in own]
    assert sorted(listed) == sorted(EVERY)
    for stack, count in COUNTS.items():
        own = [point for box in points.values() for point in box if point.startswith(stack)]
        assert len({*own}) == count
        prefixes = (f"{stack}.embedding.", f"{stack}.layers.1.")
        assert {*own} == {name for name in model.hook_points() if name.startswith(prefixes)}
    assert {*points} == {box for box in hooks.BOXES if box.partition(".")[2] not in hooks.WITHOUT}


@pytest.mark.parametrize(("box", "value"), EVERY)
def test_the_code_of_a_point_reads_what_is_drawn_and_changes_the_logits(
    opened, translator, box: str, value: str
) -> None:
    app = opened(hooks_box=hooks.heading(box), hook=value, layer="2", head="3")
    (point,) = (p for p in layer_points(translator.model, LAYERS)[box] if value_name(p) == value)
    trace, model = translator.trace(reading.SENTENCE), translator.model
    pair = forced_pair(model, trace)
    read, change = (code.value for code in app.code[:2])
    assert point in read
    assert point in change
    assert all(len(code.strip().splitlines()) == 2 for code in (read, change))
    names: dict[str, Any] = {"translator": translator, "pair": pair, "torch": torch}
    with torch.inference_mode():
        exec(read, names)
        exec(change, names)
        plain = model(pair.source, pair.target)
    pictures = [decode(e.proto.bytes) for e in app.get("bidi_component")]
    (drawn,) = (m for m in pictures if m[0]["component"] in ("tensor_strip", "attention_map"))
    shown = drawn[1]["weights" if drawn[0]["component"] == "attention_map" else "values"]
    expected = names["value"].float().numpy()
    np.testing.assert_allclose(shown.reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)
    shape = [*model.run_with_cache(pair.source, pair.target)[1][point].shape]
    sizes = ", ".join(f"{axis} {size}" for axis, size in zip(axes(point), shape, strict=True))
    assert any(sizes in text.value for text in app.markdown)
    logits = names["logits"]
    assert (logits - plain).abs().max() > 1e-4
    assert logits.isfinite().all()


FEW = [
    ("decoder.cross_attention", "k"),
    ("decoder.self_attention", "attn_scores"),
    ("encoder.self_attention", "mask"),
    ("encoder.positions", "positions"),
    ("decoder.feed_forward", "hidden"),
]


@pytest.mark.parametrize(("box", "value"), FEW)
@pytest.mark.parametrize("shape", ["marian", "three heads", "one word", "long"])
def test_other_models_and_lengths_show_their_own_shapes(
    serve, translator, tmp_path, shape: str, box: str, value: str
) -> None:
    """In a MarianMT folder both stacks differ in layers and heads."""
    text, other = "The baker sings.", translator
    if shape == "marian":
        other = Translator.load(marian_folder.write(tmp_path / "m", decoder=(3, 4, 32)))
        text = marian_folder.SOURCE[0]
    if shape == "three heads":
        config = TransformerConfig(
            vocab_size=translator.tokenizer.vocab_size, N=1, h=3, d_model=24, d_ff=16,
            positions="learned", max_length=64,
        )  # fmt: skip
        checkpoint.save(tmp_path / "t", Transformer(config), translator.tokenizer)
        other = Translator.load(tmp_path / "t")
    if shape in ("one word", "long"):
        text = "dog" if shape == "one word" else "dog " * 40
    layers = {"encoder": other.model.config.N - 1, "decoder": other.model.config.decoder.N - 1}
    url = {"hook": value, "hooks_box": hooks.heading(box), "layer": str(max(layers.values()) + 1)}
    app = serve("hooks", checkpoint=other.folder, text=text, **url)
    assert not app.exception
    (point,) = (p for p in layer_points(other.model, layers)[box] if value_name(p) == value)
    assert point in app.code[0].value
    with torch.inference_mode():
        pair = forced_pair(other.model, other.trace_of(other.translate(text)))
        exec(app.code[0].value, names := {"translator": other, "pair": pair})
    drawn = reading.message(app, "tensor_strip")[1]["values"]
    expected = names["value"].float().numpy()
    np.testing.assert_allclose(drawn.reshape(expected.shape), expected, rtol=1e-4, atol=1e-4)


def click_on(app, key: str, sent: object) -> None:
    app._run(choice(app, key, sent))


def test_a_click_on_a_box_opens_its_hook_points(opened) -> None:
    app = opened(hook="q")
    assert app.subheader[0].value == "Self-attention of the encoder"
    click_on(app, "hooks-drawing", "decoder.feed_forward")
    assert app.subheader[0].value == "Feed forward of the decoder"
    assert "hook_hidden" in app.code[0].value
    click_on(app, "hooks-drawing", "decoder.linear")
    assert any("No hook point" in text.value for text in app.markdown)
    for hostile in ("decoder.x", 3, None, ["decoder.linear"], {"a": 1}):
        click_on(app, "hooks-drawing", hostile)
        assert not app.exception
        assert app.subheader[0].value == "Linear of the decoder"
