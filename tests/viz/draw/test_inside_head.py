"""What travels for the inside of a head is what the model computed, under the right names."""

from __future__ import annotations

import dataclasses
import json
import struct
from typing import Any

import numpy as np
import pytest

from transformer.analysis.arithmetic import Arithmetic
from viz.draw.inside_head import Step, inside_packet
from viz.draw.palette import COLOR, difference_table

KEYS = ("▁Two", "▁dog", "s")
STEPS = [
    Step("All", ("mi", "q"), "3", "All of it.", "a.py:1  x"),
    Step("x", ("mrow", ()), "", "", ""),
]
SHAPES = {
    "x": (6,), "q": (2,), "k": (3, 2), "v": (3, 4), "products": (3, 2), "dots": (3,),
    "scaled": (3,), "seen": (3,), "weights": (3,), "weighted": (3, 4), "z": (4,),
    "concat": (5, 4), "norms": (5,), "result": (6,), "others": (6,), "added": (6,),
    "normalised": (6,),
}  # fmt: skip


def numbers() -> Arithmetic:
    draw = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        name: draw.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()
    }
    return Arithmetic(**arrays | {"seen": np.array([True, True, False])})


def packet(keys: tuple[str, ...] = KEYS) -> bytes:
    return inside_packet(
        numbers(), keys, "Hunde", "cross",
        title="L1 H2 · cross", steps=STEPS, step=1, head=1, factor="÷ √dₖ",
    )  # fmt: skip


def test_the_fields_are_those_that_the_page_has() -> None:
    assert {field.name for field in dataclasses.fields(Arithmetic)} == set(SHAPES)


def test_every_array_arrives_exactly_under_its_name() -> None:
    sent = packet()
    (length,) = struct.unpack_from("<I", sent)
    header = json.loads(sent[4 : 4 + length])
    colors = np.frombuffer(sent, np.uint8, 1536, 4 + length).reshape(2, 256, 3)
    values = np.frombuffer(sent, "<f4", offset=4 + length + 1536)
    at = 0
    for name, shape in header["shapes"].items():
        size = int(np.prod(shape))
        expected = getattr(numbers(), name)
        assert tuple(shape) == SHAPES[name]
        np.testing.assert_array_equal(values[at : at + size].reshape(shape), expected)
        at += size
    assert at == len(values)
    np.testing.assert_array_equal(colors[0], difference_table("light"))
    np.testing.assert_array_equal(colors[1], difference_table("dark"))
    assert (header["query"], header["keys"]) == ("Hunde", ["Two", "dog", "·s"])
    assert (header["head"], header["step"], header["factor"]) == (1, 1, "÷ √dₖ")
    assert (header["kind"], header["color"]) == ("cross", COLOR["cross"])
    assert header["steps"][0] == {**dataclasses.asdict(STEPS[0]), "equation": ["mi", "q"]}


def test_a_label_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="2 labels for 3 keys"):
        packet(KEYS[:2])
