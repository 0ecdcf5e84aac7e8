"""One query word through one head as Streamlit mounts it: a picture that can be walked through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import shown
from viz.draw.mathml import Node
from viz.draw.packet import run_of_bytes
from viz.draw.palette import COLOR, difference_table

if TYPE_CHECKING:
    from transformer.analysis.arithmetic import Arithmetic
    from transformer.kinds import Kind


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
