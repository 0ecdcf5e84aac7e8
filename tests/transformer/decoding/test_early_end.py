"""A search that ends when nothing better can come has the same best as one that goes on."""

import itertools

import pytest

from tests.transformer.decoding.tiny import SOURCES, all_sequences, batch, build
from transformer.config import EOS
from transformer.decoding import BeamSearch, beam_search, length_penalty
from transformer.decoding.hypothesis import best_score

MODELS = [(seed, ending) for seed in range(3) for ending in (0, 1, 3)]


def steps_and_hypotheses(model, **options):
    search = BeamSearch(model, batch(SOURCES), max_extra=8, **options)
    steps = 0
    while search.unfinished:
        search.step()
        steps += 1
    return steps, [sentence.hypotheses() for sentence in search.sentences]


@pytest.mark.parametrize("alpha", [-1, 0, 0.6, 2])
@pytest.mark.parametrize("K", [2, 6])
def test_the_n_best_are_those_of_the_whole_search(K, alpha):
    saved = 0
    for seed, ending in MODELS:
        model = build(seed=seed, ending=ending)
        steps, whole = steps_and_hypotheses(model, beam_size=K, alpha=alpha)
        for n in {1, 2, K - 1} - {K}:
            fewer, best = steps_and_hypotheses(model, beam_size=K, alpha=alpha, n_best=n)
            # other sentences end earlier: sums of floats differ in their last places
            assert [[h.tokens for h in found] for found in best] == [
                [h.tokens for h in found[:n]] for found in whole
            ]
            saved += steps - fewer
    assert saved > 0 or alpha == 2  # there the longest output may win until the end


@pytest.mark.parametrize("alpha", [-1, 0, 0.6, 2])
def test_no_continuation_of_a_prefix_scores_above_its_bound(alpha):
    model, source, limit = build(vocab_size=6), [4, 5, EOS], 5
    everything = all_sequences(model, source, limit, alpha)
    for tokens, score in everything.items():
        for other, longer in everything.items():
            if other[: len(tokens)] == tokens and len(other) > len(tokens):
                log_prob = score * length_penalty(len(tokens), alpha)
                assert longer <= best_score(log_prob, len(tokens), limit, alpha)


@pytest.mark.parametrize("n_best", [None, 1])
def test_what_is_settled_never_changes_and_is_all_in_the_end(n_best):
    early = 0
    for seed, ending in itertools.product(range(4), (0.5, 2)):
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


@pytest.mark.parametrize("K", [1, 3])
def test_the_longest_output_can_be_given(K):
    for length in (1, 4):
        for row in beam_search(build(ending=-30), batch(SOURCES), beam_size=K, max_length=length):
            assert {len(h.tokens) for h in row} == {length}
