"""The stream of batches has the shapes that its device wants, and repeats from any point."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

from training.batch_stream import BatchStream, UpdateBatches
from training.config import Recipe
from training.corpus import CorpusError, read_training_text
from training.devices import ProcessInfo
from transformer.tokenizer import Tokenizer


def test_on_a_gpu_lengths_are_multiples_of_8_and_hold_the_same_tokens(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ProcessInfo(torch.device("cuda")).length_multiple == 8
    here = ProcessInfo(torch.device("cpu"))
    assert here.length_multiple == 1
    text = read_training_text([data])
    tokenizer = Tokenizer.train(text.source + text.target, 120)
    recipe = Recipe(batch_tokens=400)

    def tokens_of_an_epoch() -> tuple[int, set[int]]:
        found = 0
        lengths: set[int] = set()
        for update in BatchStream(text, tokenizer, recipe, here).updates(0, 0):
            if update.epoch:
                return found, lengths
            (batch,) = update.batches
            assert update.tokens == batch.tokens()
            assert max(batch.source.numel(), batch.target.numel()) <= 400
            found += update.tokens
            lengths |= {batch.source.size(1), batch.target.size(1)}
        raise AssertionError("the stream has no end")

    tokens, lengths = tokens_of_an_epoch()
    monkeypatch.setattr(ProcessInfo, "length_multiple", 8)
    padded_tokens, padded_lengths = tokens_of_an_epoch()
    assert padded_tokens == tokens
    assert {length % 8 for length in padded_lengths} == {0}
    assert len(padded_lengths) < len(lengths)


def _sources(updates: list[UpdateBatches]) -> list[list[list[int]]]:
    """The source pieces of each micro-batch."""
    return [batch.source.tolist() for update in updates for batch in update.batches]


def test_all_processes_cut_the_text_alike_and_anew_in_each_epoch(data: Path) -> None:
    text = read_training_text([data])
    tokenizer = Tokenizer.train(text.source + text.target, 120)

    def updates(recipe: Recipe, rank: int, world_size: int, *start: int) -> list[UpdateBatches]:
        process = ProcessInfo(torch.device("cpu"), rank, world_size)
        return list(islice(BatchStream(text, tokenizer, recipe, process).updates(*start), 40))

    recipe = Recipe(batch_tokens=400, bpe_dropout=0.2)
    alone = updates(replace(recipe, accumulate=2), 0, 1, 0, 0)
    ranks = [updates(recipe, rank, 2, 0, 0) for rank in range(2)]
    assert _sources(alone)[::2] == _sources(ranks[0])
    assert _sources(alone)[1::2] == _sources(ranks[1])
    for update, *shared in zip(alone, *ranks, strict=True):
        assert update.tokens == sum(batch.tokens() for s in shared for batch in s.batches)

    cuts = [
        {tuple(row) for batch in _sources([u for u in alone if u.epoch == epoch]) for row in batch}
        for epoch in range(2)
    ]
    assert len(cuts[0] & cuts[1]) < len(cuts[1]) / 2
    first = next(n for n, update in enumerate(alone) if update.epoch == 1)
    later = updates(replace(recipe, accumulate=2), 0, 1, 1, alone[first].batches_done)
    assert _sources(later)[: 2 * (39 - first)] == _sources(alone[first + 1 :])


def test_an_epoch_that_dropout_leaves_too_small_ends_the_run(data: Path) -> None:
    text = read_training_text([data])
    tokenizer = Tokenizer.train(text.source + text.target, 120)
    recipe = Recipe(batch_tokens=100, bpe_dropout=0.5, max_pieces=18, accumulate=8)
    stream = BatchStream(text, tokenizer, recipe, ProcessInfo(torch.device("cpu")))
    with pytest.raises(CorpusError, match="one update takes 8"):
        next(stream.updates(0, 0))
