"""Every number under its own word: from pieces to words by hand, and without the special tokens."""

from typing import Any

import numpy as np
import pytest

from transformer import AttentionTrace, InputError, Piece
from transformer.analysis.axes import (
    APART,
    LabelledWeights,
    apart_note,
    by_pieces,
    by_words,
    first_pieces,
    without_special,
)
from transformer.text.tokenizer import with_end
from transformer.trace import Labels
from viz.draw import explorer, heads_view

# 'fris'+'bee' and 'Hun'+'de' are words of two pieces; 'Σ' stands for a character never seen
SOURCE = with_end([Piece(5, "▁A", 0), Piece(6, "▁fris", 1), Piece(7, "bee", 1), Piece(1, "▁Σ", 2)])
TARGET = with_end([Piece(8, "▁Hun", 0), Piece(9, "de", 0), Piece(4, ".", 1)])


@pytest.fixture
def made() -> AttentionTrace:
    random = np.random.default_rng(3)

    def rows(queries, keys, causal=False):
        weights = random.random((2, 3, queries, keys))
        weights = np.tril(weights) if causal else weights
        return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)

    source, target = len(SOURCE), len(TARGET)
    return AttentionTrace(
        source="A frisbee Σ",
        target="Hunde.",
        source_pieces=tuple(SOURCE),
        target_pieces=tuple(TARGET),
        encoder_self=rows(source, source),
        decoder_self=rows(target, target, causal=True),
        cross=rows(target, source),
        log_probs=np.zeros(target, dtype=np.float32),
    )


def test_pieces_of_a_script_without_spaces_stay_apart_and_that_is_said(made):
    tokens = ["▁我爱", "北京", "。", "▁i", "Phone", "手机"]
    trace = AttentionTrace.from_arrays(
        encoder_self=np.full((1, 1, 6, 6), 1 / 6, np.float32), source_tokens=tokens
    )
    words = ("我爱", "北京", "。", "iPhone", "手机")
    assert by_words(trace, "encoder_self").labels.keys == words
    assert apart_note(trace) == APART
    assert apart_note(made) == ""
    assert explorer.encode_page(trace, heads_view.ExplorerOptions(words=True)).notes == (APART,)
    assert explorer.encode_page(trace, heads_view.ExplorerOptions()).notes == ()


def test_words_are_named_as_they_were_typed(made):
    english, read = ("A", "frisbee", "Σ", "</s>"), ("<s>", "Hunde", ".")
    assert by_words(made, "encoder_self").labels == (english, english)
    assert by_words(made, "decoder_self").labels == (read, read)
    cross = by_words(made, "cross")
    assert cross.labels == (("Hunde", ".", "</s>"), english)
    assert cross.reads == ("<s>", "Hunde", ".")
    assert first_pieces(made.source_pieces) == [0, 1, 3, 4]
    assert by_words(made, "decoder_self").writes == ("Hunde", ".", "</s>")
    assert by_words(made, "encoder_self").reads is by_words(made, "encoder_self").writes is None


def test_a_word_is_the_sum_of_its_keys_and_the_mean_of_its_queries(made):
    w = made.encoder_self
    words = by_words(made, "encoder_self").weights
    np.testing.assert_allclose(words[:, :, 0, 1], w[:, :, 0, 1] + w[:, :, 0, 2], rtol=1e-6)
    np.testing.assert_allclose(words[:, :, 1, 3], (w[:, :, 1, 4] + w[:, :, 2, 4]) / 2, rtol=1e-6)
    read = by_words(made, "decoder_self").weights  # rows <s>, Hun+de, "."
    expected = made.decoder_self[:, :, 1:3, 0].mean(-1)
    np.testing.assert_allclose(read[:, :, 1, 0], expected, rtol=1e-6)
    cross = by_words(made, "cross").weights  # rows Hun+de, ".", </s>
    expected = made.cross[:, :, 0:2, 1:3].sum((-1, -2)) / 2
    np.testing.assert_allclose(cross[:, :, 0, 1], expected, rtol=1e-6)


