"""The stream of updates is one and the same for any number of processes, from any point."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path

import pytest
import torch

from training.config import Recipe
from training.data.batches import BatchStream, UpdateBatches
from training.data.corpus import CorpusError, read_parallel
from training.data.folders import DataFolder
from training.data.training_text import TrainingText, encode_texts
from training.devices import ProcessInfo
from transformer.config import PAD
from transformer.text.tokenizer import Tokenizer

HERE = ProcessInfo(torch.device("cpu"))


@pytest.fixture(scope="module")
def tokenizer(data: Path) -> Tokenizer:
    text = read_parallel(data / "train")
    return Tokenizer.train(text.source + text.target, 120)


def _text(data: Path, tokenizer: Tokenizer, *weights: float, max_pieces: int = 128) -> TrainingText:
    """The text, once with each weight."""
    texts = [read_parallel(data / "train") for _ in weights]
    folders = [DataFolder(data, weight) for weight in weights]
    return encode_texts(folders, texts, tokenizer, max_pieces)


def test_on_a_gpu_lengths_are_few_and_hold_the_same_tokens(
    data: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiple = ProcessInfo(torch.device("cuda")).length_multiple
    assert multiple > HERE.length_multiple == 1
    text, recipe = _text(data, tokenizer, 1), Recipe(batch_tokens=400)

    def tokens_of_an_epoch() -> tuple[int, set[int]]:
        found = 0
        lengths: set[int] = set()
        for update in BatchStream(text, tokenizer, recipe, HERE).updates(0, 0):
            if update.epoch:
                return found, lengths
            (batch,) = update.batches
            assert update.tokens == batch.tokens()
            assert max(batch.source.numel(), batch.target.numel()) <= 400
            found += update.tokens
            lengths |= {batch.source.size(1), batch.target.size(1)}
        raise AssertionError("the stream has no end")

    tokens, lengths = tokens_of_an_epoch()
    monkeypatch.setattr(ProcessInfo, "length_multiple", multiple)
    padded_tokens, padded_lengths = tokens_of_an_epoch()
    assert padded_tokens == tokens
    assert {length % multiple for length in padded_lengths} == {0}
    assert len(padded_lengths) < len(lengths)
    # where the next multiple would be longer than any pair may be
    recipe = Recipe(batch_tokens=400, max_pieces=max(lengths))
    assert max(lengths) % multiple
    assert tokens_of_an_epoch() == (tokens, padded_lengths - {max(padded_lengths)} | {max(lengths)})


Pair = tuple[tuple[int, ...], tuple[int, ...]]


def _pairs(update: UpdateBatches) -> list[Pair]:
    """The pieces of each sentence pair, in the order of the micro-batches."""

    def pieces(rows: torch.Tensor) -> list[tuple[int, ...]]:
        return [tuple(piece for piece in row if piece != PAD) for row in rows.tolist()]

    return [
        pair
        for batch in update.batches
        for pair in zip(pieces(batch.source), pieces(batch.labels), strict=True)
    ]


def _updates(
    text: TrainingText, tokenizer: Tokenizer, recipe: Recipe, processes: int, *start: int
) -> list[list[UpdateBatches]]:
    """The next 40 updates in each process."""
    return [
        list(
            islice(
                BatchStream(
                    text, tokenizer, recipe, ProcessInfo(torch.device("cpu"), rank, processes)
                ).updates(*start),
                40,
            )
        )
        for rank in range(processes)
    ]


@pytest.mark.parametrize("processes", [2, 3])
def test_any_number_of_processes_reads_the_text_in_one_order(
    processes: int, data: Path, tokenizer: Tokenizer
) -> None:
    text = _text(data, tokenizer, 1, 0.3)
    recipe = Recipe(batch_tokens=400, bpe_dropout=0.2)
    (alone,) = _updates(text, tokenizer, recipe, 1, 0, 0)
    in_parts = replace(recipe, micro_batch_tokens=70)
    ranks = _updates(text, tokenizer, in_parts, processes, 0, 0)
    for update, *shared in zip(alone, *ranks, strict=True):
        of_ranks = zip_longest(*(_pairs(of_rank) for of_rank in shared))
        assert [pair for pairs in of_ranks for pair in pairs if pair] == _pairs(update)
        assert {(u.tokens, u.epoch, u.batches_done) for u in shared} == {
            (update.tokens, update.epoch, update.batches_done)
        }
        sizes = [t.numel() for u in shared for b in u.batches for t in (b.source, b.target)]
        assert max(sizes) <= 70
    assert max(len(update.batches) for update in ranks[0]) > 1

    # from any point, and cut anew in each epoch
    first = next(n for n, update in enumerate(alone) if update.epoch == 1)
    (later,) = _updates(text, tokenizer, recipe, 1, 1, alone[first].batches_done)
    assert [_pairs(u) for u in later[: 39 - first]] == [_pairs(u) for u in alone[first + 1 :]]
    cuts = [{p for u in alone if u.epoch == epoch for p in _pairs(u)} for epoch in range(2)]
    assert len(cuts[0] & cuts[1]) < len(cuts[1]) / 2


def test_an_epoch_reads_each_folder_as_often_as_its_weight_says(
    data: Path, tokenizer: Tokenizer
) -> None:
    text = _text(data, tokenizer, 2, 0.5)
    stream = BatchStream(text, tokenizer, Recipe(batch_tokens=400), HERE)
    pairs = 0
    for update in stream.updates(0, 0):
        if update.epoch:
            break
        pairs += len(_pairs(update))
    assert pairs == 2 * 300 + 150


def test_a_process_without_a_row_computes_one_without_text(
    data: Path, tokenizer: Tokenizer
) -> None:
    text, recipe = _text(data, tokenizer, 1), Recipe(batch_tokens=1)  # a pair in each update
    first, second = _updates(text, tokenizer, recipe, 2, 0, 0)
    for with_row, without in zip(first, second, strict=True):
        assert with_row.batches[0].tokens() == with_row.tokens == without.tokens > 0
        assert [batch.tokens() for batch in without.batches] == [0]


def test_more_processes_than_sentence_pairs_are_refused(data: Path, tokenizer: Tokenizer) -> None:
    text = _text(data, tokenizer, 1)
    for processes in (300, 301):
        process = ProcessInfo(torch.device("cpu"), 0, processes)
        if processes == 300:
            BatchStream(text, tokenizer, Recipe(), process)
            continue
        with pytest.raises(CorpusError, match="300 sentence pairs, fewer than the 301"):
            BatchStream(text, tokenizer, Recipe(), process)


def test_an_epoch_that_dropout_leaves_empty_ends_the_run(data: Path, tokenizer: Tokenizer) -> None:
    longest = max(map(len, _text(data, tokenizer, 1).encoded.source))
    recipe = Recipe(bpe_dropout=0.999, max_pieces=longest + 1)
    text = _text(data, tokenizer, 1, max_pieces=longest + 1)
    with pytest.raises(CorpusError, match="lower bpe_dropout"):
        next(BatchStream(text, tokenizer, recipe, HERE).updates(0, 0))


def test_an_epoch_may_be_empty_where_weights_are_small_but_not_the_first(
    data: Path, tokenizer: Tokenizer
) -> None:
    with pytest.raises(CorpusError, match="leave no sentence pair"):
        BatchStream(_text(data, tokenizer, 0.001), tokenizer, Recipe(), HERE)
    stream = BatchStream(_text(data, tokenizer, 0.002), tokenizer, Recipe(), HERE)
    (epochs,) = [[update.epoch for update in islice(stream.updates(0, 0), 4)]]
    assert epochs == [0, 2, 4, 5]
