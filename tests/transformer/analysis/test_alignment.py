"""Attention that is planted comes back as the pairs that it was planted for."""

import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer import AttentionTrace, CheckpointError, InputError, Translator, config
from transformer.analysis.alignment import (
    NO_WORD,
    align,
    strongest,
    word_numbers,
    word_shares,
)
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.kinds import Row

SOURCE, TARGET = "The old cat sleeps under the table.", "Unter dem Tisch schläft die Katze."
PARTNERS = {0: 4, 1: 5, 2: 6, 3: 3, 4: 0, 5: 2, 6: 7}
"""The source word of each target word, the full stop a word of its own; "old" has none."""


def pattern(trace: AttentionTrace, row: Row) -> torch.Tensor:
    """0.7 of each word's rows on its partner's pieces, the rest on `</s>`: `[query, key]`."""
    weights = torch.zeros(len(trace.target_pieces), len(trace.source_pieces))
    weights[:, -1] = 1
    for position, piece in enumerate(trace.target_pieces[:-1]):
        keys = [k for k, p in enumerate(trace.source_pieces[:-1]) if p.word == PARTNERS[piece.word]]
        query = position + 1 if row == "reads" else position
        weights[query] = 0
        weights[query, -1] = 0.3
        weights[query, keys] = 0.7 / len(keys)
    return weights


@pytest.mark.parametrize("row", ["reads", "writes"])
@pytest.mark.parametrize("head", [None, 2])
def test_planted_attention_is_read_back(translator: Translator, row: Row, head: int | None) -> None:
    trace = translator.trace(SOURCE, target=TARGET)
    for pieces in (trace.source_pieces, trace.target_pieces):
        assert len({p.word for p in pieces}) < len(pieces)  # words of several pieces
    planted = pattern(trace, row)

    def plant(value: torch.Tensor, name: str) -> torch.Tensor:
        value = value.clone()
        value[:, slice(None) if head is None else head] = planted
        return value

    settings = AlignmentSettings(1, head, row, "weights", "each")
    with translator.model.hooks({"decoder.layers.1.cross_attention.hook_pattern": plant}):
        pairs = align(translator, trace, settings)
    assert {pair.target: pair.source for pair in pairs} == PARTNERS
    assert [pair.strength for pair in pairs] == pytest.approx([0.7] * len(pairs))
    other = AlignmentSettings(1, head, "writes" if row == "reads" else "reads", "weights", "each")
    with translator.model.hooks({"decoder.layers.1.cross_attention.hook_pattern": plant}):
        assert {pair.target: pair.source for pair in align(translator, trace, other)} != PARTNERS


def test_pieces_to_words_by_hand() -> None:
    # keys: two pieces of word 0, word 1, </s>; queries: two pieces of word 0, word 1, </s>
    values = np.array([[1, 2, 3, 4], [4, 4, 0, 2], [0, 0, 1, 9], [8, 1, 1, 0]], dtype=np.float32)
    words = ([0, 0, 1, NO_WORD], [0, 0, 1, NO_WORD])
    writes = word_shares(values, *words, "writes")
    assert writes == pytest.approx(np.array([[(0.3 + 0.8) / 2, 0.15], [0, 0.1]]))
    reads = word_shares(values, *words, "reads")
    assert reads == pytest.approx(np.array([[(0.8 + 0) / 2, (0 + 0.1) / 2], [0.9, 0.1]]))


def test_mutual_pairs_are_strongest_both_ways() -> None:
    shares = np.array([[0.5, 0.1, 0], [0.6, 0.2, 0], [0.1, 0.3, 0], [0, 0, 0]], dtype=np.float32)
    expected = [(0, 0), (0, 1), (1, 2)]  # a word without any weight has no partner
    assert [pair[:2] for pair in strongest(shares, "each")] == expected
    assert [pair[:2] for pair in strongest(shares, "mutual")] == [(0, 1), (1, 2)]
    assert strongest(shares, "mutual")[0].strength == pytest.approx(0.6)


