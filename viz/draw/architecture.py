"""The drawing of the model: data for `viz/browser/architecture`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transformer import kinds
from transformer.trace import AttentionTrace
from viz.draw import labels, palette, wire
from viz.draw.trace_message import WINDOW, SearchStep

MAX_ROWS, MAX_COLUMNS = 64, 512  # values along the sides of a strip; no box gives it more pixels


@dataclass(frozen=True)
class DrawnBox:
    """One box with what stands in it."""

    name: str  # its place in the drawing, one of those in `viz/browser/architecture/plan.ts`
    title: str
    shape: str  # of what leaves it, such as `12 × 256`
    label: str  # what a screen reader says, one sentence
    # `[row, column]` of any size, or `[head, query, key]` from 0 to 1 where there is a kind; None
    # where nothing is drawn
    values: NDArray[np.float32] | None = None
    kind: kinds.Kind | None = None
    # what it does: once in the encoder, for each written subword in the decoder; () for no player
    sentences: tuple[str, ...] = ()
    paper: str = ""  # sections


class Playing(NamedTuple):
    """Texts of the player of Figure 1 beside the sentences of its boxes."""

    trace: AttentionTrace
    steps: Sequence[SearchStep]  # with the most probable next subwords
    last: str  # sentence when all is written
    starts: bool  # by itself, when the page opens


def encode_architecture(
    boxes: Sequence[DrawnBox],
    *,
    layers: Mapping[str, int],
    layer: Mapping[str, int],
    selected: str,
    opens: str | None = None,
    playing: Playing | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode Figure 1 with a sentence; values are indices into their colours.

    A keyboard reaches the boxes in their order; `opens` is the key of what shows a picked box,
    which is scrolled into view. `layer` is drawn, counted from 0 among `layers`, by stack.
    """
    names = ("name", "title", "shape", "label", "kind", "sentences", "paper")
    message = {
        "opens": opens,
        "playing": playing
        and {
            "source": labels.display_tokens(playing.trace.source_tokens),
            "read": labels.display_tokens(playing.trace.decoder_tokens),
            "steps": _drawn_options(playing.steps[:WINDOW]),
            "last": playing.last,
            "starts": playing.starts,
        },
        "layers": dict(layers),
        "layer": dict(layer),
        "selected": selected,
        "memoryColor": palette.COLOR["cross"],
        "boxes": [
            {name: getattr(box, name) for name in names}
            | {"color": palette.COLOR[box.kind] if box.kind else None, "values": levels}
            | dict(zip(("maps", "rows", "columns"), levels.shape, strict=True))
            for box in boxes
            for levels in [_levels(box)]
        ],
    }
    return wire.encode_picture("architecture", caption, message)


def _drawn_options(steps: Sequence[SearchStep]) -> list[dict[str, Any]]:
    """Return the labels and probabilities of each step, and the index of what was taken."""
    # all at once, so that a piece is marked alike wherever it stands
    tokens = iter(labels.browser_tokens([piece for step in steps for piece, _ in step.options]))
    return [
        {
            "options": [{"label": next(tokens), "p": min(p, 1.0)} for _, p in step.options],
            "taken": step.taken,
        }
        for step in steps
    ]


def _levels(box: DrawnBox) -> NDArray[np.uint8]:
    """Convert the values of a box to indices into its colours, `[map, row, column]`."""
    values = box.values
    if values is None:
        return np.zeros((0, 0, 0), dtype=np.uint8)
    if not np.isfinite(values).all():
        raise ValueError(f"some values of {box.name} are not numbers")
    rows, columns = values.shape[-2:]
    sizes = wire.block_size(rows, MAX_ROWS), wire.block_size(columns, MAX_COLUMNS)
    if box.kind:
        return wire.to_bytes(wire.block_means(values, sizes))
    return palette.difference_levels(wire.block_means(values[None], sizes))


def encode_strip(
    values: NDArray[np.float32],
    rows: Sequence[str],
    *,
    title: str,
    columns: Sequence[str] | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode a tensor, `[token, feature]`, exactly; `columns` name its features, if any.

    A score that a mask hides is −∞.
    """
    finite = values[np.isfinite(values)]
    if (values[~np.isfinite(values)] != -np.inf).any() or not finite.size:
        raise ValueError("some values are not numbers")
    message = {
        "title": title,
        "rows": labels.display_tokens(rows),
        "columns": values.shape[1],
        "columnNames": None if columns is None else labels.display_tokens(columns),
        "end": palette.largest_colour(finite),
        "values": values.astype(np.float32),
    }
    return wire.encode_picture("tensor_strip", caption, message)
