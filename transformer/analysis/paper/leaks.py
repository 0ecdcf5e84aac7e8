"""Effects of a missing mask: attention to the keys that it hides, and the loss (§3.2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer.analysis.batch import TraceBatch
from transformer.analysis.paper.masking import MODEL_MASKS, Bools, mask_reasons, real_queries
from transformer.config import PAD
from transformer.hooks import Hook
from transformer.kinds import Kind, attention_name
from transformer.model import Transformer

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Leak:
    """The attention of one kind to hidden keys in a teacher-forced pass over a batch, and its loss.

    Args:
        to_later: `[layer, head]`, the share of a real query's attention that goes to tokens which
            come later; mean over the real queries of all sentences.
        to_padding: the share that goes to padding, likewise.
        loss: `[sentence, target]`, -log p of each written token in nats; NaN at padding.
        hides: `[sentence]`, whether the mask hides anything from a real query: where it does not,
            nothing can leak.
    """

    to_later: Floats
    to_padding: Floats
    loss: Floats
    hides: Bools

    @property
    def to_hidden(self) -> Floats:
        """`[layer, head]`: the share that goes to all that the mask would hide."""
        return self.to_later + self.to_padding

    @property
    def mean_loss(self) -> float:
        """Nats for each real written token, mean over all of the batch."""
        return float(np.nanmean(self.loss))

    @property
    def mean_losses(self) -> Floats:
        """`[sentence]`: the same for each sentence."""
        means: Floats = np.nanmean(self.loss, axis=1)
        return means


@torch.inference_mode()
def leak(model: Transformer, batch: TraceBatch, kind: Kind, *, masked: bool) -> Leak:
    """Run the model with the mask of one kind of attention, or without it in every layer.

    The other two kinds keep theirs. Keys after the end of a sentence that the decoder's
    mask would hide count as padding, not as later.
    """
    names = [attention_name(kind, layer) for layer in range(model.config.N)]
    edits: Mapping[str, Hook] = {} if masked else {f"{name}.hook_mask": _unmask for name in names}
    with model.hooks(edits):
        logits, cache = model.run_with_cache(
            batch.source.to(model.device),
            batch.target.to(model.device),
            names={f"{name}.hook_pattern" for name in names}.__contains__,
        )
    patterns = [cache[f"{name}.hook_pattern"].double().cpu().numpy() for name in names]
    later, padding = _hidden(batch, kind)
    real = real_queries(batch, kind)
    return Leak(
        to_later=np.stack([_share(pattern, later, real) for pattern in patterns]),
        to_padding=np.stack([_share(pattern, padding, real) for pattern in patterns]),
        loss=_loss(logits, batch.written),
        hides=np.asarray(((later | padding) & real[..., None]).any((1, 2))),
    )


def _unmask(mask: Tensor, _name: str) -> Tensor:
    return torch.ones_like(mask)


def _hidden(batch: TraceBatch, kind: Kind) -> tuple[Bools, Bools]:
    """Mark the tokens and the padding that the model's mask hides, `[sentence, query, key]`."""
    hidden = mask_reasons(batch, kind, MODEL_MASKS[kind]) != "seen"
    padding = hidden & (mask_reasons(batch, kind, "padding") == "padding")
    return hidden & ~padding, padding


def _share(pattern: Floats, keys: Bools, real: Bools) -> Floats:
    """Average the share of these keys over real queries, from `[sentence, head, query, key]`."""
    shares = (pattern * keys[:, None]).sum(-1)  # [sentence, head, query]
    mean: Floats = shares.transpose(0, 2, 1)[real].mean(0)
    return mean


def _loss(logits: Tensor, written: Tensor) -> Floats:
    log_p = logits.double().log_softmax(-1).cpu()
    loss = -log_p.gather(-1, written[..., None])[..., 0]  # [sentence, target]
    nats: Floats = loss.masked_fill(written == PAD, torch.nan).numpy()
    return nats
