"""The best continuations of all prefixes, and the bound of what a prefix can become."""

import math

import pytest
import torch

from tests.transformer.decoding import tiny
from transformer import config, decoding
from transformer.decoding.hypothesis import BLOCK, best_score, forbid, largest, rank


@pytest.mark.parametrize("columns", [1, BLOCK, 5 * BLOCK, 40 * BLOCK, 40 * BLOCK + 1, 64_007])
@pytest.mark.parametrize("count", [1, 8, 20])
def test_the_largest_of_blocks_are_the_largest_of_all(columns, count):
    values = torch.randn(3, columns)
    values[1, : columns // 2] = -math.inf
    top, indices = largest(values, min(count, columns))
    expected = values.topk(min(count, columns))
    assert torch.equal(top, expected.values)
    assert torch.equal(values.gather(1, indices), expected.values)


def test_what_is_impossible_is_no_candidate():
    log_p = forbid(torch.zeros(1, 2, 5).log_softmax(-1))
    assert torch.isinf(log_p[..., [config.PAD, config.UNK, config.BOS]]).all()
    totals = torch.tensor([[0.0, -math.inf]])
    (candidates,) = rank(log_p, totals, 8)
    assert sorted((row, piece) for row, piece, *_ in candidates) == [(0, config.EOS), (0, 4)]
    assert [log_prob for _, _, log_prob, _ in candidates] == pytest.approx([-math.log(5)] * 2)


@pytest.mark.parametrize("alpha", [-1, 0, 0.6, 2])
def test_no_continuation_of_a_prefix_scores_above_its_bound(alpha):
    model, source, limit = tiny.build(vocab_size=6), [4, 5, config.EOS], 5
    everything = tiny.all_sequences(model, source, limit, alpha)
    for tokens, score in everything.items():
        for other, longer in everything.items():
            if other[: len(tokens)] == tokens and len(other) > len(tokens):
                log_prob = score * decoding.length_penalty(len(tokens), alpha)
                assert longer <= best_score(log_prob, len(tokens), limit, alpha)
