import itertools
import math

import pytest
import torch

from tests.transformer.decoding.tiny import (
    SOURCES,
    all_sequences,
    batch,
    build,
    next_log_probs,
    plain_beam_search,
    plain_greedy,
)
from transformer.config import BOS, EOS, PAD, UNK
from transformer.decoding import beam_search, greedy, length_penalty


@pytest.mark.parametrize("length", [1, 2, 7, 55])
@pytest.mark.parametrize("alpha", [0, 0.6, 1])
def test_the_length_penalty_is_the_papers(length, alpha):
    """§6.1 and Wu et al. 2016: ((5 + |Y|) / 6)^α."""
    assert length_penalty(length, alpha) == pytest.approx(math.pow((5 + length) / 6, alpha))


def test_the_papers_alpha_is_the_default():
    assert length_penalty(7) == length_penalty(7, 0.6) == 2**0.6


@pytest.mark.parametrize("seed", range(4))
def test_greedy_search_is_what_the_whole_model_would_write(seed):
    model = build(seed=seed)
    for source, hypothesis in zip(SOURCES, greedy(model, batch(SOURCES), max_extra=5), strict=True):
        assert hypothesis.tokens == plain_greedy(model, source, len(source) + 5)


@pytest.mark.parametrize("seed", range(6))
def test_beam_search_is_its_plain_description(seed):
    model = build(seed=seed, ending=seed / 2)
    for K, alpha in itertools.product((1, 2, 4), (0, 0.6, 2)):
        found = beam_search(model, batch(SOURCES), beam_size=K, alpha=alpha, max_extra=6)
        for source, hypotheses in zip(SOURCES, found, strict=True):
            expected = plain_beam_search(model, source, K, alpha, len(source) + 6)
            assert [h.tokens for h in hypotheses] == [tokens for tokens, _ in expected]
            scores = [score for _, score in expected]
            assert [h.score for h in hypotheses] == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_beam_that_is_wide_enough_finds_everything(seed):
    """Brute force: with three words and four places there are 121 translations."""
    model = build(vocab_size=7, seed=seed)
    source = [5, 4, EOS]
    for alpha in (0, 0.6):
        everything = all_sequences(model, source, 4, alpha)
        assert len(everything) == 1 + 3 + 9 + 27 + 81
        (found,) = beam_search(
            model, torch.tensor([source]), beam_size=121, alpha=alpha, max_extra=1
        )
        assert len(found) == 121
        assert {h.tokens: h.score for h in found} == pytest.approx(everything, abs=1e-4)
        whole = {tokens: score for tokens, score in everything.items() if tokens[-1] == EOS}
        assert found[0].tokens == max(whole, key=lambda tokens: whole[tokens])


def test_a_beam_wider_than_the_vocabulary_writes_nothing_twice():
    for vocab_size, K in itertools.product((5, 6, 8), (4, 16, 64)):
        model = build(vocab_size=vocab_size)
        (found,) = beam_search(model, torch.tensor([[4, EOS]]), beam_size=K, max_extra=3)
        assert len({h.tokens for h in found}) == len(found)
        assert all(math.isfinite(h.score) for h in found)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(seed):
    model, source = build(seed=seed), batch(SOURCES)
    beams = beam_search(model, source, beam_size=1)
    for (beam,), hypothesis in zip(beams, greedy(model, source), strict=True):
        assert beam.tokens == hypothesis.tokens
        assert beam.log_probs == pytest.approx(hypothesis.log_probs, abs=1e-5)
        assert beam.score == pytest.approx(hypothesis.score, abs=1e-5)


