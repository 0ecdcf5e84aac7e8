import itertools
import math

import pytest
import torch

from tests.transformer.decoding.tiny import (
    SOURCES,
    batch,
    build,
    next_log_probs,
    plain_beam_search,
)
from transformer.config import EOS
from transformer.decoding import BeamSearch, beam_search, greedy, length_penalty


def test_the_length_penalty_is_the_papers():
    """§6.1 and Wu et al. 2016: ((5 + |Y|) / 6)^α."""
    for length, alpha in itertools.product((1, 7), (0, 0.6, 1)):
        assert length_penalty(length, alpha) == pytest.approx(math.pow((5 + length) / 6, alpha))
    assert length_penalty(7) == length_penalty(7, 0.6)


@pytest.mark.parametrize("seed", range(2))
def test_beam_search_is_its_plain_description(seed):
    model = build(seed=seed, ending=seed)
    for K, alpha in ((1, 0.6), (2, 0), (4, 0.6), (4, 2)):
        results = beam_search(model, batch(SOURCES), beam_size=K, alpha=alpha, max_extra=6)
        for source, hypotheses in zip(SOURCES, results, strict=True):
            expected = plain_beam_search(model, source, K, alpha, len(source) + 6)
            assert [h.tokens for h in hypotheses] == [tokens for tokens, _ in expected]
            scores = [score for _, score in expected]
            assert [h.score for h in hypotheses] == pytest.approx(scores, abs=1e-4)


def test_a_batch_is_translated_as_its_sentences_are_one_by_one():
    """Sentences end at different steps, and others wait for them."""
    model = build(vocab_size=40, ending=3)
    sources = [[4 + (7 * i + 3 * j) % 36 for j in range(1 + i % 6)] + [EOS] for i in range(7)]
    together = beam_search(model, batch(sources), max_extra=12)
    greedily = greedy(model, batch(sources), max_extra=12)
    assert len({len(hypotheses[0].tokens) for hypotheses in together}) > 2
    for source, many, single in zip(sources, together, greedily, strict=True):
        (alone,) = beam_search(model, torch.tensor([source]), max_extra=12)
        assert [h.tokens for h in many] == [h.tokens for h in alone]
        assert [h.score for h in many] == pytest.approx([h.score for h in alone], abs=1e-4)
        assert single.tokens == greedy(model, torch.tensor([source]), max_extra=12)[0].tokens


def never_ending():
    return build(ending=-30)


def test_a_sentence_without_end_stops_fifty_pieces_beyond_its_source():
    """§6.1: maximum output length input length + 50; `</s>` is part of the input."""
    source = batch(SOURCES[:3])
    results = beam_search(never_ending(), source) + [[h] for h in greedy(never_ending(), source)]
    for row, hypotheses in zip(SOURCES[:3] * 2, results, strict=True):
        assert {len(h.tokens) for h in hypotheses} == {len(row) + 50}
        assert not any(h.complete for h in hypotheses)
        assert not any(EOS in h.tokens for h in hypotheses)


def test_a_sentence_that_ends_at_its_very_limit_is_complete():
    model, source = build(ending=1.5, seed=1), SOURCES[0]
    (free,) = greedy(model, torch.tensor([source]))
    assert 1 < len(free.tokens) < len(source) + 50
    extra = len(free.tokens) - len(source)
    (whole,) = greedy(model, torch.tensor([source]), max_extra=extra)
    (cut,) = greedy(model, torch.tensor([source]), max_extra=extra - 1)
    assert (whole.tokens, whole.complete) == (free.tokens, True)
    assert (cut.tokens, cut.complete) == (free.tokens[:-1], False)


@pytest.mark.parametrize(
    ("ending", "search", "steps"), [(90, greedy, 1), (-30, greedy, 7), (-30, beam_search, 7)]
)
def test_a_search_stops_with_its_last_sentence_or_at_the_longest_limit(ending, search, steps):
    model, taken = build(ending=ending), []
    point = "decoder.layers.0.self_attention.hook_q"
    with model.hooks({point: lambda q, name: taken.append(name)}):
        search(model, batch(SOURCES[:3]), max_extra=2)
    assert len(taken) == steps


def stop_after(steps):
    """Says so when it is asked for that many times."""
    asked = iter(range(1, 1000))
    return lambda: next(asked) >= steps


@pytest.mark.parametrize("K", [1, 3])
def test_a_search_that_is_stopped_gives_the_best_that_it_has(K):
    model = build(ending=-3)
    whole = beam_search(model, batch(SOURCES), beam_size=K)
    for steps in (1, 4):
        results = beam_search(model, batch(SOURCES), beam_size=K, should_stop=stop_after(steps))
        for row, (best, *others) in zip(SOURCES, results, strict=True):
            written = [hypothesis.tokens for hypothesis in (best, *others)]
            assert len(set(written)) == len(written) <= K
            for hypothesis in (best, *others):
                assert len(hypothesis.tokens) == steps or hypothesis.complete
                log_p = [
                    next_log_probs(model, row, hypothesis.tokens[:n])[piece]
                    for n, piece in enumerate(hypothesis.tokens)
                ]
                assert hypothesis.log_probs == pytest.approx(log_p, abs=1e-4)
        if K == 1:
            assert [f[0].tokens for f in results] == [w[0].tokens[:steps] for w in whole]


MODELS = [(seed, ending) for seed in range(2) for ending in (0, 1, 3)]


def steps_and_hypotheses(model, **options):
    search = BeamSearch(model, batch(SOURCES), max_extra=8, **options)
    steps = 0
    while search.unfinished:
        search.step()
        steps += 1
    return steps, [sentence.hypotheses() for sentence in search.sentences]


@pytest.mark.parametrize(("K", "alpha"), [(2, -1), (6, 0.6)])
def test_the_n_best_are_those_of_the_whole_search(K, alpha):
    saved = 0
    for seed, ending in MODELS:
        model = build(seed=seed, ending=ending)
        steps, whole = steps_and_hypotheses(model, beam_size=K, alpha=alpha)
        for n in {1, 2, K - 1} - {K}:
            fewer, best = steps_and_hypotheses(model, beam_size=K, alpha=alpha, n_best=n)
            # other sentences end earlier: sums of floats differ in their last places
            assert [[h.tokens for h in hypotheses] for hypotheses in best] == [
                [h.tokens for h in hypotheses[:n]] for hypotheses in whole
            ]
            saved += steps - fewer
    assert saved > 0


@pytest.mark.parametrize("n_best", [None, 1])
def test_what_is_settled_never_changes_and_is_all_in_the_end(n_best):
    early = 0
    for seed, ending in itertools.product((1, 3), (0.5, 2)):
        search = BeamSearch(build(seed=seed, ending=ending), batch(SOURCES), n_best=n_best)
        seen = {sentence: [sentence.settled()] for sentence in search.sentences}
        while search.unfinished:
            search.step()
            for sentence in search.sentences:
                seen[sentence].append(sentence.settled())
        for sentence, prefixes in seen.items():
            written = sentence.hypotheses()[0].tokens
            assert prefixes[-1] == written
            assert all(written[: len(prefix)] == prefix for prefix in prefixes)
            early += any(0 < len(prefix) < len(written) for prefix in prefixes)
    assert early
