"""Heads planted to do one thing get its name."""

import numpy as np
import pytest

from tests.transformer.analysis import planted
from transformer import kinds
from transformer.analysis.axes import LabelledWeights, without_special
from transformer.analysis.heads.roles import (
    head_roles,
    one_to_one_keys,
    pattern_cells,
    role_scores,
    share_in_order,
)
from transformer.trace import Labels


def role_of(kind, head):
    return head_roles(planted.axes_of(kind, head), kind)[0][0]


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_a_head_is_named_by_what_it_does_most(kind):
    assert role_of(kind, planted.looking_at(*planted.BACK)) == "previous"
    assert role_of(kind, planted.looking_at(*planted.ROWS)) == "itself"
    assert role_of(kind, planted.looking_at(*np.zeros(planted.COUNT, int))) == "first"
    assert role_of(kind, planted.UNIFORM) == "spread"


def test_names_that_only_the_encoder_can_have():
    assert role_of("encoder_self", planted.looking_at(*planted.ON)) == "next"
    assert role_of("encoder_self", planted.looking_at(*np.full(planted.COUNT, 7))) == "end token"
    assert role_of("encoder_self", planted.looking_at(*np.full(planted.COUNT, 3))) == "punctuation"
    # the other piece of the word, or the word again: ▁The ↔ ▁the, ▁fris ↔ bee
    assert role_of("encoder_self", planted.looking_at(4, 2, 1, 5, 0, 3, 3, 3)) == "same word"


@pytest.mark.parametrize("kind", ["encoder_self", "cross"])
def test_pieces_of_two_words_are_not_the_same_word_though_they_are_written_alike(kind):
    tokens = (
        "▁Skate", "board", "ers", "▁and", "▁snow", "board", "ers", ",", "▁a", "▁plaz", "a", "▁man",
        "'", "s", ".", "▁Man", "▁s", "▁AND", "</s>",
    )  # fmt: skip
    words = [0, 0, 0, 1, 2, 2, 2, -1, 3, 4, 4, 5, -2, 5, -3, 6, 7, 1, -4]
    expected = np.equal.outer(words, words) & (np.array(words) >= 0)
    if kind != "cross":
        np.fill_diagonal(expected, False)
    weights = np.ones((1, 1, len(tokens), len(tokens)), dtype=np.float32)
    axes = LabelledWeights(weights, Labels(tokens, tokens))
    np.testing.assert_array_equal(pattern_cells(axes, kind)["same word"], expected)


def test_a_cross_attention_that_is_one_to_one_and_keeps_the_order_is_called_so():
    assert role_of("cross", planted.looking_at(*planted.ROWS)) == "one-to-one"
    assert role_of("cross", planted.looking_at(0, 2, 1, 3, 4, 5, 6, 7)) == "one-to-one"
    assert (
        role_of("cross", planted.looking_at(*planted.ROWS[::-1])) == ""
    )  # one to one, but all links cross
    assert (
        role_of("cross", planted.looking_at(2, 2, 2, 2, 5, 5, 5, 5)) == ""
    )  # in order, but four to one
    assert role_of("cross", planted.looking_at(*np.full(planted.COUNT, 7))) == "end token"
    assert role_of("cross", planted.UNIFORM) == "spread"


def test_a_single_row_names_nothing():
    counts: dict[kinds.Kind, int] = {"encoder_self": 1, "cross": 1, "decoder_self": 2}
    for kind, rows in counts.items():
        queries, keys = planted.LABELS[kind]
        columns = rows if kind == "decoder_self" else planted.COUNT
        weights = planted.looking_at(*planted.BACK)[:rows, :columns][None, None].astype(np.float32)
        labels = Labels(queries[:rows], keys[:columns])
        assert head_roles(LabelledWeights(weights, labels), kind) == [[""]]


def test_the_share_of_links_in_order_is_that_of_their_pairs():
    keys = one_to_one_keys(planted.looking_at(0, 2, 1, 3, 4, 5, 5, 7))
    assert keys.tolist() == [0, 2, 1, 3, 4, 5, 7]
    assert share_in_order(keys) == pytest.approx(20 / 21)
    assert share_in_order(keys[::-1]) == pytest.approx(1 / 21)
    assert share_in_order(keys[:1]) == 0


def test_no_name_where_nothing_dominates():
    half = planted.looking_at(3, 6, 0, 5, 1, 2, 4, 3, amount=0.6)
    for kind in planted.LABELS:
        assert role_of(kind, half) == ""
        assert role_of(kind, 0.4 * planted.looking_at(*planted.BACK, amount=0.5) + 0.6 * half) == ""


def test_a_head_that_gives_its_weight_to_dropped_tokens_is_not_named_by_the_rest():
    head = np.zeros((planted.COUNT, planted.COUNT))
    head[:, -1], head[planted.ROWS, planted.BACK] = 0.8, 0.2
    axes, _ = without_special(planted.axes_of("encoder_self", head))
    assert head_roles(axes, "encoder_self") == [[""]]
    even = np.full((planted.COUNT, planted.COUNT), 0.2 / (planted.COUNT - 1))
    even[:, -1] = 0.8
    axes, _ = without_special(planted.axes_of("encoder_self", even))
    assert head_roles(axes, "encoder_self") == [[""]]


def test_even_weight_on_what_is_shown_is_spread_as_far_as_it_goes():
    tokens = ("▁Hello", "▁world", "</s>")
    weights = np.tile([0.25, 0.25, 0.5], (1, 1, 3, 1)).astype(np.float32)
    axes, _ = without_special(LabelledWeights(weights, Labels(tokens, tokens)))
    assert role_scores(axes, "encoder_self")["spread"] == pytest.approx(0.5)
    whole = role_scores(planted.axes_of("encoder_self", planted.UNIFORM), "encoder_self")
    assert whole["spread"] == pytest.approx(1)