def test_a_batch_is_translated_as_its_sentences_are_one_by_one():
    """Sentences end at different steps, and others wait for them."""
    model = build(vocab_size=40, ending=3)
    sources = [[4 + (7 * i + 3 * j) % 36 for j in range(1 + i % 6)] + [EOS] for i in range(12)]
    together = beam_search(model, batch(sources), max_extra=12)
    greedily = greedy(model, batch(sources), max_extra=12)
    assert len({len(hypotheses[0].tokens) for hypotheses in together}) > 2
    for source, many, one in zip(sources, together, greedily, strict=True):
        (alone,) = beam_search(model, torch.tensor([source]), max_extra=12)
        assert [h.tokens for h in many] == [h.tokens for h in alone]
        assert [h.score for h in many] == pytest.approx([h.score for h in alone], abs=1e-4)
        assert one.tokens == greedy(model, torch.tensor([source]), max_extra=12)[0].tokens


def test_padding_of_the_source_changes_nothing():
    model = build()
    narrow, wide = torch.tensor([SOURCES[0]]), torch.tensor([SOURCES[0] + [PAD] * 9])
    expected, found = (beam_search(model, source, max_extra=9)[0] for source in (narrow, wide))
    assert [h.tokens for h in found] == [h.tokens for h in expected]


def test_log_probabilities_are_the_models_own():
    """A teacher-forced pass over what was found gives them again."""
    model = build(ending=2)
    (source, *_), (hypotheses, *_) = SOURCES, beam_search(model, batch(SOURCES[:1]))
    for h in hypotheses:
        expected = [
            next_log_probs(model, source, h.tokens[:i])[piece] for i, piece in enumerate(h.tokens)
        ]
        assert h.log_probs == pytest.approx(expected, abs=1e-4)
        assert h.log_prob == pytest.approx(sum(expected), abs=1e-3)
        assert h.score == pytest.approx(sum(expected) / length_penalty(len(h.tokens)), abs=1e-3)


def test_the_best_score_comes_first():
    for hypotheses in beam_search(build(ending=2), batch(SOURCES), beam_size=8):
        scores = [h.score for h in hypotheses]
        assert len(scores) == 8
        assert scores == sorted(scores, reverse=True)


def test_what_the_limit_cut_short_stands_behind_what_the_model_ended():
    mixed = 0
    for seed, ending in itertools.product(range(6), (0, 1, 2)):
        model = build(ending=ending, seed=seed)
        for hypotheses in beam_search(model, batch(SOURCES), alpha=2, max_extra=2):
            ended = [h.complete for h in hypotheses]
            assert ended == sorted(ended, reverse=True)
            cut = [h.score for h in hypotheses if not h.complete]
            whole = [h.score for h in hypotheses if h.complete]
            mixed += bool(cut and whole and max(cut) > min(whole))
    assert mixed  # by score alone, some would stand the other way round


def never_ending():
    return build(ending=-30)


def test_a_sentence_without_end_stops_fifty_pieces_beyond_its_source():
    """§6.1: maximum output length input length + 50; `</s>` is part of the input."""
    source = batch(SOURCES[:3])
    found = beam_search(never_ending(), source) + [[h] for h in greedy(never_ending(), source)]
    for row, hypotheses in zip(SOURCES[:3] * 2, found, strict=True):
        assert {len(h.tokens) for h in hypotheses} == {len(row) + 50}
        assert not any(h.complete for h in hypotheses)
        assert not any(EOS in h.tokens for h in hypotheses)


def test_the_limit_never_exceeds_what_the_model_accepts():
    model = build(ending=-30, max_length=20)
    assert len(greedy(model, batch(SOURCES))[0].tokens) == 20
    assert {len(h.tokens) for h in beam_search(model, batch(SOURCES))[0]} == {20}


def test_a_sentence_that_ends_is_complete():
    for h in greedy(build(ending=4), batch(SOURCES)):
        assert h.complete
        assert h.tokens.index(EOS) == len(h.tokens) - 1


