import threading

import pytest
import torch

from transformer import InputError
from transformer.decoding.settings import SearchSettings
from transformer.hooks import silence
from transformer.translation import batch
from transformer.translation.batch import LineSearch, batches

SETTINGS = SearchSettings(beam_size=3, n_best=1)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Several blocks and several batches of a few lines."""
    monkeypatch.setattr(batch, "BLOCKS", (4, 32))
    monkeypatch.setattr(batch, "MAX_TOKENS", 200)


def text_of(translator):
    return lambda _line, hypotheses: translator.tokenizer.decode(hypotheses[0].tokens)


def flat(search, texts, **options):
    return [result for block in search.results(texts, **options) for result in block]


@pytest.mark.slow
def test_the_text_is_that_of_one_by_one_in_several_threads(translator, pairs):
    texts = [pairs[7 * n].english[: 9 + 5 * (n % 9)] if n % 7 else " " for n in range(12)]
    translated = flat(LineSearch(translator, SETTINGS, text_of(translator), threads=3), texts)
    one_by_one = [
        translator.translate(text, beam_size=3).text if text.strip() else None for text in texts
    ]
    assert translated == one_by_one
    assert len(set(translated)) > 4


@pytest.mark.slow
def test_hooks_of_the_caller_hold_in_every_thread(translator, pairs):
    texts = [pair.english for pair in pairs[:54:18]]
    names = [f"decoder.layers.{layer}.cross_attention.hook_z" for layer in (0, 1)]
    hooks = {name: silence(0) for name in names}
    search = LineSearch(translator, SETTINGS, text_of(translator), threads=3)
    plain = flat(search, texts)
    with translator.model.hooks(hooks):
        hooked = flat(search, texts)
        assert hooked == [translator.translate(text, beam_size=3).text for text in texts]
    assert hooked != plain
    assert flat(search, texts) == plain


def test_a_line_that_fails_is_named_and_alone(translator):
    def finish(line, hypotheses):
        if "bird" in line.text:
            raise InputError("It has a bird.")
        return line.number

    texts = ["The dog waits.", "", "A bird sings.", "dog " * 999, "\udcff", "The dog waits."]
    results = flat(LineSearch(translator, SETTINGS, finish), texts, first=11)
    assert [results[0], results[1], results[5]] == [11, None, 16]
    assert str(results[2]) == "Line 13: It has a bird."
    assert str(results[3]).startswith("Line 14: The text has 2,")
    assert str(results[4]).startswith("Line 15: The text has a broken character")


def test_forbidden_words_that_leave_one_line_nothing_stop_no_other(translator, monkeypatch):
    real = translator.search

    def search(rows, settings, should_stop):
        if any(len(row) > 12 for row in rows):
            raise InputError("Nothing is left.")
        return real(rows, settings, should_stop)

    monkeypatch.setattr(translator, "search", search)
    texts = ["The dog waits.", "The dog waits beside the river in the garden.", "The dog waits."]
    monkeypatch.setattr(batch, "PARTS", 1)  # all in one batch
    results = flat(LineSearch(translator, SETTINGS, text_of(translator)), texts)
    assert str(results[1]) == "Line 2: Nothing is left."
    assert [results[0], results[2]] == [
        translator.translate(texts[n], beam_size=3).text for n in (0, 2)
    ]


@pytest.mark.timeout(60)
def test_an_endless_stream_is_read_block_by_block(translator):
    read = []

    def endless():
        while True:
            read.append(1)
            yield "The dog waits."

    results = LineSearch(translator, SETTINGS, text_of(translator), threads=2).results(endless())
    assert [len(next(results)), len(read)] == [4, 4]
    assert [len(next(results)), len(read)] == [32, 36]
    before = threading.active_count()
    results.close()
    assert threading.active_count() < before


def test_progress_counts_every_line_that_is_searched(translator):
    counts: list[int] = []
    search = LineSearch(translator, SETTINGS, text_of(translator), progress=counts.append)
    flat(search, ["The dog waits.", "", "A bird sings."] * 9)
    assert sum(counts) == 18
    assert len(counts) > 2


@pytest.mark.parametrize("most", [1, 30])
def test_batches_hold_every_index_once_and_no_more_tokens_than_asked(most):
    lengths = torch.randint(1, 40, (200,), generator=torch.Generator().manual_seed(0)).tolist()
    groups = batches(lengths, most)
    assert sorted(i for batch in groups for i in batch) == list(range(200))
    ordered = [lengths[i] for batch in groups for i in batch]
    assert ordered == sorted(lengths, reverse=True)
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= most for b in groups)
    assert batches([], most) == []