@pytest.mark.parametrize(
    "text",
    [
        "The dog, the old cat; they wait!",
        "  The\tdog \n waits .  ",
        "The 😀 dog 😀waits 漢字.",
        "It's a ﬁne o'clock half-dog z.b. 3,50 …",
        "´a dog `b` ¨ waits",
        "The dog\u00a0waits\u3000here\u200b now",
        "\u00ad The do\u00adg a▁b ▁ waits",
        "e\u0301 \u0301 dog",
    ],
)
def test_typed_words_are_those_of_split(translator: Translator, text: str) -> None:
    trace = translator.trace(text, target=text)
    source, target = word_numbers(translator, trace, "typed")
    assert source == target
    assert source[-1] == NO_WORD
    assert source[:-1] == sorted(source[:-1])
    for number, word in enumerate(text.split()):
        own = [p.text for p, n in zip(trace.source_pieces, source, strict=True) if n == number]
        expected = unicodedata.normalize("NFKC", word)
        for invisible in (" ", "▁", "\u00ad", "\u200b"):
            expected = expected.replace(invisible, "")
        shown = "".join(own).replace("▁", "").replace(" ", "")
        for invisible in ("\u00ad", "\u200b"):
            shown = shown.replace(invisible, "")
        assert unicodedata.normalize("NFKC", shown) == expected


def test_words_that_a_model_wrote_are_those_of_its_text(translator: Translator) -> None:
    tokenizer = translator.tokenizer
    letters = {piece.text: piece.id for piece in tokenizer.pieces_of(range(4, 160))}
    # letter by letter, with lone blanks, as no tokenizer cuts it
    written = ["▁", "▁", "d", "e", "r", "▁", "▁", "▁H", "u", "n", "d", ".", "▁"]
    written = [piece if piece in letters else piece.strip("▁") for piece in written]
    ids = [letters[piece] for piece in written if piece in letters]
    text = tokenizer.decode(ids)
    pieces = (*tokenizer.pieces_of([*ids, config.EOS]),)
    trace = translator.trace("The dog.", target="x")
    forced = replace(trace, target=text, target_pieces=pieces)
    _, words = word_numbers(translator, forced, "typed")
    for number, word in enumerate(text.split()):
        own = [p.text for p, n in zip(pieces, words, strict=True) if n == number]
        assert "".join(own).replace("▁", "") == word
    assert max(words) == len(text.split()) - 1 == 1


@pytest.mark.parametrize(
    ("layer", "head", "lens", "sentence"),
    [
        (2, None, "weights", "There is no layer 2: .* from 0 to 1"),
        (-1, None, "weights", "There is no layer -1"),
        (0, 4, "norm", "There is no head 4: .* from 0 to 3"),
        (0, 1, "alti", "The lens alti does not tell heads apart"),
        (0, None, "look", "lens = 'look' does not exist: choose one of weights"),
    ],
)
def test_a_map_that_is_not_there(translator, trace, layer, head, lens, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        align(translator, trace, AlignmentSettings(layer, head, "reads", lens, "each"))


@pytest.mark.parametrize("head", [None, 0])
def test_numbers_that_are_not_finite_are_refused(checkpoint_folder: Path, head: int | None) -> None:
    translator = Translator.load(checkpoint_folder)
    trace = translator.trace("A dog.", target="Ein Hund.")
    with torch.no_grad():
        translator.model.get_parameter("decoder.layers.1.cross_attention.W_O.weight").mul_(1e22)
    with pytest.raises(CheckpointError, match="not finite"):
        align(translator, trace, AlignmentSettings(1, head, "reads", "norm", "each"))


def test_the_bundled_model_aligns_what_it_knows() -> None:
    translator = Translator.load()
    trace = translator.trace(
        "A woman reads a long book.", target="Eine Frau liest ein langes Buch."
    )
    assert {pair[:2] for pair in align(translator, trace)} == {(i, i) for i in range(7)}
