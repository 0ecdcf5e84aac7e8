"""Explorers whose heads each look at one known token, and what of them is seen in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Frame

RINGS = """import numpy as np

from transformer import AttentionTrace
from viz.notebook import explore


def ring(layers, heads, queries, keys):
    \"\"\"Each head looks one token further than the one before it, around a ring.\"\"\"
    rows = np.arange(queries)
    weights = np.zeros((layers, heads, queries, keys), dtype=np.float32)
    for n, head in enumerate(weights.reshape(-1, queries, keys)):
        head[rows, (rows + n) % keys] = 1
    return weights


a, b, c = ([f"{letter}{n}" for n in range(size)] for letter, size in zip("abc", (12, 9, 7)))"""


class Ring(NamedTuple):
    """One explorer of a notebook: layers and heads, and the tokens along its axes."""

    code: str
    layers: int
    heads: int
    queries: tuple[str, int]
    keys: tuple[str, int]

    def rows(self, layer: int, head: int) -> list[list[str]]:
        """What the large map says of each row when a head is open."""
        (row, rows), (column, columns) = self.queries, self.keys
        shift = layer * self.heads + head
        return [[f"{row}{n}", f"{column}{(n + shift) % columns}", "1.000"] for n in range(rows)]


FURTHER = "# and further down\n" * 200  # what comes before is out of sight
ENCODER = Ring(
    "explore(AttentionTrace.from_arrays(encoder_self=ring(2, 4, 12, 12), source_tokens=a)",
    2, 4, ("a", 12), ("a", 12),
)  # fmt: skip
CROSS = Ring(
    "explore(AttentionTrace.from_arrays(cross=ring(3, 2, 7, 9), source_tokens=b, target_tokens=c)",
    3, 2, ("c", 7), ("b", 9),
)  # fmt: skip
# what the large map says in words, and the pixels of all pictures
ROWS = """() => [...document.querySelectorAll(".hl-explorer-open table")[0].tBodies[0].rows]
  .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/[\\u2066-\\u2069]/g, "")))"""
PIXELS = """() => [...document.querySelectorAll("canvas")].map((one) => one.toDataURL()).join()"""


def cell(frame: Frame, ring: Ring, layer: int, head: int) -> Any:
    """The small map of one head, from 0."""
    return frame.locator("[role=gridcell]").nth(layer * ring.heads + head)


def rows_of(frame: Frame) -> list[list[str]]:
    """What the large map says in words: of each row its token, where it looks most, how much."""
    rows: list[list[str]] = frame.evaluate(ROWS)
    return rows


def seen(frame: Frame) -> tuple[Any, ...]:
    """The same with the pixels of all pictures."""
    return frame.evaluate(ROWS), frame.evaluate(PIXELS)
