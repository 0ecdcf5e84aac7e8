"""Pairs are read, aligned and patched; the head that is planted carries what differs."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import random_model
from tests.transformer.circuits.planted_circuits import DICTIONARY, planted_model
from tests.transformer.circuits.test_edges import UNEQUAL
from transformer import InputError, Transformer, Translator
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.pairs import (
    BUNDLED_PAIRS,
    LOST,
    EncodedPair,
    MinimalPair,
    PatchedPairs,
    aligned_positions,
    effects_table,
    encode_pair,
    measure_pairs,
    patch_pairs,
    read_pairs,
)
from transformer.kinds import attention_name

TRANSLATES = Head("cross", 1, 1)


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ([4, 5, 6], [4, 7, 6], [(0, 0), (1, 1), (2, 2)]),
        ([4, 5, 6], [4, 6], [(0, 0), (2, 1)]),
        ([4, 6], [4, 5, 5, 6], [(0, 0), (1, 3)]),
        ([4, 5, 6, 9], [4, 7, 8, 6, 9], [(0, 0), (1, 1), (2, 3), (3, 4)]),
        ([4, 4], [4, 4, 4], [(0, 0), (1, 1)]),
        ([5], [6, 7], [(0, 0)]),
    ],
)
def test_positions_are_paired_from_both_ends(first, second, pairs) -> None:
    assert aligned_positions(first, second) == pairs


def test_the_head_that_translates_carries_the_difference() -> None:
    model = planted_model()
    pairs = [
        EncodedPair(
            ([first, 4, 4], [second, 4, 4]), [2], (DICTIONARY[first], DICTIONARY[second])
        )
        for first, second in ((5, 6), (6, 7), (7, 8), (8, 9), (9, 5))
    ]  # fmt: skip
    done = []
    patched = patch_pairs(model, pairs, lambda *steps: done.append(steps))
    assert done[-1] == (5, 5)
    means = patched.means()
    planted = patched.heads.index(TRANSLATES)
    assert means.value.argmax() == planted
    assert means.low[planted] > 10 * np.abs(np.delete(means.value, planted)).max()
    np.testing.assert_allclose(patched.lost[:, planted], patched.whole, rtol=0.05)


def test_every_head_is_patched_at_the_positions_that_belong_together() -> None:
    """The difference and its control, in sentences of other lengths, beside one hook by hand."""
    model = random_model(UNEQUAL)
    sources: Any = ([4, 5, 6, 9], [4, 7, 8, 6, 9]), ([8, 9], [7, 9]), ([5, 6, 9], [6, 6, 9])
    patched = patch_pairs(model, [EncodedPair(both, [2, 4], (8, 9)) for both in sources])
    for values, donor, to, from_ in (
        (patched.lost, sources[0][1], [0, 1, 2, 3], [0, 1, 3, 4]),
        (patched.control, sources[1][0], [0, 3], [0, 1]),
    ):
        for column, head in enumerate(all_heads(UNEQUAL)):
            at = (to, from_) if head.kind == "encoder_self" else ([0, 1], [0, 1])
            assert values[0, column] == pytest.approx(
                by_hand(model, head, sources[0][0], donor, at)
            )


def by_hand(model: Transformer, head: Head, source: list[int], donor: list[int], at: Any) -> float:
    """Log-odds of 8 and 9 that are lost with a head's output on the donor, at its positions."""
    name, target = f"{attention_name(head.kind, head.layer)}.hook_z", torch.tensor([[2, 4]])
    given = model.run_with_cache(torch.tensor([donor]), target)[1][name][0, head.head]

    def put(value, _name):
        value = value.clone()
        value[0, head.head, at[0]] = given[at[1]]
        return value

    with torch.no_grad():
        before = model(torch.tensor([source]), target)[0, -1]
        with model.hooks({name: put}):
            after = model(torch.tensor([source]), target)[0, -1]
    return float(before[8] - before[9] - after[8] + after[9])


def test_what_the_control_loses_too_is_not_significant() -> None:
    heads, lost = all_heads(UNEQUAL), np.linspace(1, 2, 20)[:, None]
    values = np.tile(lost, len(heads))
    alike = effects_table(PatchedPairs(tuple(heads), values, values, values[:, 0]))
    assert (alike["p"] == 1).all()
    apart = effects_table(PatchedPairs(tuple(heads), values, 0 * values, values[:, 0]))
    assert (apart["p"] < 0.01).all()


