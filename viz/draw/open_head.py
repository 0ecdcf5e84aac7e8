"""The map that is open on the heads page: one head, or the mean over several."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from transformer import AttentionTrace, Kind
from transformer.analysis.axes import LabelledWeights, by_pieces, by_words, without_special
from transformer.trace import Labels, Weights
from viz.draw.labels import SCREEN_NAMES, head_name


@dataclass(frozen=True)
class Heads:
    """All heads of one kind.

    Args:
        kind: of attention.
        axes: as the page shows them.
        whole: the same with special tokens, by which heads are measured and named.
        absorbed: `[layer, head]`, the mean share of a row's weight that went to special tokens
            which are not shown; None where all are shown.
    """

    kind: Kind
    axes: LabelledWeights
    whole: LabelledWeights
    absorbed: npt.NDArray[np.float64] | None


@dataclass(frozen=True)
class OpenMap:
    """One map with its labels.

    Args:
        title: such as `L3 H5 · cross`, or `layer 3 · mean of 8 heads · cross`.
        weights: `[query, key]`.
        reads: `[query]`, as `LabelledWeights` has them, and so `writes`.
        absorbed: the mean share of a row's weight that goes to tokens which are not shown; None
            where all are.
    """

    title: str
    weights: Weights
    labels: Labels
    reads: tuple[str, ...] | None
    writes: tuple[str, ...] | None
    absorbed: float | None


def heads(trace: AttentionTrace, kind: Kind, *, words: bool, special: bool) -> Heads:
    """The heads of one kind with the axes that were asked for.

    Raises:
        InputError: if nothing but special tokens is there and they are not to be shown.
    """
    whole = by_words(trace, kind) if words else by_pieces(trace, kind)
    if special:
        return Heads(kind, whole, whole, None)
    axes, absorbed = without_special(whole)
    return Heads(kind, axes, whole, absorbed)


def open_map(of: Heads, layer: int | None, head: int | None) -> OpenMap:
    """One head's map; None stands for the mean over all layers or heads."""
    layers, count = of.axes.weights.shape[:2]
    name = SCREEN_NAMES[of.kind]
    if layer is None and head is None:
        title = f"mean of all {layers * count} heads · {name}"
    elif layer is None and head is not None:
        title = f"head {head + 1} · mean of {layers} layers · {name}"
    elif head is None and layer is not None:
        title = f"layer {layer + 1} · mean of {count} heads · {name}"
    else:
        title = f"{head_name(layer, head)} · {name}"
    absorbed = None if of.absorbed is None else float(mean(of.absorbed, layer, head))
    weights = mean(of.axes.weights, layer, head)
    axes = of.axes
    return OpenMap(title, weights, axes.labels, axes.reads, axes.writes, absorbed)


def mean(weights: npt.NDArray, layer: int | None, head: int | None) -> npt.NDArray:
    """`[layer, head, ...]` to `[...]`: one of each, or the mean where None is asked for."""
    of_layer = weights.mean(0) if layer is None else weights[layer]
    return of_layer.mean(0) if head is None else of_layer[head]


def crop_to_step(of: Heads, step: int) -> Heads:
    """What exists of the decoder's maps when step `step` (from 0) is taken; English is whole."""
    if of.kind == "encoder_self":
        return of
    return replace(of, axes=_crop(of.axes, of.kind, step), whole=_crop(of.whole, of.kind, step))


def _crop(axes: LabelledWeights, kind: Kind, step: int) -> LabelledWeights:
    rows, (queries, keys) = slice(step + 1), axes.labels
    columns = rows if kind == "decoder_self" else slice(len(keys))
    return LabelledWeights(
        np.ascontiguousarray(axes.weights[:, :, rows, columns]),
        Labels(queries[rows], keys[columns]),
        None if axes.reads is None else axes.reads[rows],
        None if axes.writes is None else axes.writes[rows],
    )
