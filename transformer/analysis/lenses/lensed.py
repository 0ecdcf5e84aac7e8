"""A trace seen through a lens: shares in the place of weights, for all that takes a trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transformer.analysis.lenses import AnyLens, as_rows, lens_of_kinds
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from transformer.traces.fields import Weights
from transformer.translator import Translator


def lensed(
    name: AnyLens,
    translator: Translator | None,
    trace: AttentionTrace,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> AttentionTrace:
    """Replace the weights of a trace by the values of a lens, as shares of their rows.

    Args:
        name: the name of the lens; "weights" leaves the trace as it is.
        translator: the model that made the trace; None for the lenses `NEEDS_NO_MODEL`.
        trace: the trace of the sentence and its translation.
        progress: a callback after each layer of each kind, with the number done and that of all.

    Returns:
        A trace of `[layer, head, query, key]`, with one head where the lens has none of its own
        (`lenses.HAS_HEADS`). A row sums to 1, or to 0 where the lens sees nothing in it.

    Raises:
        InputError: if there is no such lens, if it needs a model and there is none, or the trace
            does not fit the model.
        CheckpointError: if what is computed is not finite.
    """
    if name == "weights":
        return trace

    by_kind = lens_of_kinds(name, translator, trace, progress=progress)

    def rows(kind: Kind) -> Weights:
        if kind not in by_kind:
            return trace.weights(kind)
        shares = as_rows(by_kind[kind])
        return shares if shares.ndim == 4 else shares[:, None]  # one head for all

    return replace(
        trace,
        encoder_self=rows("encoder_self"),
        decoder_self=rows("decoder_self"),
        cross=rows("cross"),
        head_counts={},  # a model of ours has as many in each layer
    )
