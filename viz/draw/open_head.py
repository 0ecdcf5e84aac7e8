"""The map that is open on the heads page: one head, or the mean over several, through a lens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from transformer import AttentionTrace, Kind
from transformer.analysis.axes import LabelledWeights, by_pieces, by_words, without_special
from transformer.analysis.heads.head import Head
from transformer.analysis.lenses import AnyLens
from transformer.analysis.sinks import without_sinks
from transformer.arrays import Singles
from transformer.trace import Labels
from viz.draw.caption import ALL_HEADS, tells_heads, title_end
from viz.draw.formatting import counted
from viz.draw.labels import SCREEN_NAMES, head_name


@dataclass(frozen=True)
class Heads:
    """All heads of one kind."""

    kind: Kind
    axes: LabelledWeights  # as the page shows them
    whole: LabelledWeights  # the same with special tokens, by which heads are measured and named
    counts: tuple[int, ...]  # heads of each layer, which need not all have as many
    # through which they are seen; one that does not tell heads apart leaves one of them
    lens: AnyLens = "weights"
    sinks: bool = True  # whether sinks have their weight; else each row is scaled to the rest
    # `[layer][head]`, what a head does in a word, such as `one-to-one`; "" for nothing
    roles: Sequence[Sequence[str]] = ()
    # `[layer, head]`, the measure by which the maps of a grid are sorted; shown at each of them
    values: npt.NDArray | None = None


@dataclass(frozen=True)
class OpenMap:
    """One map with its labels."""

    name: str  # such as `layer 3 · mean of 8 heads`
    title: str  # the name, and what `name_end` returns
    weights: Singles  # `[query, key]`
    labels: Labels
    lens: AnyLens = "weights"
    sinks: bool = True  # as `Heads` has them


def heads_of_kind(
    trace: AttentionTrace,
    kind: Kind,
    *,
    words: bool = False,
    special: bool = True,
    lens: AnyLens = "weights",
    sinks: bool = True,
) -> Heads:
    """Select the heads of one kind, with the requested axes.

    The trace is that of `lens_trace`, where the lens is another than the weights. With `words`, the
    pieces of a word are merged. Without `sinks`, each row is scaled to what else it looks at.
    """
    if not sinks:
        trace = without_sinks(trace, kind)
    whole = by_words(trace, kind) if words else by_pieces(trace, kind)
    whole = whole._replace(sinks=sinks)
    counts = trace.head_count(kind)
    axes = whole if special else without_special(whole)[0]
    return Heads(kind, axes, whole, counts, lens, sinks)


def every_head(kinds: Iterable[Heads], layers: Sequence[int]) -> list[Head]:
    """Return the heads of kinds that exist in these layers, row by row."""
    return [
        Head(heads.kind, layer, head)
        for heads in kinds
        for layer in layers
        if layer < len(heads.counts)
        for head in range(heads.counts[layer])
    ]


def open_map(heads: Heads, layer: int | None, head: int | None) -> OpenMap:
    """Return the map of one head, or of a layer under some lenses; None stands for a mean."""
    if not tells_heads(heads.lens):
        head = None
    name = _name(heads, layer, head)
    return OpenMap(
        name=name,
        title=f"{name} · {name_end(heads.kind, heads.lens, sinks=heads.sinks)}",
        weights=mean(heads.axes.weights, layer, head, heads.counts),
        labels=heads.axes.labels,
        lens=heads.lens,
        sinks=heads.sinks,
    )


def difference(first: OpenMap, second: OpenMap) -> Singles:
    """Subtract the weights of a second map."""
    return first.weights - second.weights


def name_end(kind: Kind, lens: AnyLens, *, sinks: bool) -> str:
    """Format what every head of a kind shares, as `cross-attention · norms · without sinks`."""
    return " · ".join([SCREEN_NAMES[kind], *title_end(lens, sinks=sinks)])


def _name(heads: Heads, layer: int | None, head: int | None) -> str:
    if not tells_heads(heads.lens):
        every_layer = f"mean of {counted(sum(map(bool, heads.counts)), 'layer')}"
        which = every_layer if layer is None else f"layer {layer + 1}"
        return f"{which} · {ALL_HEADS}"
    elif layer is None and head is None:
        every = sum(heads.counts)
        return f"mean of {'all ' if every > 1 else ''}{counted(every, 'head')}"
    elif layer is None and head is not None:
        layers = sum(head < count for count in heads.counts)
        return f"head {head + 1} · mean of {counted(layers, 'layer')}"
    elif head is None and layer is not None:
        return f"layer {layer + 1} · mean of {counted(heads.counts[layer], 'head')}"
    return head_name(layer, head)


def short_name(lens: AnyLens, layer: int, head: int) -> str:
    """Format a head as `L3 H5`, or as `L3` under a lens that does not tell heads apart."""
    return head_name(layer, head) if tells_heads(lens) else f"L{layer + 1}"


def outlined(lens: AnyLens, layer: int | None, head: int | None) -> tuple[int, int]:
    """Return layer and head of the small map to outline; -1 for a mean, which has none."""
    if not tells_heads(lens):
        head = 0
    return (-1 if layer is None else layer), (-1 if head is None else head)


def mean(
    weights: npt.NDArray, layer: int | None, head: int | None, counts: Sequence[int] | None = None
) -> npt.NDArray:
    """Select a layer and a head, or the mean where None: `[layer, head, ...]` to `[...]`.

    `counts` is the number of heads of each layer; the mean leaves out absent heads.
    """
    layers, heads = weights.shape[:2]
    there = np.arange(heads) < np.array(counts or (heads,) * layers)[:, None]
    chosen = np.zeros_like(there)
    chosen[slice(None) if layer is None else layer, slice(None) if head is None else head] = True
    maps = weights[chosen & there]
    return maps[0] if len(maps) == 1 else maps.mean(0)
