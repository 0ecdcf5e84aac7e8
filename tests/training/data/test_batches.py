"""Batches hold what they may, waste little and come again the same, for any number of processes."""

from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.config import Recipe
from training.data import corpus, run_data, text_folders
from training.data.batches import (
    BatchStream,
    TokenBatches,
    UpdateBatches,
    empty_batch,
    make_batch,
)
from training.data.encoded_text import EncodedText, Sentences, TrainingText
from training.devices import ProcessInfo
from training.update import SummedLoss
from transformer.config import BOS, EOS, PAD, TransformerConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

HERE = ProcessInfo(torch.device("cpu"))
LENGTHS = st.integers(1, 30) | st.just(254)  # two of which are beyond the type they are stored in


def text_of_lengths(lengths: list[tuple[int, int]]) -> EncodedText:
    source, target = ([5] * s for s, _ in lengths), ([6] * t for _, t in lengths)
    return EncodedText(Sentences(source), Sentences(target))


def test_target_is_the_labels_shifted_right() -> None:
    text = EncodedText(Sentences([[7, 8], [9]]), Sentences([[10, 11, 12], [13]]))
    batch = make_batch(text, [0, 1])
    assert batch.source.tolist() == [[7, 8, EOS], [9, EOS, PAD]]
    assert batch.target.tolist() == [[BOS, 10, 11, 12], [BOS, 13, PAD, PAD]]
    assert batch.labels.tolist() == [[10, 11, 12, EOS], [13, EOS, PAD, PAD]]
    assert batch.tokens() == 6


def cut_row_by_row(
    lengths: list[tuple[int, int]], rows: np.ndarray, budget: int, multiple: int
) -> list[list[int]]:
    """The batches of an epoch before they are put into random order, one row after the other."""
    result: list[list[int]] = []
    longest = 0
    # sorted() is stable, too
    for row in sorted(rows.tolist(), key=lambda row: (lengths[row][1], lengths[row][0])):
        length = max(lengths[row]) + 1
        padded = -(-max(longest, length) // multiple) * multiple
        if not result or padded * (len(result[-1]) + 1) > budget:
            result.append([])
            longest = 0
        result[-1].append(row)
        longest = max(longest, length)
    return result


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(LENGTHS, LENGTHS), min_size=1, max_size=80),
    st.integers(1, 600),  # some sentences are too long for any batch
    st.sampled_from([1, 3, 8]),
    st.data(),
)
def test_batches_are_those_of_a_loop_over_all_rows(
    lengths: list[tuple[int, int]], budget: int, multiple: int, data: st.DataObject
) -> None:
    batches = TokenBatches(text_of_lengths(lengths), budget, 3, multiple)
    row_numbers = st.integers(0, len(lengths) - 1)
    given_rows = data.draw(st.none() | st.lists(row_numbers, max_size=99).map(np.array))
    rows = np.arange(len(lengths)) if given_rows is None else given_rows.astype(np.int64)
    random = np.random.default_rng((3, 5))
    expected = cut_row_by_row(lengths, rows[random.permutation(len(rows))], budget, multiple)
    order = random.permutation(len(expected))
    result = batches.epoch(5, None if given_rows is None else rows)
    assert [batch.tolist() for batch in result] == [expected[i] for i in order]


@pytest.mark.slow
@pytest.mark.parametrize(("multiple", "r_drop"), [(1, 0.0), (8, 5.0)])
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


@pytest.fixture(scope="module")
def tokenizer(data: Path) -> Tokenizer:
    text = text_folders.read_parallel(data / "train")
    return Tokenizer.train(text.source + text.target, 120)


def _text(data: Path, tokenizer: Tokenizer, *weights: float, max_pieces: int = 128) -> TrainingText:
    """The text, once with each weight."""
    texts = [text_folders.read_parallel(data / "train") for _ in weights]
    folders = [text_folders.DataFolder(data, weight) for weight in weights]
    return run_data.encode_texts(folders, texts, tokenizer, max_pieces)


def test_on_a_gpu_lengths_are_few_and_hold_the_same_tokens(
    data: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiple = ProcessInfo(torch.device("cuda")).length_multiple
    assert multiple > HERE.length_multiple == 1
    text, recipe = _text(data, tokenizer, 1), Recipe(batch_tokens=400)

    def tokens_of_an_epoch() -> tuple[int, set[int]]:
        result = 0
        lengths: set[int] = set()
        for update in BatchStream(text, recipe, HERE).updates(0, 0):
            if update.epoch:
                return result, lengths
            (batch,) = update.batches
            assert update.tokens == batch.tokens()
            assert max(batch.source.numel(), batch.target.numel()) <= 400
            result += update.tokens
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
    text: TrainingText, recipe: Recipe, processes: int, *start: int
) -> list[list[UpdateBatches]]:
    """The next 40 updates in each process."""
    return [
        list(
            islice(
                BatchStream(
                    text, recipe, ProcessInfo(torch.device("cpu"), rank, processes)
                ).updates(*start),
                40,
            )
        )
        for rank in range(processes)
    ]


def test_any_number_of_processes_reads_the_text_in_one_order(
    data: Path, tokenizer: Tokenizer
) -> None:
    text = _text(data, tokenizer, 1, 0.3)
    recipe = Recipe(batch_tokens=400)
    (alone,) = _updates(text, recipe, 1, 0, 0)
    in_parts = replace(recipe, micro_batch_tokens=70)
    ranks = _updates(text, in_parts, 3, 0, 0)
    for update, *shared in zip(alone, *ranks, strict=True):
        interleaved = zip_longest(*(_pairs(rank_update) for rank_update in shared))
        assert [pair for pairs in interleaved for pair in pairs if pair] == _pairs(update)
        assert {(u.tokens, u.epoch, u.batches_done) for u in shared} == {
            (update.tokens, update.epoch, update.batches_done)
        }
        sizes = [t.numel() for u in shared for b in u.batches for t in (b.source, b.target)]
        assert max(sizes) <= 70
    assert max(len(update.batches) for update in ranks[0]) > 1

    # from any point, and in another order in each epoch
    first = next(n for n, update in enumerate(alone) if update.epoch == 1)
    (later,) = _updates(text, recipe, 1, 1, alone[first].batches_done)
    assert [_pairs(u) for u in later[: 39 - first]] == [_pairs(u) for u in alone[first + 1 :]]
    orders = [[_pairs(u) for u in alone if u.epoch == epoch] for epoch in range(2)]
    assert orders[0][: len(orders[1])] != orders[1]


def test_more_processes_than_sentence_pairs_are_refused(data: Path, tokenizer: Tokenizer) -> None:
    text = _text(data, tokenizer, 1)
    BatchStream(text, Recipe(), ProcessInfo(torch.device("cpu"), 0, 300))
    with pytest.raises(corpus.CorpusError, match="300 sentence pairs, fewer than the 301"):
        BatchStream(text, Recipe(), ProcessInfo(torch.device("cpu"), 0, 301))


def test_an_epoch_may_be_empty_where_weights_are_small_but_not_the_first(
    data: Path, tokenizer: Tokenizer
) -> None:
    with pytest.raises(corpus.CorpusError, match="leave no sentence pair"):
        BatchStream(_text(data, tokenizer, 0.001), Recipe(), HERE)
    stream = BatchStream(_text(data, tokenizer, 0.002), Recipe(), HERE)
    (epochs,) = [[update.epoch for update in islice(stream.updates(0, 0), 4)]]
    assert epochs == [0, 2, 4, 5]
