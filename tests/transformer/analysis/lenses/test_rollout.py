"""Rollout against sums over every single path through the layers."""

import itertools

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case, through
from tests.transformer.traces.from_huggingface.made_outputs import rows
from transformer import KINDS, AttentionTrace, InputError
from transformer.analysis.lenses.rollout import rollout_of_weights


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
    result = through("rollout", case, kind)
    for n in range(N):
        np.testing.assert_allclose(result[n], by_paths(layers[: n + 1]), rtol=1e-5, atol=1e-7)


def test_cross_attention_is_what_all_paths_bring_from_the_source(case: Case) -> None:
    """One matrix for each layer over source and target positions together."""
    N, attention = case.model.config.N, case.plain.attention
    source, target = len(case.trace.source_pieces), len(case.trace.target_pieces)
    whole = np.eye(source + target)
    for n in range(N):
        whole[:source, :source] = (
            half(attention["encoder_self", n].pattern) @ whole[:source, :source]
        )
    result = through("rollout", case, "cross")
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
        np.testing.assert_allclose(result[n], expected, rtol=1e-5, atol=1e-7)


def test_the_mean_is_over_the_heads_that_a_layer_has() -> None:
    layers = [rows(1, heads, 4, 4, seed=heads)[0] for heads in (3, 1)]
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=[*"abcd"])
    expected = half(layers[1]) @ half(layers[0])
    np.testing.assert_allclose([*rollout_of_weights(trace, "encoder_self")][1], expected, rtol=1e-6)
    # of rows that were given with another sum, the shares are followed
    scaled = AttentionTrace.from_arrays(
        encoder_self=[layers[0] * 3, layers[1]], source_tokens=[*"abcd"], normalized=False
    )
    np.testing.assert_allclose(
        [*rollout_of_weights(scaled, "encoder_self")][1], expected, rtol=1e-6
    )


def given(**kinds):
    return AttentionTrace.from_arrays(**kinds, source_tokens=[*"abcd"], decoder_tokens=[*"xyz"])


def test_an_encoder_may_have_other_layers_than_the_decoder() -> None:
    encoder, own, cross = (
        rows(5, 2, 4, 4, seed=1),
        rows(2, 3, 3, 3, seed=2),
        rows(2, 1, 3, 4, seed=3),
    )
    trace = given(encoder_self=encoder, decoder_self=own, cross=cross)
    memory = np.linalg.multi_dot([half(layer) for layer in encoder[::-1]])
    first = cross[0, 0] @ memory / 2
    second = cross[1, 0] @ memory / 2 + half(own[1]) @ first / 2
    _, last = rollout_of_weights(trace, "cross")
    np.testing.assert_allclose(last, second / second.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (lambda: given(cross=rows(1, 1, 3, 4, seed=1)), r"no encoder_self and no decoder_self"),
        (
            lambda: given(
                cross=rows(1, 1, 3, 4, seed=1),
                encoder_self=rows(1, 1, 4, 4, seed=1),
                decoder_self=rows(2, 1, 3, 3, seed=1),
            ),
            r"2 layers of its own and 1 of cross",
        ),
    ],
)
def test_what_cannot_be_followed_is_said(trace, message) -> None:
    with pytest.raises(InputError, match=message):
        rollout_of_weights(trace(), "cross")
