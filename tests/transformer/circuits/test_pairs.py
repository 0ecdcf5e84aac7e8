"""Pairs are read, aligned and patched; the head that is planted carries what differs."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import random_model
from tests.transformer.circuits.planted_circuits import (
    DICTIONARY,
    PLACE,
    PLACES,
    SHARP,
    TOKEN,
    planted_model,
    set_head,
)
from tests.transformer.circuits.test_edges import UNEQUAL
from transformer import InputError, Transformer, TransformerConfig, Translator
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.pairs import (
    BUNDLED_PAIRS,
    LOST,
    POSITIONS,
    EncodedPair,
    MinimalPair,
    PatchedPairs,
    Site,
    aligned_positions,
    effects_table,
    encode_pair,
    measure_pairs,
    paired_places,
    patch_pairs,
    read_pairs,
)
from transformer.kinds import attention_name


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


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [
        ([5, 3], [6, 3], [[], [0], [], [1]]),
        ([4, 5, 3], [4, 6, 3], [[0], [1], [], [2]]),
        ([4, 5, 3], [4, 9, 5, 3], [[0], [], [1], [2]]),
        ([4, 9, 5, 3], [4, 5, 3], [[0], [], [2], [3]]),
        ([4, 5, 6, 7, 8, 3], [4, 9, 6, 10, 8, 3], [[0], [1, 3], [2, 4], [5]]),
        ([5, 6, 4, 3], [7, 4, 3], [[], [0], [2], [3]]),
    ],
)
def test_positions_are_grouped_by_the_subwords_that_differ(first, second, groups) -> None:
    places = paired_places(EncodedPair((first, second), [2, 9], (8, 9)), first)
    assert [[to for to, _ in places[name]] for name in POSITIONS["encoder"]] == groups
    assert (places["earlier"], places["last"]) == ([(0, 0)], [(1, 1)])


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


def test_the_stream_carries_the_difference_where_it_is_planted() -> None:
    """A head of encoder layer 2 takes each token one place on, where the decoder then reads it."""
    model = planted_model()
    before = torch.eye(PLACES).roll(-1, 1)
    before[0] = 0
    with torch.no_grad():
        shifts = Head("encoder_self", 1, 2)
        set_head(
            model, shifts, q=(PLACE, before), k=(PLACE, torch.eye(PLACES)), writes=TOKEN, size=SHARP
        )
    tokens = (13, 14, 15, 16, 17)
    pairs = [
        EncodedPair(
            ([12, first, 12, 3], [12, second, 12, 3]),
            [2, 4, 4],
            (DICTIONARY[first], DICTIONARY[second]),
        )
        for first, second in permutations(tokens, 2)
    ]
    patched = patch_pairs(model, pairs)
    table = effects_table(patched, Site)
    whole = patched.whole.mean()
    carries = table[table[LOST] > 0.9 * whole]
    assert list(zip(carries["stack"], carries["layer"], carries["positions"], strict=True)) == [
        ("encoder", 1, "differing"),
        ("encoder", 2, "after"),
        ("decoder", 2, "last"),
    ]
    assert (table[LOST].drop(carries.index).abs() < 0.05 * whole).all()
    assert (carries["p"] < 0.05).all()
    assert (carries["low"] < carries[LOST]).all()
    assert set(table["pairs"]) == {20}


def test_every_stack_has_its_layers_and_a_pair_without_a_position_counts_for_none() -> None:
    config = TransformerConfig(
        vocab_size=20, N=1, d_model=16, d_ff=8, h=2, decoder_N=3, source_vocab_size=12,
        own_projection=True,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Transformer(config).double().eval()
    pairs = [
        EncodedPair(([4, 5, 6, 3], [4, 7, 6, 3]), [2, 9], (15, 16)),
        EncodedPair(([5, 3], [6, 3]), [2], (8, 9)),
        EncodedPair(([4, 6, 3], [4, 6, 9, 3]), [2], (15, 19)),
    ]
    patched = patch_pairs(model, pairs)
    assert len(effects_table(patched)) == 2 * (1 + 3 + 3)
    assert len(patched.sites) == 2 * (1 + 3 + 3) + 4 + 3 * 2
    table = effects_table(patched, Site).set_index(["stack", "layer", "positions"])
    assert table["pairs"].to_dict() == {
        ("encoder", 1, "before"): 2,  # the next pair has no place for what differs in the first
        ("encoder", 1, "differing"): 1,
        ("encoder", 1, "after"): 0,
        ("encoder", 1, "</s>"): 3,
        **{("decoder", layer, "earlier"): 1 for layer in (1, 2, 3)},
        **{("decoder", layer, "last"): 3 for layer in (1, 2, 3)},
    }
    (after,) = table[table["pairs"] == 0].to_dict("records")
    assert all(np.isnan(after[name]) for name in (LOST, "low", "high", "control"))
    assert after["p"] == 1
    assert np.isnan(patched.lost).tolist() == np.isnan(patched.control).tolist()
    ends = patched.lost[:, patched.sites.index(Site("decoder", 2, "last"))]
    np.testing.assert_allclose(ends, patched.whole)


def test_pairs_are_lines_of_two_sentences_and_two_words() -> None:
    text = "The dog sleeps.\tThe dogs sleep.\tschläft\tschlafen\tnumber\nA.\tB.\ta\tb\n"
    first, second = read_pairs(text.encode())
    assert (first.words, first.group, second.group) == (("schläft", "schlafen"), "number", "")
    blank = "\ufeff" + text.replace("\n", "\r\n\r\n \t\t\t\t\r\n")
    assert read_pairs(blank.encode()) == [first, second]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no pair"),
        ("A.\tB.\ta\n", "Line 1 "),
        ("A.\tB.\ta\tb\nA.\t\ta\tb\n", "Line 2 "),
        ("A.\tB.\ta\tb\n\nA.\n", "Line 3 has 1 field:"),
        ("\n \n", "no pair"),
        ("A.\tB.\ta\tb\tnumber\tmore\n", "Line 1 has 6 fields:"),
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
        ({"sentences": (DOG, DOG.replace(" ", "  "))}, "sentences are the same subwords"),
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
    with pytest.raises(InputError, match=r"1 of 2 pairs.*Pair 2"):
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


@pytest.mark.parametrize("language", BUNDLED_PAIRS)
def test_forty_pairs_come_along_ten_of_each_group(language: str) -> None:
    bundled = read_pairs(BUNDLED_PAIRS[language].read_bytes())
    assert Counter(pair.group for pair in bundled) == dict.fromkeys(
        ("number", "gender", "tense", "negation"), 10
    )
    assert len({pair.sentences for pair in bundled}) == 40


def test_one_pair_has_no_control() -> None:
    with pytest.raises(InputError):
        patch_pairs(planted_model(), [EncodedPair(([4, 5], [4, 6]), [2], (8, 9))])
