"""Masks of a padded batch, their reasons, and a pass without one of them (§3.1, §3.2.3)."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from transformer import choices, config, hooks, kinds, masks, trace
from transformer.analysis.teacher_forcing import TraceBatch
from transformer.arrays import Bools, Floats
from transformer.model import Transformer

MaskName = Literal["padding", "causal", "both"]
MaskReason = Literal["seen", "later", "padding", "both"]

MODEL_MASKS: dict[kinds.Kind, Literal["padding", "causal"]] = {
    "encoder_self": "padding",
    "decoder_self": "causal",
    "cross": "padding",
}
"""The mask that the model applies to each use of attention: the encoder may look ahead (§3.2.3),
and where padding is on the right, the causal mask hides it from every real query."""


@choices.check_choices
def visible_keys(batch: TraceBatch, kind: kinds.Kind, which: Literal["padding", "causal"]) -> Bools:
    """Mark the keys that a query may see, `[sentence, query, key]`.

    Cross-attention has no causal mask: no word of one language is before or after one of the other.
    """
    queries, keys = kinds.axes(kind, batch.source, batch.target)
    if which == "padding":
        mask = masks.padding_mask(keys)
    elif kind == "cross":
        mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    else:
        mask = masks.causal_mask(keys.size(1))
    shape = (keys.size(0), 1, queries.size(1), keys.size(1))
    return mask.expand(shape)[:, 0].numpy()


@choices.check_choices
def mask_reasons(batch: TraceBatch, kind: kinds.Kind, which: MaskName) -> npt.NDArray[np.str_]:
    """Name the mask that hides each key from each query; "both" where each of the two hides it."""
    padded, later = ~visible_keys(batch, kind, "padding"), ~visible_keys(batch, kind, "causal")
    reasons = {
        "padding": np.where(padded, "padding", "seen"),
        "causal": np.where(later, "later", "seen"),
        "both": np.select(
            [padded & later, padded, later], ["both", "padding", "later"], default="seen"
        ),
    }
    return reasons[which]


@choices.check_choices
def labels(batch: TraceBatch, kind: kinds.Kind) -> list[trace.Labels]:
    """Return the tokens along both axes of each sentence's mask, `<pad>` included."""
    sides = kinds.axes(kind, batch.source_tokens, batch.decoder_tokens, batch.target_tokens)
    return [trace.Labels(*pair) for pair in zip(*sides, strict=True)]


@choices.check_choices
def real_queries(batch: TraceBatch, kind: kinds.Kind) -> Bools:
    """Mark the queries that are not padding, whose output is used, `[sentence, query]`."""
    tokens = batch.source if kind == "encoder_self" else batch.target
    return masks.padding_mask(tokens)[:, 0, 0].numpy()


@dataclass(frozen=True, eq=False)
class Leak:
    """Attention of one kind to hidden keys in a teacher-forced pass over a batch, and its loss."""

    # `[sentence, query, layer, head]`, share of attention to hidden keys; NaN at padding
    shares: Floats
    loss: Floats  # `[sentence, target]`, -log p of each written token in nats; NaN at padding
    hides: Bools  # `[sentence]`, whether the mask hides anything from a real query

    @property
    def to_hidden(self) -> Floats:
        """`[layer, head]`: the share that goes to all that the mask would hide."""
        return np.nanmean(self.shares, axis=(0, 1))

    @property
    def mean_shares(self) -> Floats:
        """`[sentence]`: the same for each sentence, mean over its heads."""
        return np.nanmean(self.shares, axis=(1, 2, 3))

    @property
    def mean_loss(self) -> float:
        """Nats for each real written token, mean over all of the batch."""
        return float(np.nanmean(self.loss))

    @property
    def mean_losses(self) -> Floats:
        """`[sentence]`: the same for each sentence."""
        return np.nanmean(self.loss, axis=1)


@torch.inference_mode()
def leak(model: Transformer, batch: TraceBatch, kind: kinds.Kind, *, masked: bool) -> Leak:
    """Run the model with the mask of one kind of attention, or without it in every layer.

    The other two kinds keep theirs. Without the causal mask, the decoder sees later tokens and no
    padding: a sentence has the same loss alone and in a batch.
    """
    edits: dict[str, hooks.Hook] = {}
    if not masked:
        points = model.attention_points(kind, "mask")
        edits = dict.fromkeys(points, lambda mask, _: torch.ones_like(mask))
    if not masked and kind == "decoder_self":
        padded = ~masks.padding_mask(batch.target.to(model.device))
        points = model.attention_points(kind, "attn_scores")
        edits |= dict.fromkeys(points, lambda scores, _: scores.masked_fill(padded, -math.inf))
    names = model.attention_points(kind, "pattern")
    with model.hooks(edits):
        logits, cache = model.run_with_cache(
            batch.source.to(model.device),
            batch.target.to(model.device),
            names={*names}.__contains__,
        )
    patterns = [cache[name].double().cpu().numpy() for name in names]
    real = real_queries(batch, kind)[..., None]
    hidden = ~visible_keys(batch, kind, MODEL_MASKS[kind])  # [sentence, query, key]
    if kind == "decoder_self":
        hidden &= visible_keys(batch, kind, "padding")
    shares = [(pattern * hidden[:, None]).sum(-1).swapaxes(1, 2) for pattern in patterns]
    log_p = logits.double().log_softmax(-1).cpu()
    loss = -log_p.gather(-1, batch.written[..., None])[..., 0]  # [sentence, target]
    return Leak(
        shares=np.where(real[..., None], np.stack(shares, axis=2), np.nan),
        loss=loss.masked_fill(batch.written == config.PAD, torch.nan).numpy(),
        hides=np.asarray((hidden & real).any((1, 2))),
    )
