"""The logit lens: what each decoder layer would write if it were the last (nostalgebraist 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from transformer.analysis.teacher_forcing import Array, forced_pair, to_array, values_at
from transformer.decoding import NEVER_WRITTEN
from transformer.errors import InputError
from transformer.trace import AttentionTrace
from transformer.translator import Translator


@dataclass(frozen=True, eq=False)
class LayerPredictions:
    """The most probable pieces after each decoder layer, at each step.

    Args:
        pieces: `[layer][target][k]`, as `Piece.text`, most probable first.
        probabilities: `[layer, target, k]`, theirs, among all pieces of the vocabulary.
        written: `[layer, target]`, the probability of the piece that was written.
        rank: `[layer, target]`, how many pieces are more probable than that one; 0 is the first.
    """

    pieces: tuple[tuple[tuple[str, ...], ...], ...]
    probabilities: Array
    written: Array
    rank: npt.NDArray[np.int64]


@torch.inference_mode()
def layer_predictions(
    translator: Translator, trace: AttentionTrace, k: int = 5
) -> LayerPredictions:
    """Project the output of each decoder layer to the vocabulary, as is done with the last.

    In a post-norm model each layer ends in a norm, so its output is what the projection expects.
    Pieces that a search never writes, such as `<pad>`, are left out of the most probable ones.

    Raises:
        InputError: if k is out of range, or the trace does not fit the model.
    """
    model = translator.model
    most = model.config.vocab_size - len(NEVER_WRITTEN)
    if not 1 <= k <= most:
        raise InputError(f"The {k} most probable pieces are asked for: choose from 1 to {most:,}.")
    layers = range(model.config.N)
    names = [f"decoder.layers.{n}.feed_forward_norm.hook_normalised" for n in layers]
    pair = forced_pair(model, trace)
    _, cache = values_at(model, pair, names)
    tops, probabilities, written, ranks = [], [], [], []
    for name in names:
        logits = model.logits(cache[name][0])
        exact = torch.promote_types(logits.dtype, torch.float32)
        p = logits.softmax(-1, dtype=exact)  # [target, vocab]
        own = p.gather(-1, pair.written[:, None])  # [target, 1]
        written.append(own[:, 0])
        p[:, list(NEVER_WRITTEN)] = -1
        ranks.append((p > own).sum(-1))
        best = p.topk(k)
        probabilities.append(best.values)
        tops.append(best.indices)
    texts = translator.target_tokenizer.pieces_of
    return LayerPredictions(
        pieces=tuple(
            tuple(tuple(piece.text for piece in texts(ids)) for ids in steps)
            for steps in torch.stack(tops).tolist()
        ),
        probabilities=to_array(torch.stack(probabilities)),
        written=to_array(torch.stack(written)),
        rank=torch.stack(ranks).cpu().numpy(),
    )
