"""BPE-dropout is SentencePiece's in its statistics, and repeats in any process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.conftest import sentence_pairs
from training.data import subword_sampling
from training.data.corpus import CorpusError, ParallelText
from training.data.encoded_text import EncodedText, Part, Sentences, TrainingText, encode
from training.data.subword_sampling import BpeDropout, draws
from transformer.config import BOS, EOS, PAD, UNK
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer

ROOT = Path(__file__).parents[3]
TEXT = ParallelText(*(list(side) for side in zip(*sentence_pairs(300), strict=True)))
SEED = (1, 0, 0)
# what normalisation changes, what is unknown, and characters that mean something to SentencePiece
ODD = ["", "  ", "▁", "▁▁ dog", "ﬁnds  the㎏", "😀😀 😀dog😀", "<s> </s><unk>", "Do\u0308g",
       "\0dog\n", "the\u200bdog", "dogdogdogdogdogdogdogdogdog", "Der Hund，ｄｏｇ"]  # fmt: skip
LETTERS = st.sampled_from("aehdTDrinuogst .▁ß😀ﬁ  ")
texts = st.lists(st.text(LETTERS, max_size=30) | st.sampled_from(ODD), max_size=9)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXT.source + TEXT.target, 150)


def sampled(
    tokenizer: Tokenizer, lines: list[str], dropout: float, seed: tuple[int, ...] = SEED
) -> list[list[int]]:
    """The lines, cut by BPE-dropout."""
    plain = Sentences(tokenizer.encode_all(lines))
    numbers = np.arange(len(lines))
    cut = BpeDropout(tokenizer, dropout).sample(plain.pieces(), plain.lengths(), numbers, seed)
    return Sentences.from_arrays(*cut)[:]


def merged_one_by_one(word: list[str], ids: dict[str, int], skips: Callable[[int], bool]) -> None:
    """Algorithm 1 of the paper, on one word, in place: a skipped pair comes up no more."""
    skipped: set[tuple[int, ...]] = set()
    number = 0
    while True:
        at = np.cumsum([0, *map(len, word)]).tolist()  # where each piece begins
        open_ = [
            (ids[word[i] + word[i + 1]], i)
            for i in range(len(word) - 1)
            if word[i] + word[i + 1] in ids and (at[i], at[i + 2], at[i + 1]) not in skipped
        ]
        if not open_:
            return
        _, i = min(open_)
        if skips(number):
            skipped.add((at[i], at[i + 2], at[i + 1]))
        else:
            word[i : i + 2] = [word[i] + word[i + 1]]
        number += 1


def cut_one_by_one(tokenizer: Tokenizer, lines: list[str], dropout: float) -> list[list[int]]:
    """Return what `sampled` is to give, from the text instead of its pieces."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    ids = {processor.IdToPiece(i): i for i in range(4, processor.GetPieceSize())}
    key = np.zeros(1, dtype=np.uint64)
    for number in SEED:
        key = draws(key, number)
    result: list[list[int]] = []
    for number, line in enumerate(lines):
        normal = processor.Normalize(line)
        words = ["▁" + word for word in normal.split("▁")[1:]]
        line_ids: list[int] = []
        for place, word in enumerate(words):
            stream = draws(draws(key, number), place)

            def skips(n: int, stream: subword_sampling.Streams = stream) -> bool:
                return float(draws(stream, n)[0]) / 2**64 < dropout

            pieces = list(word)
            merged_one_by_one(pieces, ids, skips)
            line_ids += [ids.get(piece, UNK) for piece in pieces]
        in_run = [n > 0 and line_ids[n - 1 : n + 1] == [UNK, UNK] for n in range(len(line_ids))]
        result.append([i for i, again in zip(line_ids, in_run, strict=True) if not again])
    return result


@given(lines=texts, dropout=st.sampled_from([0.0, 0.1, 0.5, 0.9]))
@settings(max_examples=30)
def test_lines_are_cut_as_word_by_word_from_their_characters(
    tokenizer: Tokenizer, lines: list[str], dropout: float
) -> None:
    cut = sampled(tokenizer, lines, dropout)
    assert cut == cut_one_by_one(tokenizer, lines, dropout)
    if dropout == 0:
        assert cut == tokenizer.encode_all(lines)


