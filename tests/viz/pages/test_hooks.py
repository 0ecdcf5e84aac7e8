"""Each hook point of a layer shows what its code reads, and its edit changes the logits."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.viz.app_test import choice
from tests.viz.draw.message import decode
from tests.viz.pages import reading
from transformer.analysis.teacher_forcing import forced_pair
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


# the decoder's other boxes are made as those of the encoder
@pytest.mark.parametrize(
    ("box", "value"),
    [(box, value) for box, value in EVERY if "encoder" in box or "cross" in box or value == "mask"],
)
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
