"""The report's heads and maps: what travels for `js/explorer`."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import in_shares, measure
from transformer.analysis.heads.roles import head_roles
from transformer.kinds import KIND_TITLES, Kind
from transformer.text.languages import Languages
from transformer.trace import AttentionTrace
from viz.draw.attention_map import encode_map
from viz.draw.caption import head_caption, lens_caption
from viz.draw.explorer_notes import is_alone, map_note, ribbon_note, rounding_note
from viz.draw.explorer_options import ExplorerOptions, shown_parts
from viz.draw.head_grid import LARGEST, GridPart, encode_grid
from viz.draw.head_order import LAYER_ORDER, head_order
from viz.draw.lens_words import ALL_HEADS, amount, row_note, tells_heads, title_end
from viz.draw.open_head import (
    Heads,
    OpenMap,
    crop_to_step,
    grid_part,
    heads_of_kind,
    open_map,
    outlined,
)
from viz.draw.packed_heads import Packing, packing_of
from viz.draw.pair_parts import pair_parts
from viz.draw.ribbons import MOST_HEADS, encode_ribbons
from viz.draw.wire import encode

if TYPE_CHECKING:
    from viz.draw.caption import Origin

INSIDE_BYTES = 2**21
"""Of float32 weights, up to which a page unpacks all of them at once: no wait is to be noticed."""

_LEVEL = 6  # of gzip; 9 takes three times as long for a hundredth


@dataclass(frozen=True)
class EncodedPage:
    """Contents of a page: the message and, for large traces, each head apart.

    Args:
        message: what is unpacked at once, gzip in base64.
        heads: the weights of each head that is unpacked when it is opened, by a name such as
            `cross.2.5`, those that are open first in front; none where the message has them all.
        note: a sentence on numbers that are rounded; None where none is.
    """

    message: str
    heads: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


def encode_explorer(
    trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None = None
) -> str:
    """Encode the message of `js/explorer`, gzip in base64: no character of it can close a tag.

    It holds the grid's bytes as an array, and for each kind those of one map and of its ribbons,
    from which the browser takes labels and colours, and the weights of all heads,
    `[layer, head, query, key]`; and the maps that stand beside the open one.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    return _Explorer(trace, options, origin).message_with_weights()


def encode_page(
    trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None = None
) -> EncodedPage:
    """Encode the message of a page of its own, on which the heads of a larger trace lie apart.

    Raises:
        InputError: likewise, or if the page would be larger than a browser reads.
    """
    explorer = _Explorer(trace, options, origin)
    if sum(heads.axes.weights.nbytes for heads in explorer.cropped.values()) <= INSIDE_BYTES:
        return EncodedPage(explorer.message_with_weights())
    return explorer.with_heads_apart()


class _Words(TypedDict):
    languages: Languages
    alone: bool
    by_read: bool


