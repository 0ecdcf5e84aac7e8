"""A search that must begin with a text begins with it, in whatever pieces."""

import pytest
import torch

from tests.transformer.decoding.tiny import SOURCES, all_sequences, batch, build
from tests.transformer.decoding.wishes import begin, text_of, words_of
from transformer import config, decoding
from transformer.errors import InputError
from transformer.text.prefix import TextPrefix

VOCAB = ("<s>", "</s>", " a", "ab", "b", " ", " abc", "c d")


def test_the_pieces_that_may_follow_are_those_that_go_on_and_leave_room():
    prefix = TextPrefix(" abc", VOCAB, never=(0, 1))
    assert prefix.allowed(0, 9) == {2: 2, 5: 1, 6: 4}
    assert prefix.allowed(2, 9) == {4: 3}
    assert prefix.allowed(3, 9) == {7: 4}  # it goes on beyond the text
    assert prefix.fewest == 1
    assert prefix.allowed(0, 0) == {6: 4}
    assert prefix.allowed(0, 2) == {2: 2, 5: 1, 6: 4}
    assert prefix.allowed(0, 1) == {6: 4}
    assert TextPrefix(" abd", VOCAB).fewest == float("inf")
    assert TextPrefix("</", VOCAB, never=(0, 1)).fewest == float("inf")


TEXTS = [
    (" a", "b", " b"),
    (" ab", " a", "b"),  # “ab” in two ways
    ("a", " ", "ab"),
]


SOURCE = [5, 4, config.EOS]


@pytest.fixture(scope="module")
def everything():
    return all_sequences(build(vocab_size=7), SOURCE, 4, 0.6)


@pytest.mark.parametrize("texts", TEXTS, ids=str)
@pytest.mark.parametrize("prefix", [" a", " ab a", " ab ", "aa"])
@pytest.mark.parametrize("words", [(), ("a",)], ids=str)
def test_exactly_the_texts_that_begin_with_a_text_prefix_can_be_written(
    everything, texts, prefix, words
):
    """Brute force again: in every way to cut them, with the scores that they have anyway."""
    model, source = build(vocab_size=7), SOURCE
    allowed = {
        tokens: score
        for tokens, score in everything.items()
        if text_of(tokens, texts).startswith(prefix) and words_of(tokens, texts).isdisjoint(words)
    }

    def search():
        wish = begin(prefix, texts, words)
        (hypotheses,) = decoding.beam_search(
            model, torch.tensor([source]), beam_size=121, max_extra=1, constraints=wish
        )
        return {h.tokens: h.score for h in hypotheses}

    if allowed:
        assert search() == pytest.approx(allowed, abs=1e-4)
    else:
        with pytest.raises(InputError):
            search()


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("limit", [3, 5])
def test_a_text_prefix_is_complete_at_the_length_limit_however_small_the_beam(K, limit):
    texts = ["a", "b", " ", "ab", " a"]  # “ abab” in 3 to 5 pieces
    for seed in range(4):
        ((h, *_),) = decoding.beam_search(
            build(vocab_size=9, seed=seed, ending=3),
            torch.tensor([SOURCES[0]]),
            beam_size=K,
            max_length=limit,
            constraints=begin(" abab", texts),
        )
        assert text_of(h.tokens, texts).startswith(" abab")
    with pytest.raises(InputError, match="at least 3 pieces, but the translation may have at mo"):
        decoding.beam_search(
            build(vocab_size=9), batch(SOURCES), max_length=2, constraints=begin(" abab", texts)
        )


def test_a_search_that_is_stopped_has_the_whole_text_prefix():
    texts = ["a", "b", " ", "ab", " a"]
    (hypotheses,) = decoding.beam_search(
        build(vocab_size=9),
        torch.tensor([SOURCES[0]]),
        constraints=begin(" abab", texts),
        should_stop=lambda: True,
    )
    assert hypotheses
    assert all(text_of(h.tokens, texts).startswith(" abab") for h in hypotheses)
