"""A trace of any size, without a model: sharp random rows, as trained heads have them."""

import numpy as np

from transformer import AttentionTrace
from transformer.arrays import Singles
from transformer.text.tokenizer import Piece


def made_trace(n: int, layers: int, heads: int, seed: int) -> AttentionTrace:
    """Attention of `n` tokens on each side; each seed has tokens of its own."""
    random = np.random.default_rng(seed)

    def attention(*, causal: bool = False) -> Singles:
        scores = 4 * random.standard_normal((layers, heads, n, n), dtype=np.float32)
        if causal:
            scores[..., np.triu(np.ones((n, n), dtype=bool), 1)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    def pieces(letter: str) -> tuple[Piece, ...]:
        return tuple(Piece(4 + i, f"▁{letter}{i}", i) for i in range(n))

    return AttentionTrace(
        source="source",
        target="target",
        source_pieces=pieces(f"en{seed}x"),
        target_pieces=pieces(f"de{seed}x"),
        encoder_self=attention(),
        decoder_self=attention(causal=True),
        cross=attention(),
        log_probs=np.zeros(n, dtype=np.float32),
    )