def test_a_sentence_that_ends_at_its_very_limit_is_complete():
    model, source = build(ending=1.5, seed=1), SOURCES[0]
    (free,) = greedy(model, torch.tensor([source]))
    assert 1 < len(free.tokens) < len(source) + 50
    extra = len(free.tokens) - len(source)
    for search in (greedy, lambda *a, **k: beam_search(*a, beam_size=1, **k)[0]):
        (whole,) = search(model, torch.tensor([source]), max_extra=extra)
        (cut,) = search(model, torch.tensor([source]), max_extra=extra - 1)
        assert (whole.tokens, whole.complete) == (free.tokens, True)
        assert (cut.tokens, cut.complete) == (free.tokens[:-1], False)


def steps_of(search, model, sources, **options):
    """How often the decoder runs."""
    taken: list[str] = []
    point = "decoder.layers.0.self_attention.hook_q"
    with model.hooks({point: lambda q, name: taken.append(name)}):
        search(model, batch(sources), **options)
    return len(taken)


def test_a_search_stops_when_its_last_sentence_has_ended():
    assert steps_of(greedy, build(ending=90), SOURCES) == 1
    assert steps_of(beam_search, build(ending=90), SOURCES, beam_size=1) == 1


def test_a_search_goes_on_to_the_longest_limit():
    assert steps_of(greedy, never_ending(), SOURCES[:3], max_extra=2) == 5 + 2
    assert steps_of(beam_search, never_ending(), SOURCES[:3], max_extra=2) == 5 + 2


def test_padding_unknown_and_start_are_never_written():
    model = build(vocab_size=5)  # most of what the model likes is forbidden
    with torch.no_grad():
        model.shared_embedding[[PAD, UNK, BOS]] *= 5
    hypotheses = greedy(model, batch([[4, EOS]])) + beam_search(model, batch([[4, EOS]]))[0]
    assert {token for h in hypotheses for token in h.tokens} <= {EOS, 4}


def test_hooks_reach_into_the_search():
    """The search runs on the fast path; whoever edits a head there changes the translation."""
    model, source = build(ending=0), batch(SOURCES)

    def nothing(z, name):
        return torch.zeros_like(z)

    plain = [h.tokens for h in greedy(model, source)]
    with model.hooks({f"decoder.layers.{n}.cross_attention.hook_z": nothing for n in range(2)}):
        edited = [h.tokens for h in greedy(model, source)]
    assert edited != plain
    assert len({tokens[:40] for tokens in edited}) == 1  # blind to the source, all write the same


def stop_after(steps):
    """Says so when it is asked for that many times."""
    asked = iter(range(1, 1000))
    return lambda: next(asked) >= steps


@pytest.mark.parametrize("K", [1, 3, 20])
def test_a_search_that_is_stopped_gives_the_best_that_it_has(K):
    model = build(ending=-3)
    whole = beam_search(model, batch(SOURCES), beam_size=K)
    for steps in (1, 4):
        found = beam_search(model, batch(SOURCES), beam_size=K, should_stop=stop_after(steps))
        for row, (best, *others) in zip(SOURCES, found, strict=True):
            kept = [hypothesis.tokens for hypothesis in (best, *others)]
            assert len(set(kept)) == len(kept) <= K
            for hypothesis in (best, *others):
                assert len(hypothesis.tokens) == steps or hypothesis.complete
                log_p = [
                    next_log_probs(model, row, hypothesis.tokens[:n])[piece]
                    for n, piece in enumerate(hypothesis.tokens)
                ]
                assert hypothesis.log_probs == pytest.approx(log_p, abs=1e-4)
        if K == 1:
            assert [f[0].tokens for f in found] == [w[0].tokens[:steps] for w in whole]


def test_a_search_that_ends_by_itself_is_not_asked_again_and_keeps_what_it_found():
    model = build(ending=3)
    whole = beam_search(model, batch(SOURCES))
    asked = []

    def never():
        asked.append(1)
        return False

    found = beam_search(model, batch(SOURCES), should_stop=never)
    assert found == whole
    assert len(asked) < max(len(h.tokens) for row in whole for h in row)
