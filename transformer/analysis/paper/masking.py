"""The masks of a padded batch, and why each query may not see each key (§3.1, §3.2.3)."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from transformer.analysis.batch import TraceBatch
from transformer.kinds import Kind
from transformer.masks import causal_mask, padding_and_causal_mask, padding_mask
from transformer.trace import Labels

Bools: TypeAlias = npt.NDArray[np.bool_]
MaskName = Literal["padding", "causal", "both"]
MaskReason = Literal["seen", "later", "padding", "both"]

MODEL_MASKS: dict[Kind, MaskName] = {
    "encoder_self": "padding",
    "decoder_self": "causal",
    "cross": "padding",
}
"""The mask that the model applies to each use of attention: the encoder may look ahead (§3.2.3),
and where padding is on the right, the causal mask hides it from every real query."""


def visible_keys(batch: TraceBatch, kind: Kind, which: MaskName) -> Bools:
    """Mark the keys that a query may see.

    Cross-attention has no causal mask, since a word of one language is neither before nor after
    one of the other: there "causal" hides nothing, and "both" is the padding mask.

    Returns:
        `[sentence, query, key]`, as `transformer.masks` has it.
    """
    keys = batch.target if kind == "decoder_self" else batch.source
    queries = batch.source if kind == "encoder_self" else batch.target
    if which == "padding" or (which == "both" and kind == "cross"):
        mask = padding_mask(keys)
    elif kind == "cross":
        mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    elif which == "causal":
        mask = causal_mask(keys.size(1))
    else:
        mask = padding_and_causal_mask(keys)
    shape = (keys.size(0), 1, queries.size(1), keys.size(1))
    visible: Bools = mask.expand(shape)[:, 0].numpy()
    return visible


def mask_reasons(batch: TraceBatch, kind: Kind, which: MaskName) -> npt.NDArray[np.str_]:
    """Name the mask that hides each key from each query, a `MaskReason`, `[sentence, query, key]`.

    A key that comes later and is padding has "both" reasons only where both masks are applied.
    """
    padded, later = ~visible_keys(batch, kind, "padding"), ~visible_keys(batch, kind, "causal")
    reasons = {
        "padding": np.where(padded, "padding", "seen"),
        "causal": np.where(later, "later", "seen"),
        "both": np.select(
            [padded & later, padded, later], ["both", "padding", "later"], default="seen"
        ),
    }
    return reasons[which]


def labels(batch: TraceBatch, kind: Kind) -> list[Labels]:
    """Return the tokens along both axes of each sentence's mask, `<pad>` included.

    Decoder positions have the names that `AttentionTrace.labels` gives them.
    """
    queries, keys = {
        "encoder_self": (batch.source_tokens, batch.source_tokens),
        "decoder_self": (batch.decoder_tokens, batch.decoder_tokens),
        "cross": (batch.target_tokens, batch.source_tokens),
    }[kind]
    return [Labels(*pair) for pair in zip(queries, keys, strict=True)]


def real_queries(batch: TraceBatch, kind: Kind) -> Bools:
    """Mark the queries that are tokens of a sentence; the output of a padding query is not used.

    Returns:
        `[sentence, query]`.
    """
    tokens = batch.source if kind == "encoder_self" else batch.target
    real: Bools = padding_mask(tokens)[:, 0, 0].numpy()
    return real
