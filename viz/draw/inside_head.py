"""One query word through one head as Streamlit mounts it: a picture that can be walked through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.draw.bundle import script, style
from viz.draw.labels import shown
from viz.draw.mathml import Node
from viz.draw.packet import run_of_bytes
from viz.draw.palette import COLOR, difference_table

if TYPE_CHECKING:
    from transformer.analysis.arithmetic import Arithmetic
    from transformer.kinds import Kind

# the shadow root keeps Streamlit's styles out and these in
_inside_head = st.components.v2.component(
    "headlight_inside_head", js=script("inside_head.js"), css=style()
)


@dataclass(frozen=True)
class Step:
    """One step of the arithmetic, as it is told above the picture.

    Args:
        name: short, for its button.
        equation: a tree of MathML elements.
        shape: with this model's and this sentence's numbers.
        says: one sentence.
        code: the line of code that does it, with its file.
    """

    name: str
    equation: Node
    shape: str
    says: str
    code: str


def inside_head(
    numbers: Arithmetic,
    keys: Sequence[str],
    query: str,
    kind: Kind,
    *,
    title: str,
    steps: Sequence[Step],
    step: int,
    on_step: Callable[[int], None],
    head: int,
    factor: str,
    key: str,
) -> None:
    """Draw every number between x and the residual stream, each a hover away.

    Args:
        keys: `[key]`, the tokens that are looked at.
        query: the token that looks, as a person reads it.
        kind: gives the colour of the weights.
        title: such as `L3 H5 · cross`.
        steps: what is told; 0 is the whole as one picture.
        step: where the walk begins when the picture first appears, or what a link asks for.
        on_step: called with the step that was chosen by hand.
        head: which of the heads it is, from 0.
        factor: what q·k is multiplied by, in words.
        key: names the component in the session; one key, one place on the page.

    Raises:
        ValueError: if a label is missing or too many.
    """
    data = inside_packet(
        numbers,
        keys,
        query,
        kind,
        title=title,
        steps=steps,
        step=step,
        head=head,
        factor=factor,
    )

    def chosen() -> None:
        if (picked := st.session_state[key].get("step")) is not None:
            on_step(int(picked))

    _inside_head(key=key, data=data, on_step_change=chosen)


def inside_packet(
    numbers: Arithmetic,
    keys: Sequence[str],
    query: str,
    kind: Kind,
    *,
    title: str,
    steps: Sequence[Step],
    step: int,
    head: int,
    factor: str,
) -> bytes:
    """What `inside_head.js` draws, in the form of `packet.py`: JSON, colours, values.

    Raises:
        ValueError: if a label is missing or too many.
    """
    if len(keys) != len(numbers.weights):
        raise ValueError(f"{len(keys)} labels for {len(numbers.weights)} keys")
    arrays: Mapping[str, NDArray] = {
        name: np.asarray(value, dtype="<f4") for name, value in vars(numbers).items()
    }
    header = {
        "title": title,
        "kind": kind,
        "color": COLOR[kind],
        "query": query,
        "keys": shown(keys),
        "head": head,
        "factor": factor,
        "step": step,
        "steps": [asdict(one) for one in steps],
        "shapes": {name: list(array.shape) for name, array in arrays.items()},
        "dtype": "float32",
    }
    colors = difference_table("light"), difference_table("dark")
    return run_of_bytes(header, *colors, *arrays.values())
