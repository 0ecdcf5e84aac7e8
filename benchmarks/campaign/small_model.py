"""A model so small that thousands of sentences take a minute; its weights are random."""

from __future__ import annotations

from pathlib import Path

import torch

from transformer import Tokenizer, Transformer, TransformerConfig
from transformer.checkpoints import checkpoint
from transformer.config import EOS

SENTENCES = [
    f"{subject} {verb} {place}."
    for subject in ("The dog", "A small bird", "My brother", "Der Hund", "Ein Vogel", "Mein Bruder")
    for verb in ("sleeps", "sings", "waits", "schläft", "singt", "wartet")
    for place in ("under the table", "in the garden", "unter dem Tisch", "im Garten")
]
SENTENCE = "The small dog waits in the garden."


def save_small_model(folder: Path, *, max_length: int = 128, positions: str = "sinusoidal") -> None:
    """Write a checkpoint with model card and run log."""
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=120)
    config = TransformerConfig.from_dict(
        {
            "vocab_size": tokenizer.vocab_size,
            "N": 2,
            "d_model": 16,
            "d_ff": 32,
            "h": 2,
            "max_length": max_length,
            "positions": positions,
        }
    )
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(3)
        model = Transformer(config)
        # dimensions 8 and 9 are a slow wave of the position: sentences end
        model.shared_embedding[EOS, 8] += 2.5
        model.shared_embedding[EOS, 9] -= 2.5
    extra = {"MODEL_CARD.md": "# A small model\n", "run.jsonl": '{"step": 1, "loss": 5.0}\n'}
    checkpoint.save(folder, model, tokenizer, extra=extra)