def test_merging_every_character_anew_gives_what_sentencepiece_gives(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as if a merge had been skipped in each word, though none is
    monkeypatch.setattr(BpeDropout, "_any_skipped", lambda _, streams, merges: merges > 0)
    lines = [*TEXT.source, *ODD, *TEXT.target]
    assert sampled(tokenizer, lines, 0.0) == tokenizer.encode_all(lines)


@pytest.mark.parametrize("dropout", [0.05, 0.1, 0.3])
def test_lines_have_as_many_pieces_as_from_sentencepieces_own_sampler(
    tokenizer: Tokenizer, dropout: float
) -> None:
    lines = (TEXT.source + TEXT.target) * 5
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    theirs = np.array([len(processor.SampleEncodeAsIds(line, -1, dropout)) for line in lines])
    ours = np.array([len(ids) for ids in sampled(tokenizer, lines, dropout)])
    plain = np.array([len(ids) for ids in tokenizer.encode_all(lines)])
    error = float(np.hypot(ours.std(), theirs.std())) / len(lines) ** 0.5
    assert abs(ours.mean() - theirs.mean()) < 4 * error
    assert theirs.mean() - plain.mean() > 10 * error
    assert ours.std() == pytest.approx(theirs.std(), rel=0.1)


def test_the_cut_follows_from_seed_and_number_of_the_line_alone(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["The dog sees his bird."] * 60
    cut = sampled(tokenizer, lines, 0.3)
    assert len({tuple(ids) for ids in cut}) > 20  # not twice alike within a text
    for other in ((2, 0, 0), (1, 1, 0), (1, 0, 1)):
        again = sampled(tokenizer, lines, 0.3, other)
        assert sum(a == b for a, b in zip(cut, again, strict=True)) < 20
    monkeypatch.setattr(subword_sampling, "LINES_AT_ONCE", 7)
    monkeypatch.setattr(subword_sampling, "CHARACTERS_AT_ONCE", 9)
    assert sampled(tokenizer, lines, 0.3) == cut
    sampler = BpeDropout(tokenizer, 0.3)
    alone = Sentences(tokenizer.encode_all(lines[:1]))
    pieces, lengths = alone.pieces(), alone.lengths()
    for number in (31, 5):
        assert sampler.sample(pieces, lengths, np.array([number]), SEED)[0].tolist() == cut[number]


def test_any_process_cuts_the_same(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(tokenizer.model)
    (tmp_path / "text").write_text("\n".join(TEXT.source), "utf-8")
    # whatever was sampled before
    here = [sampled(tokenizer, TEXT.source, dropout) for dropout in (0.5, 0.2)][1]
    code = """
import sys
from pathlib import Path
import numpy as np
from training.data.subword_sampling import BpeDropout
from training.data.encoded_text import Sentences
from transformer.text.tokenizer import Tokenizer
folder = Path(sys.argv[1])
tokenizer = Tokenizer.load(folder / "tokenizer.model")
plain = Sentences(tokenizer.encode_all((folder / "text").read_text("utf-8").split("\\n")))
sampler = BpeDropout(tokenizer, 0.2)
cut = sampler.sample(plain.pieces(), plain.lengths(), np.arange(len(plain)), (1, 0, 0))
print(Sentences.from_arrays(*cut)[:])
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in ("1", "2")
    ]
    assert [process.communicate()[0] for process in started] == [f"{here}\n"] * 2


def test_the_draws_are_those_of_splitmix64() -> None:
    stream = np.array([1234567], dtype=np.uint64)
    assert [int(draws(stream, number)[0]) for number in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_pairs_that_become_too_long_are_left_out_and_counted(tokenizer: Tokenizer) -> None:
    plain = encode(TEXT, tokenizer, 21)
    parts = (Part(100, 0.5), Part(0), Part(len(plain) - 100))
    sampled_text = BpeDropout(tokenizer, 0.3).sample_text(TrainingText(plain, parts), (1, 0), 21)
    text = sampled_text.encoded
    assert 0 < len(text) < len(plain)
    assert text.left_out == plain.left_out + len(plain) - len(text)
    assert max(*text.source.lengths(), *text.target.lengths()) < 21
    for row, line in enumerate(text.lines):
        assert tokenizer.decode(text.source[row]) == TEXT.source[line]
        assert tokenizer.decode(text.target[row]) == TEXT.target[line]
    first_count = int((np.asarray(text.lines) < plain.lines[100]).sum())
    rest = len(text) - first_count
    assert sampled_text.parts == (Part(first_count, 0.5), Part(0), Part(rest))
    with pytest.raises(CorpusError, match="cuts every sentence into more than 2 pieces"):
        BpeDropout(tokenizer, 0.3).sample_text(TrainingText(plain, parts), (1, 0), 3)
    doubled = TrainingText(
        EncodedText(plain.source, plain.source, plain.lines), (Part(len(plain)),)
    )
    both = BpeDropout(tokenizer, 0.5).sample_text(doubled, (1, 0), 99).encoded
    assert both.source[:] != both.target[:]  # the draws of a side are its own


def test_a_text_is_cut_alike_some_lines_at_a_time_and_leaves_no_file(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plain = encode(TEXT, tokenizer, 21)
    text = TrainingText(plain, (Part(130), Part(len(plain) - 130)))
    dropout = BpeDropout(tokenizer, 0.2)
    whole = dropout.sample_text(text, (1, 0), 21)
    monkeypatch.setattr(subword_sampling, "LINES_AT_ONCE", 7)
    parts = dropout.sample_text(text, (1, 0), 21)
    assert parts.fingerprint == whole.fingerprint
    assert parts.parts == whole.parts
    numbers = np.arange(len(plain))
    pieces, lengths = plain.source.pieces(), plain.source.lengths()
    expected = Sentences.from_arrays(*dropout.sample(pieces, lengths, numbers, (1, 0, 0)))
    assert whole.encoded.source[:] == [expected[line] for line in whole.encoded.lines]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kind", [{"model_type": "unigram", "vocab_size": 36}, {"split_by_whitespace": False}]
)
def test_a_vocabulary_of_another_kind_is_refused(kind: dict[str, Any]) -> None:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(TEXT.source), model_writer=written, minloglevel=2, pad_id=PAD,
        unk_id=UNK, bos_id=BOS, eos_id=EOS, **{"model_type": "bpe", "vocab_size": 80, **kind},
    )  # fmt: skip
    with pytest.raises(ConfigError, match="needs a vocabulary of byte pairs"):
        BpeDropout(Tokenizer(written.getvalue()), 0.1)
