"""Evaluation of a model in the middle of its training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from transformer.model import Transformer


@contextmanager
def evaluation_mode(model: Transformer) -> Iterator[None]:
    """Switch dropout and compiled layers off inside the `with` block.

    A compiled layer calls no hooks, and a search, whose shapes change at each step, would be
    compiled again and again.
    """
    was_training = model.training
    model.eval()
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        model.train(was_training)