class _Explorer:
    """A trace with what is chosen of it."""

    def __init__(
        self, trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None
    ) -> None:
        self.trace, self.options, self.origin = trace, options, origin
        self.shown = shown_parts(options, trace)
        words, special, lens = options.words, options.special, options.lens
        self.heads: dict[Kind, Heads] = {
            kind: heads_of_kind(trace, kind, words=words, special=special, lens=lens)
            for kind in dict.fromkeys((*self.shown.kinds, self.shown.kind))
        }
        self.cropped = self.heads
        if options.step is not None:
            self.cropped = {k: crop_to_step(heads, options.step) for k, heads in self.heads.items()}

    def message_with_weights(self) -> str:
        """Return the message with all weights."""
        weights = {f"{kind}.weights": heads.axes.weights for kind, heads in self.cropped.items()}
        return self.message(weights, Packing())

    def with_heads_apart(self) -> EncodedPage:
        """Return the message without weights, and those of each head that can be opened."""
        places = dict.fromkeys(self.openable_heads())
        weights = [self.cropped[kind].axes.weights[n, head] for kind, n, head in places]
        packing = packing_of(weights)
        names = (".".join(map(str, place)) for place in places)
        packed = dict(zip(names, packing.texts(weights), strict=True))
        note = rounding_note(packing, sum(array.nbytes for array in weights))
        return EncodedPage(self.message({}, packing), packed, note)

    def openable_heads(self) -> Iterator[Head]:
        """Every head that can be opened; those that are open first in front."""
        options, kind = self.options, self.shown.kind
        layer, head = outlined(options.lens, options.layer, options.head)
        if layer >= 0 and head >= 0:  # a mean travels by itself
            yield Head(kind, layer, head)
        yield from (Head(kind, *over) for over in options.over)
        for kind in self.shown.kinds:
            counts = self.heads[kind].counts
            for n in self.shown.layers:
                yield from (Head(kind, n, h) for h in range(counts[n] if n < len(counts) else 0))

    def message(self, weights: Mapping[str, NDArray], packing: Packing) -> str:
        """Grid, labels, colours and the given weights."""
        options, kind = self.options, self.shown.kind
        first = open_map(self.cropped[kind], options.layer, options.head)
        compared = self.compared(first)
        arrays: dict[str, NDArray] = {"grid": _as_array(self.grid())}
        for heads in self.cropped.values():
            arrays |= self.kind_arrays(heads)
        pairs, grids = self.pairs()
        arrays |= grids
        arrays |= {f"compared.{n}": _as_array(content) for n, content in enumerate(compared)}
        if -1 in outlined(options.lens, options.layer, options.head):
            arrays["mean"] = first.weights.astype(np.float32)
        meta = {
            "component": "explorer",
            "selected": [kind, options.layer, options.head if tells_heads(options.lens) else None],
            "title": first.title,
            "over": options.over,
            "mostHeads": MOST_HEADS,
            "together": None if tells_heads(options.lens) else ALL_HEADS,
            "kinds": {k: heads.axes.weights.shape[:2] for k, heads in self.cropped.items()},
            "packing": {"dtype": packing.dtype, "unit": packing.unit},
            "ribbonNote": ribbon_note(packing, options.threshold),
            "compared": len(compared),
            "pairs": pairs,
        }
        packed = gzip.compress(encode(meta, {**arrays, **weights}), _LEVEL, mtime=0)
        return base64.b64encode(packed).decode()

    def grid(self) -> bytes:
        """As the page of heads has it."""
        options, origin = self.options, self.origin
        # the kind of the open head comes first, beside its map
        kinds = sorted(self.shown.kinds, key=lambda kind: kind != self.shown.kind)
        # all rows, of which those after the step are left blank; measured on those that are shown
        cropped = [replace(self.heads[kind], whole=self.cropped[kind].whole) for kind in kinds]
        parts = [_part(heads, options.sort) for heads in cropped]
        return encode_grid(
            parts,
            selected=Head(self.shown.kind, *outlined(options.lens, options.layer, options.head)),
            order=head_order(parts, self.shown.layers, options.sort),
            step=options.step,
            caption=() if origin is None else origin.caption(),
        )

    def pairs(self) -> tuple[list[dict[str, Any]], dict[str, NDArray]]:
        """Return the parts of a pair of texts, and the grid's bytes of each."""
        heads = self.heads.get("encoder_self")
        if heads is None or "encoder_self" not in self.shown.kinds:
            return [], {}
        described, grids = [], {}
        for number, part in enumerate(pair_parts(heads.axes)):
            described.append(part.described())
            cropped = _part(replace(heads, axes=part.crop(heads.axes)), self.options.sort)
            # the four parts together have as many cells as the whole map
            grids[f"pair.{number}"] = _as_array(encode_grid([cropped], largest=LARGEST // 2))
        return described, grids

    def kind_arrays(self, heads: Heads) -> dict[str, NDArray]:
        """Return a map and its ribbons without weights, with the labels of all heads."""
        trace, options, origin, kind = self.trace, self.options, self.origin, heads.kind
        title = f"{KIND_TITLES[kind]}, {lens_caption(options.lens)}"
        caption = () if origin is None else origin.caption(title)
        labels = heads.axes.labels
        blank = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
        a_map = encode_map(
            blank,
            labels,
            kind,
            title=" · ".join([KIND_TITLES[kind], *title_end(heads.lens)]),
            **self.words_of(kind),
            causal=heads.axes.causal,
            reads=heads.axes.reads,
            writes=heads.axes.writes,
            scale=options.scale,
            threshold=options.threshold,
            amount=amount(options.lens),
            note=map_note(heads, trace, special=options.special),
            caption=caption,
        )
        ribbons = encode_ribbons(
            [("", blank)],
            labels,
            kind,
            **self.words_of(kind),
            threshold=options.threshold,
            amount=amount(options.lens),
            reads=heads.axes.reads,
            writes=heads.axes.writes,
            caption=caption,
        )
        return {f"{kind}.map": _as_array(a_map), f"{kind}.ribbons": _as_array(ribbons)}

    def compared(self, first: OpenMap) -> list[bytes]:
        """Return the second map, and the difference where both have the same tokens."""
        options, kind = self.options, self.shown.kind
        if options.compared is None:
            return []
        second, languages, caption = options.compared
        words: _Words = {**self.words_of(kind), "languages": languages}
        maps = [
            encode_map(
                second.weights,
                second.labels,
                kind,
                title=f"second: {second.title}",
                **words,
                causal=self.trace.causal,
                reads=second.reads,
                writes=second.writes,
                scale=options.scale,
                threshold=options.threshold,
                amount=amount(second.lens),
                note=row_note(second.lens, kind, special=options.special),
                caption=caption,
            )
        ]
        if first.labels == second.labels:
            difference = encode_map(
                first.weights - second.weights,
                first.labels,
                kind,
                title="first minus second",
                **self.words_of(kind),
                causal=self.trace.causal,
                reads=first.reads,
                writes=first.writes,
                signed=True,
                note=None if options.special else "Each square is first minus second.",
                caption=self.caption_of_both(caption),
            )
            maps.append(difference)
        return maps

    def caption_of_both(self, second: Sequence[str]) -> list[str]:
        """Return the captions of the open map and of a second one; empty without an origin."""
        if (origin := self.origin) is None:
            return []
        options = self.options
        own = head_caption(self.shown.kind, options.layer, options.head, options.lens)
        return ["First:", *origin.caption(own), "Second:", *second]

    def words_of(self, kind: Kind) -> _Words:
        """Return the texts that depend on the words of the axes."""
        return {
            "languages": self.trace.languages,
            "alone": is_alone(self.trace),
            "by_read": kind == "cross" and not self.trace.writes_known,
        }


def _part(heads: Heads, sort: str) -> GridPart:
    """As on the page: a head is named and sorted by all that it looks at, shown or not."""
    values = None if sort == LAYER_ORDER else measure(heads.whole, heads.kind, sort)
    return grid_part(heads, head_roles(in_shares(heads.whole), heads.kind), values)


def _as_array(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)
