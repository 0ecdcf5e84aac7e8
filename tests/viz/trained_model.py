"""The tests' tiny model after a minute at school: its translations are German-like and end.

A model of random weights writes nothing, or one piece for ever, and neither tells whether a page
shows the right translation.
"""

import copy
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from torch.nn import functional as F

from transformer import Tokenizer, Transformer, config
from transformer.checkpoints import checkpoint

STEPS, BATCH = 80, 16


@pytest.fixture(scope="session")
def trained_folder(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The trained model as a checkpoint folder; whoever wants to damage it takes a copy.

    It is trained once: for all modules that import this fixture, and for all xdist workers.
    """
    session = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        session = session.parent  # each worker has a folder of its own in that of the session
    folder = session / "trained-model"
    with FileLock(session / "trained-model.lock"):
        if not folder.exists():
            checkpoint.save(folder, _trained(model, tokenizer, pairs), tokenizer)
    return folder


def _trained(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]
) -> Transformer:
    # in double precision no processor rounds its way to another translation
    model = copy.deepcopy(model).double()
    choose = random.Random(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    for _ in range(STEPS):
        english, german = zip(*choose.sample(list(pairs), BATCH), strict=True)
        source = _padded([[*tokenizer.encode(text), config.EOS] for text in english])
        target = _padded([[config.BOS, *tokenizer.encode(text), config.EOS] for text in german])
        logits = model(source, target[:, :-1])  # [sentence, piece, vocab]
        loss = F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=config.PAD)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model.float().eval()


def _padded(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [config.PAD] * (longest - len(row)) for row in rows])
