"""Rollout against sums over every single path through the layers."""

import itertools

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case, case
from transformer import KINDS
from transformer.analysis.lenses.rollout import rollout

__all__ = ["case"]


def half(weights):
    """½ A + ½ I of the mean over heads."""
    mean = weights.mean(0)
    return mean / 2 + np.eye(len(mean)) / 2


def by_paths(layers):
    """The sum over all paths of the product of their steps; the first layer is read first."""
    size = len(layers[0])
    total = np.zeros((size, size))
    for path in itertools.product(range(size), repeat=len(layers) + 1):
        steps = zip(layers, path, path[1:], strict=False)
        total[path[-1], path[0]] += np.prod([layer[to, start] for layer, start, to in steps])
    return total


@pytest.mark.parametrize("kind", KINDS[:2])
def test_self_attention_is_the_sum_over_all_paths(case: Case, kind) -> None:
    N = case.model.config.N
    layers = [half(case.plain.attention[kind, n].pattern) for n in range(N)]
    found = rollout(case.model, case.trace, kind)
    for n in range(N):
        np.testing.assert_allclose(found[n], by_paths(layers[: n + 1]), rtol=1e-7, atol=1e-12)


def test_cross_attention_is_what_all_paths_bring_from_the_source(case: Case) -> None:
    """One matrix for each layer over source and target positions together."""
    N, attention = case.model.config.N, case.plain.attention
    source, target = len(case.trace.source_pieces), len(case.trace.target_pieces)
    whole = np.eye(source + target)
    for n in range(N):
        whole[:source, :source] = (
            half(attention["encoder_self", n].pattern) @ whole[:source, :source]
        )
    found = rollout(case.model, case.trace, "cross")
    for n in range(N):
        own, cross = np.eye(source + target), np.eye(source + target)
        own[source:, source:] = half(attention["decoder_self", n].pattern)
        cross[source:, source:] = np.eye(target) / 2
        cross[source:, :source] = attention["cross", n].pattern.mean(0) / 2
        # the residual of the cross-attention is what the self-attention before it gave
        whole = cross @ own @ whole
        rows = whole[source:, :source]
        np.testing.assert_allclose(rows.sum(1), 1 - 2.0 ** -(n + 1))
        expected = rows / rows.sum(1, keepdims=True)
        np.testing.assert_allclose(found[n], expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_1(translator, trace, kind) -> None:
    np.testing.assert_allclose(rollout(translator.model, trace, kind).sum(-1), 1, rtol=1e-6)
