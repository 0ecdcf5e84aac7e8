"""Options of the explorer, and the parts of a trace that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from transformer.errors import InputError, quoted
from transformer.kinds import KIND_TITLES, KINDS, Kind
from viz.draw.formatting import counted
from viz.draw.head_order import LAYER_ORDER, SORTS
from viz.draw.lens_words import LENS_NAMES, tells_heads
from viz.draw.ribbons import MOST_HEADS

if TYPE_CHECKING:
    from transformer.analysis.lenses import AnyLens
    from transformer.text.languages import Languages
    from transformer.trace import AttentionTrace
    from viz.draw.attention_map import Scale
    from viz.draw.open_head import OpenMap


class SecondMap(NamedTuple):
    """A map that stands beside the open one, with the languages and the caption of its own."""

    map: OpenMap
    languages: Languages
    caption: Sequence[str]


@dataclass(frozen=True)
class ExplorerOptions:
    """Choices of the Heads page for one trace; layers and heads count from 0.

    Args:
        kind: of the map that is open first; cross-attention, or what is there, unless given.
        layer: of that map; None for the mean over layers.
        head: None for the mean over heads, and where the lens does not tell heads apart.
        words: whole words instead of pieces.
        special: whether special tokens such as `<s>` and `</s>` are shown.
        kinds: shown in the grid; None for all that are there.
        layers: shown in the grid; None for all.
        sort: one of `SORTS`, the order of the heads in the grid.
        scale: how a weight becomes a colour.
        threshold: weights below it are not drawn.
        over: layer and head of those whose ribbons lie over the open one's, of the same kind.
        step: of the decoder; what it had not written then is left out. None for all of them.
        compared: a second map; it stands under the open one, with their difference.
        lens: the lens through which the trace is seen: `lens_trace` made it.
    """

    kind: Kind | None = None
    layer: int | None = 0
    head: int | None = 0
    words: bool = False
    special: bool = True
    kinds: tuple[Kind, ...] | None = None
    layers: tuple[int, ...] | None = None
    sort: str = LAYER_ORDER
    scale: Scale = "linear"
    threshold: float = 0.0
    over: tuple[tuple[int, int], ...] = ()
    step: int | None = None
    compared: SecondMap | None = None
    lens: AnyLens = "weights"


class ShownParts(NamedTuple):
    """Parts that the options leave open: kinds and layers of the grid, and the open kind."""

    kind: Kind
    kinds: tuple[Kind, ...]
    layers: tuple[int, ...]


def shown_parts(options: ExplorerOptions, trace: AttentionTrace) -> ShownParts:
    """Return the kinds and layers of a trace that the options show.

    Raises:
        InputError: if a kind, layer or head is asked for that is not there.
    """
    kinds = trace.kinds if options.kinds is None else options.kinds
    if not kinds:
        raise InputError(f"There is no kind of attention to show: choose of {_listed(trace)}.")
    default: Kind = "cross" if "cross" in [*kinds] else kinds[0]
    kind = default if options.kind is None else options.kind
    for shown in (kind, *kinds):
        _require_kind(shown, trace)
    most = max(len(trace.head_count(shown)) for shown in {kind, *kinds})
    layers = tuple(range(most)) if options.layers is None else options.layers
    for layer in layers:
        if not _is_below(layer, most):
            raise InputError(f"There is no layer {_counted(layer)}: the trace has {most}.")
    if options.sort not in SORTS:
        raise InputError(
            f"Heads cannot be sorted by {quoted(options.sort)}: choose one of {', '.join(SORTS)}."
        )
    _require_heads(options, kind, trace.head_count(kind))
    return ShownParts(kind, kinds, layers)


def _require_kind(kind: Kind, trace: AttentionTrace) -> None:
    if kind in [*trace.kinds]:  # not in the tuple: a notebook may hand over what has no hash
        return
    if kind not in [*KINDS]:
        raise InputError(
            f"There is no kind of attention {quoted(kind)}: choose one of {', '.join(trace.kinds)}."
        )
    there = " and ".join(KIND_TITLES[name] for name in trace.kinds)
    raise InputError(f"There is no {KIND_TITLES[kind]} in this trace: it has {there}.")


def _listed(trace: AttentionTrace) -> str:
    return ", ".join(trace.kinds)


def _require_heads(options: ExplorerOptions, kind: Kind, counts: tuple[int, ...]) -> None:
    if options.head and not tells_heads(options.lens):
        raise InputError(
            f"The lens {LENS_NAMES[options.lens]} sees all heads of a layer together: there is no "
            f"head {_counted(options.head)} in it, so name a layer alone."
        )
    if len(options.over) >= MOST_HEADS:
        raise InputError(
            f"{len(options.over)} heads cannot lie over the open one: there are colours for "
            f"{MOST_HEADS}, so name {MOST_HEADS - 1} at most."
        )
    over: list[tuple[Any, Any]] = [*options.over]  # of a notebook, it may be anything
    if any(None in head for head in over):
        raise InputError("A mean cannot lie over the open head: name a layer and a head.")
    asked = [(options.layer, options.head), *over]
    for layer, head in asked:
        # a mean over layers is over those that have the head
        heads = max(counts) if layer is None else None
        if layer is not None and _is_below(layer, len(counts)):
            heads = counts[layer]
        if heads is None or not (head is None or _is_below(head, heads)):
            raise InputError(
                f"There is no layer {_counted(layer)} with a head {_counted(head)}: this model has "
                f"{_sizes(counts)} of {KIND_TITLES[kind]}."
            )


def _is_below(value: object, count: int) -> bool:
    """Return whether a value is a whole number from 0 below `count`; a notebook passes anything."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _counted(value: object) -> str:
    """Format a layer or head as the screen counts it."""
    if value is None:
        return "1"
    return str(value + 1) if isinstance(value, int) else quoted(value)


def _sizes(counts: tuple[int, ...]) -> str:
    """`6 layers of 8 heads`, or of 2 to 8 where they differ."""
    least, most = min(counts), max(counts)
    heads = f"{most}" if least == most else f"{least} to {most}"
    return f"{counted(len(counts), 'layer')} of {heads} head{'' if most == 1 else 's'}"
