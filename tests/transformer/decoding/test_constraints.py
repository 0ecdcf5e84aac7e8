"""Forced pieces are written, forbidden ones are not, and all else is as it was."""

import itertools

import pytest
import torch

from tests.transformer.decoding.tiny import SOURCES, all_sequences, batch, build, next_log_probs
from tests.transformer.decoding.wishes import begin, forbid, words_of
from transformer.config import EOS, PAD
from transformer.decoding import (
    NEVER_WRITTEN,
    Constraints,
    beam,
    beam_search,
    length_penalty,
)
from transformer.decoding.beam import ForcedLookAhead
from transformer.decoding.constraints import EMPTY, Bans
from transformer.errors import InputError

LETTERS = [" a", "b", " c", ".", "-", " d", "e", "f"]


@pytest.mark.parametrize("K", [1, 4])
def test_a_forced_prefix_is_kept_and_scored_as_teacher_forcing_scores_it(K):
    model, prefix = build(ending=1, vocab_size=12), (9, 4, 10)
    results = beam_search(
        model, batch(SOURCES), beam_size=K, constraints=Constraints(prefix=prefix), max_extra=6
    )
    for source, hypotheses in zip(SOURCES, results, strict=True):
        for h in hypotheses:
            assert h.tokens[:3] == prefix
            assert len(h.tokens) <= len(source) + 6  # the limit counts them
            log_p = [next_log_probs(model, source, h.tokens[:n])[t] for n, t in enumerate(h.tokens)]
            assert h.log_probs == pytest.approx(log_p, abs=1e-4)
            assert h.score == pytest.approx(sum(log_p) / length_penalty(len(h.tokens)), abs=1e-4)


@pytest.mark.parametrize("special", [PAD, EOS])
def test_a_prefix_with_a_special_piece_is_refused(special):
    with pytest.raises(InputError, match="prefix"):
        Constraints(prefix=(4, special))


def test_a_prefix_that_leaves_no_room_is_refused():
    prefix = Constraints(prefix=(4, 5, 6))
    with pytest.raises(InputError, match=r"are 4 pieces.* at most 3"):
        beam_search(build(), batch(SOURCES[:1]), constraints=prefix, max_length=3)
    with pytest.raises(InputError, match=r"^The translation may have at most 0 pieces"):
        beam_search(build(), batch(SOURCES[:1]), max_length=0)
    ((h, *_),) = beam_search(build(), batch(SOURCES[:1]), constraints=prefix, max_length=4)
    assert len(h.tokens) == 4


TEXTS = [
    (" a", "b", " b"),  # the word “ab”, and “a” and “b” by themselves
    (" ab", "-", "a"),  # “ab-a” is one word, “ab-” two
    ("a", " ", "."),
    (" a b", "b", " c"),  # a piece with a word in its middle
]


@pytest.mark.parametrize("texts", TEXTS, ids=str)
@pytest.mark.parametrize("words", [("a",), ("ab",), ("ab-a", "aa"), (".",)])
def test_exactly_the_texts_without_a_forbidden_word_can_be_written(texts, words):
    """Brute force: a beam that is wide enough finds them all, however they are cut into pieces."""
    model, source = build(vocab_size=7), [5, 4, EOS]
    everything = all_sequences(model, source, 4, 0.6)
    allowed = {t: s for t, s in everything.items() if words_of(t, texts).isdisjoint(words)}
    assert len(allowed) < len(everything) or not any(
        words_of(t, texts).intersection(words) for t in everything
    )
    (hypotheses,) = beam_search(
        model,
        torch.tensor([source]),
        beam_size=121,
        max_extra=1,
        constraints=forbid(words, texts),
    )
    assert {h.tokens: h.score for h in hypotheses} == pytest.approx(allowed, abs=1e-4)


