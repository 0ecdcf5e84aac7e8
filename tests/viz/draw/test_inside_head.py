"""Messages for the inside of a head are what the model computed, under the right names."""

import dataclasses
from itertools import product
from typing import Any, get_args

import numpy as np

from tests.viz.draw.message import decode
from transformer import TransformerConfig, kinds
from transformer.paper import arithmetic, scaling
from viz.draw.inside_head import (
    Node,
    WalkStep,
    encode_inside,
    equation,
    step_of,
)
from viz.draw.palette import COLOR
from viz.pages.inside import walk

KEYS = ("▁Two", "▁dog", "s")
STEPS = [
    WalkStep("All", "q", "3", "All of it.", "a.py:1  x"),
    WalkStep("x", "", "", "", ""),
]
SHAPES = {
    "x": (6,), "q": (2,), "k": (3, 2), "v": (3, 4), "products": (3, 2), "dots": (3,),
    "scaled": (3,), "seen": (3,), "weights": (3,), "weighted": (3, 4), "z": (4,),
    "concat": (5, 4), "norms": (5,), "result": (6,), "others": (6,), "added": (6,),
    "normalised": (6,),
}  # fmt: skip


def numbers() -> arithmetic.Arithmetic:
    draw = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        name: draw.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()
    }
    return arithmetic.Arithmetic(**arrays | {"seen": np.array([True, True, False])})


def content(**arrays: Any) -> bytes:
    return encode_inside(
        dataclasses.replace(numbers(), **arrays), KEYS, "Hunde", "cross",
        title="L1 H2 · cross", steps=STEPS, step=1, head=1, factor="÷ √dₖ",
    )  # fmt: skip


def test_every_array_arrives_exactly_under_its_name() -> None:
    meta, _ = decode(content())
    arrays = meta["arrays"]
    assert meta["shapes"] == {name: [*shape] for name, shape in SHAPES.items()}
    assert set(arrays) == {*SHAPES}
    for name, shape in SHAPES.items():
        assert (arrays[name].shape, arrays[name].dtype) == (shape, np.float32)
        np.testing.assert_array_equal(arrays[name], getattr(numbers(), name))
    assert (meta["component"], meta["title"]) == ("inside_head", "L1 H2 · cross")
    assert (meta["query"], meta["keys"]) == ("Hunde", ["Two", "dog", "·s"])
    assert (meta["head"], meta["step"], meta["factor"]) == (1, 1, "÷ √dₖ")
    assert meta["color"] == COLOR["cross"]
    assert meta["steps"][0] == {**dataclasses.asdict(STEPS[0]), "equation": ["mrow", [["mi", "q"]]]}


def test_arrays_that_are_read_together_share_an_end_and_one_value_in_100_has_no_say() -> None:
    zeros: dict[str, Any] = {name: np.zeros(shape, "f") for name, shape in SHAPES.items()}
    x = np.full(200, 0.5, np.float32)
    x[0] = 9
    changed = {"v": zeros["v"] - 2, "weighted": zeros["weighted"] + 1, "x": x}
    ends = decode(content(**zeros | changed))[0]["ends"]
    assert [ends[name] for name in ("v", "weighted", "z", "concat")] == [2] * 4
    assert (ends["x"], ends["others"]) == (0.5, 0.5)
    assert ends["q"] == 1  # all 0
    assert "dots" not in ends


def test_a_step_is_one_of_the_walk() -> None:
    assert [step_of(value, 2) for value in (0, 1, 2, True, "1")] == [0, 1, None, None, None]


CHILDREN = {"msub": 2, "msup": 2, "msubsup": 3, "mfrac": 2, "msqrt": 1, "munder": 2}


def test_every_equation_of_every_step_is_well_formed() -> None:
    config = TransformerConfig.demo()
    for kind, scale in product(kinds.KINDS, get_args(scaling.Scale)):
        for step in walk.walk_steps(config, kind, "the row", 7, scale):
            well_formed(equation(step.equation))


def well_formed(node: Node) -> None:
    tag, inside = node
    if isinstance(inside, str):
        assert tag in ("mi", "mn", "mo", "mtext")
        assert inside
    else:
        assert len(inside) == CHILDREN.get(tag, len(inside))
        assert tag in (*CHILDREN, "mrow")
        for child in inside:
            well_formed(child)
