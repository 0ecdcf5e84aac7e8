"""Greedy search: a beam of one."""

from __future__ import annotations

from torch import Tensor

from transformer.decoding.beam import beam_search
from transformer.decoding.hypothesis import MAX_EXTRA, Hypothesis
from transformer.model import Transformer


def greedy(model: Transformer, source: Tensor, *, max_extra: int = MAX_EXTRA) -> list[Hypothesis]:
    """Write the most probable piece at each step.

    Args:
        model: the model, in evaluation mode.
        source: `[batch, source]` token ids, padded on the right.
        max_extra: the length limit beyond the source's length.

    Returns:
        One hypothesis for each sentence.
    """
    sentences = beam_search(model, source, beam_size=1, max_extra=max_extra)
    return [hypotheses[0] for hypotheses in sentences]