def test_a_search_that_is_stopped_writes_no_forbidden_word_either():
    texts = [" a", "b", " c", "."]
    for seed, word in itertools.product(range(2), ("a", "b", "c")):
        model = build(ending=-3, seed=seed)
        for hypotheses in beam_search(
            model,
            batch(SOURCES),
            beam_size=2,
            constraints=forbid([word], texts),
            should_stop=lambda: True,
        ):
            assert hypotheses
            assert all(word not in words_of(h.tokens, texts) for h in hypotheses)


@pytest.mark.parametrize("K", [1, 4])
def test_a_search_without_any_continuation_says_so(K):
    wish = forbid(["a" * length for length in range(1, 9)], ["a"], (4,))
    with pytest.raises(InputError, match="Every continuation is forbidden"):
        beam_search(
            build(vocab_size=5), batch([[4, EOS]]), beam_size=K, max_length=8, constraints=wish
        )


def test_a_forced_prefix_with_a_forbidden_word_is_refused():
    texts = [" a", " b", "c"]
    with pytest.raises(InputError, match="“b”"):
        forbid(["b"], texts, (5, 4))
    forbid(["b"], texts, (4, 5))  # it may still become “bc”
    for text in (" b a", " b ", " a b c"):
        with pytest.raises(InputError, match="“b”"):
            begin(text, texts, ["b"])
    begin(" a b", texts, ["b"])


@pytest.mark.parametrize(
    ("prefix", "words", "left", "goes_on", "ends"),
    [
        ("", ["Mann"], 5, 0.6, False),
        ("", ["Mann"], 5, 0.4, True),
        ("", ["Mann"], 1, 0.6, False),
        ("", ["Mann", "Mannschaft"], 2, 0.6, False),
        ("", ["Mann", "Mannschaft"], 1, 0.6, True),  # the limit ends it there
        ("", ["Mann"], 0, 0.4, False),  # here the limit ends the word itself: it is refused
        ("", ["Frau"], 5, 0.4, False),
        (" Mann", ["Mann"], 5, 0.4, False),  # it was asked for, to be made longer
        (" Man", ["Mann"], 5, 0.4, True),
    ],
)
def test_a_piece_is_refused_where_the_model_would_end_a_forbidden_word_there(
    prefix, words, left, goes_on, ends
):
    texts = [" Mann", "schaft", "."]
    probability = torch.tensor([0.0, 0.9, 0.0, 0.05, 0.0, goes_on, 0.95 - goes_on])  # <unk> aside
    wish = begin(prefix, texts, words)
    bans = Bans(wish.words, wish.text)
    assert not bans.likely_ends_forbidden((4,), EMPTY, left)
    bans = bans.for_sentence(lambda _: probability.log())
    assert bans.likely_ends_forbidden((4,), EMPTY, left) == ends


def test_it_is_what_the_model_finds_probable_after_the_prefix():
    model = build(vocab_size=12)
    look_ahead = ForcedLookAhead(model, SOURCES[0])
    for tokens in ((), (5,), (5, 6, 4)):
        log_p = look_ahead(tokens)
        expected = next_log_probs(model, SOURCES[0], tokens)
        assert {n: float(log_p[n]) for n in expected} == pytest.approx(expected, abs=1e-5)
        assert set(range(12)) - set(expected) == set(NEVER_WRITTEN)


def test_each_sentence_of_a_batch_looks_ahead_in_its_own(monkeypatch):
    differ = 0
    for seed, word in ((0, "a"), (2, "d"), (2, ".")):
        model = build(vocab_size=12, ending=-1, seed=seed)
        wish = forbid([word], LETTERS, looks_ahead=True)

        def search(sources, model=model, wish=wish):
            results = beam_search(model, batch(sources), beam_size=1, max_extra=3, constraints=wish)
            return [[h.tokens for h in hypotheses] for hypotheses in results]

        alone = [search([source])[0] for source in SOURCES]
        assert search(SOURCES) == alone
        first = ForcedLookAhead(model, SOURCES[0])
        with monkeypatch.context() as patch:
            patch.setattr(beam, "ForcedLookAhead", lambda _model, _ids, first=first: first)
            differ += search(SOURCES) != alone
    assert differ  # what the first sentence's would say of the others
