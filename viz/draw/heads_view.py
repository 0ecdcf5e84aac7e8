"""The heads view: its options, and its parts as the page, the notebook and the report show them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads import measures
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.roles import head_roles
from transformer.analysis.lenses import AnyLens
from transformer.arrays import Singles
from transformer.choices import check_choices, require_choice
from transformer.errors import InputError, quoted
from transformer.kinds import KIND_TITLES, Kind, Row
from transformer.trace import AttentionTrace
from transformer.traces import notes
from viz.draw import attention_map, caption, open_head, wire
from viz.draw.attention_map import Look, MapAxes
from viz.draw.formatting import counted
from viz.draw.head_grid import LAYER_ORDER, SORTS, encode_grid, head_order
from viz.draw.labels import role_name

Remember = Callable[[Hashable, Callable[[], Any]], Any]
"""Function that returns the result of its second argument, kept under the name before it."""


@check_choices
@dataclass(frozen=True)
class ExplorerOptions:
    """Choices of the Heads page for one trace; layers and heads count from 0."""

    # of the map that is open first; cross-attention, or what is there, unless given
    kind: Kind | None = None
    # of that map; None for the mean over layers. Where layer 0 has no attention, as in a hybrid
    # model, it is the first that has.
    layer: int | None = 0
    # None for the mean over heads, and where the lens does not tell heads apart
    head: int | None = 0
    words: bool = False  # whole words instead of pieces
    special: bool = True  # whether special tokens such as `<s>` and `</s>` are shown
    kinds: tuple[Kind, ...] | None = None  # shown in the grid; None for all that are there
    layers: tuple[int, ...] | None = None  # shown in the grid; None for all
    sort: str = LAYER_ORDER  # one of `SORTS`, the order of the heads in the grid
    scale: attention_map.Scale = "linear"
    threshold: float = 0.0  # weights below it are not drawn
    # layer and head of those whose ribbons lie over the open one's, of the same kind
    over: tuple[tuple[int, int], ...] = ()
    # the view of a second map; it stands under the open one, with their difference
    compared: "HeadsView | None" = None
    lens: AnyLens = "weights"  # the lens through which the trace is seen: `lens_trace` made it
    # whether special tokens and punctuation have their weight; else their columns are empty, and
    # each row is scaled to the rest
    sinks: bool = True
    # the word by which ribbons name a row of the decoder, of the two that its map shows; None for
    # the one that is usual for the kind
    rows: Row | None = None

    def __post_init__(self) -> None:
        require_choice("sort", self.sort, SORTS)


class ShownParts(NamedTuple):
    """Parts that the options leave open: kinds and layers of the grid, and the open kind."""

    kind: Kind
    kinds: tuple[Kind, ...]
    layers: tuple[int, ...]


def shown_parts(options: ExplorerOptions, trace: AttentionTrace) -> ShownParts:
    """Return the kinds and layers of a trace that the options show."""
    kinds = trace.kinds if options.kinds is None else options.kinds
    if not kinds:
        raise InputError(
            f"There is no kind of attention to show: choose of {', '.join(trace.kinds)}."
        )
    kind = options.kind or ("cross" if "cross" in [*kinds] else kinds[0])
    for shown in (kind, *kinds):
        if shown not in [*trace.kinds]:
            titles = " and ".join(KIND_TITLES[name] for name in trace.kinds)
            raise InputError(f"There is no {KIND_TITLES[shown]} in this trace: it has {titles}.")
    every = [trace.head_count(shown) for shown in {kind, *kinds}]
    numbers = sorted({n for counts in every for n, heads in enumerate(counts) if heads})
    layers = tuple(numbers) if options.layers is None else options.layers
    for layer in layers:
        if not (type(layer) is int and layer in numbers):
            most = max(map(len, every))
            has = most if len(numbers) == most else ", ".join(str(n + 1) for n in numbers)
            raise InputError(f"There is no layer {_number(layer)}: the trace has {has}.")
    counts = trace.head_count(kind)
    _require_heads(replace(options, layer=first_open(options.layer, counts)), kind, counts)
    return ShownParts(kind, kinds, layers)


def _require_heads(options: ExplorerOptions, kind: Kind, counts: tuple[int, ...]) -> None:
    if options.head and not caption.tells_heads(options.lens):
        raise InputError(
            f"The lens {caption.LENS_NAMES[options.lens]} sees all heads of a layer together: "
            f"there is no head {_number(options.head)} in it, so name a layer alone."
        )
    if len(options.over) >= attention_map.MAX_HEADS:
        raise InputError(
            f"{len(options.over)} heads cannot lie over the open one: there are colours for "
            f"{attention_map.MAX_HEADS}, so name {attention_map.MAX_HEADS - 1} at most."
        )
    over: list[tuple[Any, Any]] = [*options.over]  # of a notebook, it may be anything
    if any(None in head for head in over):
        raise InputError("A mean cannot lie over the open head: name a layer and a head.")
    for layer, head in [(options.layer, options.head), *over]:
        heads = 0
        if layer is None:
            heads = max(counts)  # a mean over layers is over those that have the head
        elif wire.is_index(layer, len(counts)):
            heads = counts[layer]
        if not heads or not (head is None or wire.is_index(head, heads)):
            sized = [number for number in counts if number]
            least, most = min(sized), max(sized)
            sizes = counted(most, "head") if least == most else f"{least} to {most} heads"
            raise InputError(
                f"There is no layer {_number(layer)} with a head {_number(head)}: this model has "
                f"{counted(len(sized), 'layer')} of {sizes} of {KIND_TITLES[kind]}."
            )


def first_open(layer: int | None, counts: Sequence[int]) -> int | None:
    """Return the layer that is open first: for layer 0 without heads, the first that has some."""
    if layer == 0 and not counts[0]:
        return next(number for number, heads in enumerate(counts) if heads)
    return layer


def _number(value: object) -> str:
    if value is None:
        return "1"
    return str(value + 1) if isinstance(value, int) else quoted(value)


class HeadsView:
    """The heads of a trace as the page, the notebook and the report show them.

    The trace is that of `lens_trace` for the lens of the options. `remember` keeps results that
    depend on the trace and a name.
    """

    def __init__(
        self,
        trace: AttentionTrace,
        options: ExplorerOptions,
        origin: caption.Origin | None = None,
        remember: Remember = lambda _name, compute: compute(),
    ) -> None:
        self.trace, self.origin = trace, origin
        self._remember = remember
        self.shown = shown_parts(options, trace)
        self.kind = self.shown.kind
        layer = first_open(options.layer, trace.head_count(self.kind))
        self.options = options = replace(options, layer=layer)
        kinds = dict.fromkeys((*self.shown.kinds, self.kind))
        self.heads = {kind: self.heads_of(kind) for kind in kinds}
        self.opened = open_head.open_map(self.heads[self.kind], options.layer, options.head)

    def heads_of(self, kind: Kind) -> open_head.Heads:
        """Return the heads of any kind."""
        options = self.options
        axes = {"words": options.words, "special": options.special, "sinks": options.sinks}
        return self._remember(
            ("heads", kind, *axes.values()),
            lambda: open_head.heads_of_kind(self.trace, kind, lens=options.lens, **axes),
        )

    @property
    def selected(self) -> Head:
        """The outlined head of the grid."""
        options = self.options
        return Head(self.kind, *open_head.outlined(options.lens, options.layer, options.head))

    @cached_property
    def parts(self) -> list[open_head.Heads]:
        """The kinds of the grid; that of the open head comes first, beside its map."""
        kinds = sorted(self.shown.kinds, key=lambda kind: kind != self.kind)
        return [self.part(self.heads[kind]) for kind in kinds]

    def part(self, heads: open_head.Heads) -> open_head.Heads:
        """Return heads as the grid draws them, named by all that they look at."""
        sort, kind, whole = self.options.sort, heads.kind, self.heads[heads.kind].whole
        key, values = (kind, self.options.words, self.options.sinks), None
        if sort != LAYER_ORDER:
            values = self._remember((sort, *key), lambda: measures.measure(whole, kind, sort))
        roles = self._remember(("roles", *key), lambda: self._role_names(whole, kind))
        return replace(heads, roles=roles, values=values)

    def _role_names(self, whole: LabelledWeights, kind: Kind) -> list[list[str]]:
        """Name the roles of a kind's heads on the screen, `[layer][head]`."""
        keys, special, lens = whole.labels.keys, self.trace.special, self.options.lens
        named_as: Kind = "decoder_self" if keys[0] in special.tokens else "encoder_self"
        roles = roles_of(whole, kind, lens)
        return [[role_name(role, named_as) for role in layer] for layer in roles]

    def grid(self, *, key: str = "", opens: str | None = None) -> bytes:
        """Encode the grid; with a key, `encode_selection` says which head is outlined."""
        options = self.options
        return encode_grid(
            self.parts,
            key=key,
            opens=opens,
            selected=None if key else self.selected,
            order=head_order(self.parts, self.shown.layers, options.sort),
            name_end=" · ".join(caption.title_end(options.lens, sinks=options.sinks)),
            caption=self.caption(caption.grid_caption(options.lens, sinks=options.sinks)),
        )

    def caption(self, part: str | None = None) -> list[str]:
        """Return the caption of a part, by default of the open head; empty without an origin."""
        if self.origin is None:
            return []
        options = self.options
        place = self.kind, options.layer, options.head
        own = caption.head_caption(*place, options.lens, sinks=options.sinks)
        return self.origin.caption(own if part is None else part)

    def axes(self, kind: Kind, row: Row | None = None) -> MapAxes:
        """Return what stands along the axes of a kind, its rows named by `row`."""
        return MapAxes.of(self.trace, kind, self.heads[kind].axes).named_by(row)

    @property
    def look(self) -> Look:
        """How the maps are drawn."""
        options = self.options
        amount = caption.amount(options.lens)
        return Look(scale=options.scale, threshold=options.threshold, amount=amount)

    def open_map(self, *, beside_difference: bool = False, pinned: int | None = None) -> bytes:
        """Encode the open map."""
        return attention_map.encode_map(
            self.opened.weights,
            self.axes(self.kind),
            title=self.opened.title,
            look=replace(self.look, tall=beside_difference),
            note=self.note(self.kind, self.opened.weights),
            pinned=pinned,
            caption=self.caption(),
        )

    def difference(self, second: "HeadsView", *, pinned: int | None = None) -> bytes | None:
        """Encode the open map minus the second one; None if their tokens differ."""
        first, other = self.opened, second.opened
        if first.labels != other.labels:
            return None
        own = self.caption()
        end = " · first minus second" if first.title == other.title else f" minus {other.title}"
        rows = "; rows sum to 0" if self.options.special else ""
        return attention_map.encode_map(
            open_head.difference(first, other),
            self.axes(self.kind),
            title=first.title + end,
            look=Look(signed=True),
            note=f"Each square is first minus second{rows}.",
            caption=["First:", *own, "Second:", *second.caption()] if own else [],
            pinned=pinned,
        )

    def ribbons(self, over: Sequence[tuple[int, int]], rows: Row | None) -> bytes:
        """Encode the ribbons of the open map, with other heads' over them, named by `rows`."""
        lens, heads = self.options.lens, self.heads[self.kind]
        ribbons = [(self.opened.name, self.opened.weights)]
        for place in over:
            name = open_head.short_name(lens, *place)
            ribbons.append((name, open_head.open_map(heads, *place).weights))
        return attention_map.encode_ribbons(
            ribbons,
            self.axes(self.kind, rows),
            title=open_head.name_end(self.kind, lens, sinks=self.options.sinks),
            look=self.look,
            caption=self.caption(),
        )

    def note(self, kind: Kind, weights: Singles) -> str:
        """Return the note under maps, `[..., query, key]`; it claims no wrong sum."""
        lens, special, sinks = self.options.lens, self.options.special, self.options.sinks
        plain = lens == "weights" and special and sinks
        if plain and (np.abs(weights.sum(-1) - 1) > notes.TOLERANCE).any():
            return "Not every row of weights sums to 1."
        return caption.row_note(lens, kind, special=special, sinks=sinks)


def roles_of(whole: LabelledWeights, kind: Kind, lens: AnyLens) -> list[list[str]]:
    """Name the role of each head under its map, `[layer][head]`."""
    return head_roles(measures.in_shares(whole, fill=lens != "weights"), kind)
