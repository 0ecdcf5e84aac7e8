"""The tests' tiny model after a minute at school: its translations are German-like and end.

A model of random weights writes nothing, or one piece for ever, and neither tells whether a page
shows the right translation.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from transformer import Tokenizer, Transformer, checkpoint
from transformer.config import BOS, EOS, PAD

STEPS, BATCH = 80, 16
_folders: list[Path] = []  # one lesson is enough for all test modules


@pytest.fixture(scope="session")
def trained_folder(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The trained model as a checkpoint folder; whoever wants to damage it takes a copy."""
    if not _folders:
        folder = tmp_path_factory.mktemp("trained") / "model"
        checkpoint.save(folder, _trained(model, tokenizer, pairs), tokenizer)
        _folders.append(folder)
    return _folders[0]


def _trained(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]
) -> Transformer:
    model = copy.deepcopy(model)
    choose = random.Random(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    for _ in range(STEPS):
        english, german = zip(*choose.sample(list(pairs), BATCH), strict=True)
        source = _padded([[*tokenizer.encode(text), EOS] for text in english])
        target = _padded([[BOS, *tokenizer.encode(text), EOS] for text in german])
        logits = model(source, target[:, :-1])  # [sentence, piece, vocab]
        loss = F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model.eval()


def _padded(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