def test_dropping_the_special_tokens_changes_no_weight_and_says_what_they_absorb(made):
    axes, absorbed = without_special(by_pieces(made, "cross"))
    assert axes.labels == (("▁Hun", "de", "."), ("▁A", "▁fris", "bee", "▁Σ"))
    assert axes.reads == ("<s>", "▁Hun", "de")
    np.testing.assert_array_equal(axes.weights, made.cross[:, :, :3, :4])
    np.testing.assert_allclose(absorbed, made.cross[:, :, :3, 4].mean(-1), rtol=1e-6)
    axes, absorbed = without_special(by_words(made, "decoder_self"))
    assert axes.labels == (("Hunde", "."), ("Hunde", "."))
    np.testing.assert_allclose(axes.weights.sum(-1).mean(-1) + absorbed, 1, atol=1e-6)


def test_nothing_left_is_said_in_a_sentence():
    axes = LabelledWeights(
        np.ones((1, 1, 1, 2), np.float32), Labels(("</s>",), ("▁A", "</s>")), ("<s>",)
    )
    with pytest.raises(InputError, match=r"nothing but the start and the end"):
        without_special(axes)


PAIR = ["[CLS]", "fris", "##bee", "[SEP]", "a", "[SEP]"]


def even(*shape):
    return np.full(shape, 1 / shape[-1], np.float32)


def test_words_and_special_tokens_of_another_tokenizer():
    weights = even(1, 2, 6, 6)
    weights[0, 1, 1:3, 1:3] = 0.25, 0.5
    axes = by_words(
        AttentionTrace.from_arrays(encoder_self=weights, source_tokens=PAIR, normalized=False),
        "encoder_self",
    )
    assert axes.labels.keys == ("[CLS]", "frisbee", "[SEP]", "a", "[SEP]")
    assert axes.weights[0, 1, 1, 1] == 0.75
    shown, absorbed = without_special(axes)
    assert shown.labels.keys == ("frisbee", "a")
    np.testing.assert_allclose(absorbed[0, 0], 0.5, rtol=1e-6)  # of six columns, three


def test_what_a_row_reads_and_writes_where_both_are_given():
    """The decoder begins with two special tokens, and what it writes is cut within a word."""
    reads = ["<s>", "eng_Latn", "▁Hun", "de"]
    writes = ["eng_Latn", "▁Hun", "de", "▁ren"]
    trace = AttentionTrace.from_arrays(
        cross=even(1, 1, 4, 6),
        decoder_self=np.tril(even(1, 1, 4, 4)),
        source_tokens=PAIR,
        decoder_tokens=reads,
        target_tokens=writes,
    )
    cross, own = by_words(trace, "cross"), by_words(trace, "decoder_self")
    assert cross.labels.queries == ("eng_Latn", "Hunde", "ren")
    assert cross.reads == ("<s>", "eng_Latn", "Hunde")
    assert own.labels == (("<s>", "eng_Latn", "Hunde"),) * 2
    assert own.writes == ("eng_Latn", "Hunde", "ren")
    assert by_pieces(trace, "cross").reads == tuple(reads)
    shown, _ = without_special(cross)
    assert (shown.labels.queries, shown.reads) == (("Hunde", "ren"), ("eng_Latn", "Hunde"))


def test_what_is_not_known_of_the_decoder_is_left_out():
    given: dict[str, Any] = {"cross": even(1, 1, 2, 6), "source_tokens": PAIR}
    sides: list[dict[str, Any]] = [
        {"decoder_tokens": ["▁a", "b"]},
        {"target_tokens": ["▁a", "b"]},
    ]
    for tokens in sides:
        trace = AttentionTrace.from_arrays(**given, **tokens)
        assert by_pieces(trace, "cross").reads is None
        assert by_words(trace, "cross").reads is None
        assert by_words(trace, "cross").labels.queries == ("ab",)
    alone = AttentionTrace.from_arrays(decoder_self=even(1, 1, 2, 2), decoder_tokens=["▁a", "b"])
    assert by_pieces(alone, "decoder_self").writes is by_words(alone, "decoder_self").writes is None
