"""An update is divided among processes and into micro-batches without a change of what it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training.config import Recipe
from training.data.batches import Division, cut, empty_batch
from training.update import SummedLoss
from transformer.config import TransformerConfig
from transformer.model import Transformer


def _padded(lengths: list[int], multiple: int) -> int:
    return len(lengths) * -(-max(lengths) // multiple) * multiple


def _fewest(lengths: list[int], most: int, multiple: int) -> int:
    """The number of parts by trying every end of the first one."""
    if not lengths:
        return 0
    ends = [
        end
        for end in range(1, len(lengths) + 1)
        if end == 1 or _padded(lengths[:end], multiple) <= most
    ]
    return 1 + min(_fewest(lengths[end:], most, multiple) for end in ends)


@pytest.mark.parametrize("multiple", [1, 8])
def test_rows_are_cut_into_as_few_micro_batches_as_fit(multiple: int) -> None:
    random = np.random.default_rng(multiple)
    for _ in range(60):
        # in the small type without a sign that a text has its lengths in
        lengths = random.integers(1, 256, random.integers(1, 9)).astype(np.uint8)
        rows = random.permutation(1_000)[: len(lengths)]
        most = int(random.integers(1, 1_500))
        parts = cut(rows, lengths, most, multiple)
        assert np.concatenate(parts).tolist() == rows.tolist()
        of_row = dict(zip(rows.tolist(), lengths.tolist(), strict=True))
        for part in parts:
            here = [of_row[row] for row in part.tolist()]
            assert len(here) == 1 or _padded(here, multiple) <= most
        assert len(parts) == _fewest(lengths.tolist(), most, multiple)


def test_no_rows_are_no_micro_batches() -> None:
    assert cut(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8), 100) == []


@pytest.mark.parametrize(
    ("processes", "said"),
    [
        (1, "1 process × 3 micro-batches of about 10,000 tokens a side"),
        (2, "2 processes × 2 micro-batches of about 10,000 tokens a side"),
        (8, "8 processes × 1 micro-batch of about 3,125 tokens a side"),
        (64, "64 processes × 1 micro-batch of about 391 tokens a side"),
    ],
)
def test_what_follows_from_the_batch_is_said(processes: int, said: str) -> None:
    assert str(Division.from_recipe(Recipe(micro_batch_tokens=10_000), processes)) == said


@pytest.mark.parametrize("r_drop", [0.0, 5.0])
@pytest.mark.parametrize("multiple", [1, 8])
def test_a_batch_without_text_has_no_loss_and_no_gradient(multiple: int, r_drop: float) -> None:
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=30, N=1, d_model=8, d_ff=16, h=2, P_drop=0.1)
    model = Transformer(config).train()
    batch = empty_batch(multiple)
    assert batch.tokens() == 0
    assert batch.source.shape == (1, multiple)
    loss = SummedLoss(model, r_drop)(batch.source, batch.target, batch.labels)
    loss.backward()
    assert float(loss.detach()) == 0
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name  # DistributedDataParallel waits for each of them
        assert not parameter.grad.any(), name