def test_the_planted_head_stands_first_in_the_table() -> None:
    pairs = [
        EncodedPair(([first, 4, 4], [second, 4, 4]), [2], (DICTIONARY[first], DICTIONARY[second]))
        for first, second in permutations((5, 6, 7, 8, 9), 2)
    ]
    table = effects_table(patch_pairs(planted_model(), pairs))
    row, *others = table.sort_values(LOST, ascending=False).to_dict("records")
    assert (row["kind"], row["layer"], row["head"]) == ("cross", 2, 2)
    assert row["p"] < 0.05
    assert all(abs(other[LOST]) < 0.05 * row[LOST] for other in others)
    assert row["low"] < row[LOST] < row["high"]
    assert row["control"] < 0.7 * row[LOST]


def test_pairs_are_lines_of_two_sentences_and_two_words() -> None:
    text = "The dog sleeps.\tThe dogs sleep.\tschläft\tschlafen\tnumber\nA.\tB.\ta\tb\n"
    first, second = read_pairs(text.encode())
    assert (first.words, first.group, second.group) == (("schläft", "schlafen"), "number", "")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no pair"),
        ("A.\tB.\ta\n", "Line 1 "),
        ("A.\tB.\ta\tb\nA.\t\ta\tb\n", "Line 2 "),
        ("A.\tB.\ta\tb\n\n", "Line 2 "),
        ("A.\tB.\ta\tb\tnumber\tmore\n", "Line 1 "),
        ("A.\tB.\ta\tb\n" * 1_001, "1,001"),
    ],
)
def test_a_file_that_is_none_is_refused_by_line(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_pairs(text.encode())


DOG, DOGS = "The dog sleeps.", "The dogs sleep."


@pytest.fixture
def good(translator: Translator) -> MinimalPair:
    """A pair that can be patched: a word of the translation, and one that is not."""
    word = translator.translate(DOG).text.split()[0]
    return MinimalPair((DOG, DOGS), (word, "Hund"), "number")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sentences": (DOG, DOG)}, "sentences are equal"),
        ({"words": ("Hund", "Hund")}, "words are equal"),
        ({"words": ("Katze", "Hund")}, "without the word “Katze”"),
        ({"sentences": ("Der Hund schläft.", "Die Hunde schlafen.")}, "without the word"),
        ({"sentences": (DOG, "dog " * 50)}, "at most 128"),
        ({"sentences": (" ", DOGS)}, ""),
    ],
)
def test_a_pair_that_cannot_be_patched_is_named_and_the_others_are_patched(
    translator: Translator, good: MinimalPair, change: dict[str, Any], reason: str
) -> None:
    bad = good._replace(**change)
    steps: list[tuple[int, int]] = []
    measured = measure_pairs(translator, [good, bad, good], lambda *step: steps.append(step))
    assert measured.pairs == (good, good)
    ((line, why),) = measured.left_out
    assert line == 2
    assert reason in why
    assert steps[-1] == (9, 9)
    assert measured.in_group("number").pairs == measured.in_group("").pairs == measured.pairs
    assert measured.in_group("tense").pairs == ()
    with pytest.raises(InputError, match=r"1 of 2 pairs.*Line 2"):
        measure_pairs(translator, [good, bad])


def test_words_of_the_same_subwords_are_refused(translator: Translator, good: MinimalPair) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in good.words[0])  # NFKC makes them equal
    with pytest.raises(InputError, match="same subwords"):
        encode_pair(translator, good._replace(words=(good.words[0], wide)))


def test_a_word_is_found_before_its_full_stop() -> None:
    translator = Translator.load()
    *before, last = translator.translate(DOG).text.split()
    assert last.endswith(".")
    encoded = encode_pair(translator, MinimalPair((DOG, DOGS), (last[:-1], "Hund")))
    assert translator.target_tokenizer.decode(encoded.target[1:]) == " ".join(before)


def test_forty_pairs_come_along_ten_of_each_group() -> None:
    bundled = read_pairs(BUNDLED_PAIRS.read_bytes())
    assert Counter(pair.group for pair in bundled) == dict.fromkeys(
        ("number", "gender", "tense", "negation"), 10
    )
    assert len({pair.sentences for pair in bundled}) == 40


def test_one_pair_has_no_control() -> None:
    with pytest.raises(InputError):
        patch_pairs(planted_model(), [EncodedPair(([4, 5], [4, 6]), [2], (8, 9))])
