"""Gradient × attention against finite differences of log P with one weight moved."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from transformer import KINDS, kinds
from transformer.analysis import teacher_forcing
from transformer.analysis.lenses.gradient import gradient_times_attention

STEP = 1e-5


def log_P(case: Case, edits) -> float:
    pair = teacher_forcing.forced_pair(case.model, case.trace)
    with torch.inference_mode(), case.model.hooks(edits):
        log_p = case.model(pair.source, pair.target)[0].log_softmax(-1)
    return float(log_p[torch.arange(len(pair.written)), pair.written].sum())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_slope_of_log_P_times_the_weight(case: Case, kind) -> None:
    products = gradient_times_attention(case.model, case.trace)[kind]
    weights = case.trace.weights(kind)
    generator = np.random.default_rng(1)
    seen = np.argwhere(weights > 1e-3)
    for layer, head, i, j in generator.permutation(seen)[:12]:
        slope = 0.0
        for sign in (1, -1):

            def moved(pattern, _name, sign=sign, at=(0, head, i, j)):
                pattern = pattern.clone()
                pattern[at] += sign * STEP
                return pattern

            edits = {f"{kinds.attention_name(kind, layer)}.hook_pattern": moved}
            slope += sign * log_P(case, edits) / (2 * STEP)
        expected = slope * case.plain.attention[kind, layer].pattern[head, i, j]
        assert products[layer, head, i, j] == pytest.approx(expected, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("needed", [True, False])
def test_parameters_are_left_as_they_were(uneven: Case, needed) -> None:
    before = [parameter.requires_grad for parameter in uneven.model.parameters()]
    expected = gradient_times_attention(uneven.model, uneven.trace)
    try:
        uneven.model.requires_grad_(needed)
        with torch.inference_mode():  # as a caller may have it
            products = gradient_times_attention(uneven.model, uneven.trace)
        assert all(p.grad is None for p in uneven.model.parameters())
        assert all(p.requires_grad is needed for p in uneven.model.parameters())
    finally:
        for parameter, was in zip(uneven.model.parameters(), before, strict=True):
            parameter.requires_grad_(was)
    for kind in KINDS:
        np.testing.assert_array_equal(products[kind], expected[kind])
        assert (products[kind] > 0).any()
        assert (products[kind] < 0).any()
    assert not np.triu(products["decoder_self"], 1).any()
