"""Maps and ribbons of heads: data for `viz/browser/attention_map` and `viz/browser/ribbons`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from transformer import kinds
from transformer.analysis.axes import LabelledWeights, by_pieces
from transformer.text.languages import Languages, Side
from transformer.trace import AttentionTrace, Labels
from viz.draw import wire
from viz.draw.labels import AxisTitles, axis_titles, browser_tokens

Scale = Literal["linear", "square root", "by row"]
"""How colours follow weights; the numbers are the true ones on each."""

NOTE = "The weights of each row sum to 1."
MAX_HEADS = 8


@dataclass(frozen=True)
class MapAxes:
    """Tokens and names along the axes of a map; `viz/browser/core/labels.ts` words them."""

    kind: kinds.Kind
    labels: Labels
    languages: Languages
    # `[query]`, what the decoder reads where the labels are what it writes, and the reverse: rows
    # then carry both names
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    causal: bool = True  # whether a decoder's position sees no later one
    alone: bool = False  # whether there is only one sentence, as in an encoder or a decoder alone
    by_read: bool = False  # whether a row of `cross` is named by what the decoder reads

    @classmethod
    def of(
        cls, trace: AttentionTrace, kind: kinds.Kind, axes: LabelledWeights | None = None
    ) -> "MapAxes":
        """Describe the axes of a kind of a trace, by pieces unless given."""
        axes = axes or by_pieces(trace, kind)
        by_read = kind == "cross" and not trace.writes_known
        known = axes.labels, trace.languages, axes.reads, axes.writes, axes.causal
        return cls(kind, *known, alone=is_alone(trace), by_read=by_read)

    def named_by(self, row: kinds.Row | None) -> "MapAxes":
        """Name the rows by what the decoder reads or writes there, where both are known."""
        names = {"reads": self.reads, "writes": self.writes}.get(row or "")
        if names is None:
            return self
        queries, keys = self.labels
        reads, writes = (queries if row == other else None for other in ("writes", "reads"))
        return replace(self, labels=Labels(names, keys), reads=reads, writes=writes)

    @property
    def titles(self) -> AxisTitles:
        """The titles of both axes, where rows carry one name."""
        row: kinds.Row | None = "writes" if self.reads is not None else None
        if self.by_read or self.writes is not None:
            row = "reads"
        return axis_titles(self.kind, self.languages, row=row, alone=self.alone)

    @property
    def message(self) -> dict[str, Any]:
        """The axes as the browser reads them."""
        names = ("kind", "reads", "writes", "alone")
        return {
            **{name: getattr(self, name) for name in names},
            "byRead": self.by_read,
            "causal": self.kind == "decoder_self" and self.causal,
            "languages": [self.languages.name(side) for side in get_args(Side)],
            "queries": self.labels.queries,
            "keys": self.labels.keys,
        }


def is_alone(trace: AttentionTrace) -> bool:
    """Return whether there is only one sentence, as in an encoder or a decoder alone."""
    return trace.kinds in (("encoder_self",), ("decoder_self",))


@dataclass(frozen=True)
class Look:
    """How a map is drawn, as `Look` of `viz/browser/attention_map/plan.ts`."""

    scale: Scale = "linear"
    threshold: float = 0.0  # weights below it are not drawn
    signed: bool = False  # they are the difference of two maps, -1 to 1
    amount: str = "weight"  # what one is, in a word
    tall: bool = False  # bars have the room of a difference, so that adjacent maps align
    paints: bool = False  # pressed squares are sent to the page
    unused: bool = False  # the head is switched off: its weights are veiled


def encode_map(
    weights: NDArray[np.float32],
    axes: MapAxes,
    *,
    title: str,
    look: Look = Look(),
    note: str = NOTE,
    pinned: int | None = None,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the map of one head, `[query, key]`: queries down, keys across, weights exact.

    The note says what a row is. `pinned` is the row in the address, -1 for
    none; None if the page does not follow it. A saved picture is named after its title.
    """
    wire.check(weights, axes.labels, dimensions=2)
    message = {
        **asdict(look),
        "axes": axes.message,
        "title": title,
        "note": note,
        "pinned": pinned,
        "weights": weights.astype(np.float32),
    }
    return wire.encode_picture("attention_map", caption, message)


def encode_ribbons(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    axes: MapAxes,
    *,
    title: str,
    look: Look = Look(),
    caption: Sequence[str] = (),
) -> bytes:
    """Encode ribbons: queries left, keys right, a band for each weight between them.

    There are one to eight heads, each a name, such as `L3 H5`, and weights `[query, key]`, 0 to 1.
    The title is what they share, such as their kind; a saved picture is named after both. The first
    has the kind's colour; each can be switched off in the browser. Weights of less than 0.01, or
    than the threshold of the look, get no ribbon.
    """
    for _, weights in heads:
        wire.check(weights, axes.labels, dimensions=2)
    message = {
        "axes": axes.message,
        "title": title,
        "heads": [name for name, _ in heads],
        "threshold": look.threshold,
        "amount": look.amount,
        "weights": np.stack([weights for _, weights in heads]).astype(np.float32),
    }
    return wire.encode_picture("ribbons", caption, message)


def pinned_row(value: object, labels: Labels) -> int | None:
    """Return the row that a message pins, -1 to unpin; None if malformed or of another map."""
    if not isinstance(value, Mapping) or not _is_of(value, labels):
        return None
    row = value.get("pinned")
    return row if row == -1 or wire.is_index(row, len(labels.queries)) else None


def _is_of(value: Mapping[str, object], labels: Labels) -> bool:
    queries, keys = map(browser_tokens, labels)
    return value.get("queries") == queries and value.get("keys") == keys


def squares_of(value: object, title: str, labels: Labels) -> list[tuple[int, int]]:
    """Return row and column of the squares that a message names; none if it is of another map."""
    if not isinstance(value, Mapping) or value.get("title") != title or not _is_of(value, labels):
        return []
    squares, sizes = value.get("squares"), [len(tokens) for tokens in labels]
    if not isinstance(squares, list | tuple) or len(squares) > sizes[1]:
        return []
    for square in squares:
        if not isinstance(square, list | tuple) or len(square) != 2:
            return []
        if not all(map(wire.is_index, square, sizes)):
            return []
    one_row = len({row for row, _ in squares}) == 1
    return [(row, key) for row, key in squares] if one_row else []
