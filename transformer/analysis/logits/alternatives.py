"""What the model held probable at each step of a translation, beside the piece that was written."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from transformer.analysis.batch import batch_traces
from transformer.decoding import NEVER_WRITTEN
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer
from transformer.trace import AttentionTrace


@dataclass(frozen=True)
class Choice:
    """One piece at one step.

    Args:
        piece: as `Piece.text`.
        probability: given the source and all pieces before it, 0 to 1.
    """

    piece: str
    probability: float


@torch.inference_mode()
def alternatives(
    model: Transformer, tokenizer: Tokenizer, trace: AttentionTrace, count: int
) -> list[tuple[Choice, ...]]:
    """For each target position the piece that was written, then the most probable others.

    One teacher-forced pass gives what each step of the search saw; pieces that a search never
    writes, such as `<pad>`, are left out.

    Args:
        count: how many others.

    Returns:
        `[target][1 + count]`, the others by falling probability.
    """
    pair = batch_traces([trace])
    logits = model(pair.source.to(model.device), pair.target.to(model.device))[0]
    p = logits.float().softmax(-1)  # [target, vocab]
    written = torch.tensor([piece.id for piece in trace.target_pieces], device=p.device)
    own = p.gather(-1, written[:, None])[:, 0].tolist()
    p[:, list(NEVER_WRITTEN)] = -1
    p.scatter_(-1, written[:, None], -1)
    best = p.topk(count)
    return [
        (
            Choice(piece.text, probability),
            *(
                Choice(other.text, value)
                for other, value in zip(tokenizer.pieces_of(ids), values, strict=True)
            ),
        )
        for piece, probability, ids, values in zip(
            trace.target_pieces, own, best.indices.tolist(), best.values.tolist(), strict=True
        )
    ]
