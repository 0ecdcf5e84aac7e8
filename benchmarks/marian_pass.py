"""One teacher-forced pass of a model here and in `transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer import KINDS, Transformer
from transformer.checkpoints.marian.weights import halves_to_pairs
from transformer.kinds import attention_name


def largest_differences(
    ours: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    theirs: Any,
    pieces: tuple[Sequence[int], Sequence[int]],
) -> dict[str, float]:
    """The largest absolute difference of each kind of value.

    Args:
        ours: the model, which reads `source` and `target`, ids of its own.
        source: with its end.
        target: with its start.
        theirs: what `transformers` gave for the same pieces, attention included.
        pieces: those that both libraries know, by our ids and by theirs.
    """
    ids = torch.tensor([source])
    logits, cache = ours.run_with_cache(
        ids, torch.tensor([target]), names=lambda name: name.endswith("hook_pattern")
    )
    own_logits, their_logits = logits[0][:, pieces[0]], theirs.logits[0][:, pieces[1]]
    found = {
        "encoder states": (
            ours.encode(ids)[0],
            halves_to_pairs(theirs.encoder_last_hidden_state[0], 1),
        ),
        "logits": (own_logits, their_logits),
        "log P": (own_logits.log_softmax(-1), their_logits.log_softmax(-1)),
    }
    attentions = theirs.encoder_attentions, theirs.decoder_attentions, theirs.cross_attentions
    for kind, layers in zip(KINDS, attentions, strict=True):
        own = [cache[f"{attention_name(kind, n)}.hook_pattern"] for n in range(len(layers))]
        found[f"{kind} weights"] = torch.cat(own), torch.cat(layers)
    return {what: _largest(*both) for what, both in found.items()}


def _largest(first: Tensor, second: Tensor) -> float:
    return float(np.abs(first.double().numpy() - second.double().numpy()).max())
