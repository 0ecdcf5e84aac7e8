"""ALTI and ALTI+ against the formulas, written out in loops over full tensors."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case, case, layers_of, uneven
from tests.transformer.analysis.plain_model import brought, linearised
from transformer import KINDS
from transformer.analysis.lenses.alti import contributions, whole_model

__all__ = ["case", "uneven"]


def expected_shares(case: Case, kind, layer):
    """c_ij by the formula: one vector T_ij after the other."""
    plain = case.plain.attention[kind, layer]
    heads, queries, keys = plain.pattern.shape
    shares = np.zeros((queries, keys + (kind == "cross")))
    for i in range(queries):
        length = np.abs(plain.y[i]).sum()
        for j in range(shares.shape[1]):
            if kind == "decoder_self" and j > i:
                continue
            part = np.zeros(len(plain.x[i]))
            if j < keys:
                part = np.sum([brought(plain, h, i, j) for h in range(heads)], axis=0)
            if j == (keys if kind == "cross" else i):
                part = part + plain.x[i]
            distance = np.abs(plain.y[i] - linearised(plain, i, part)).sum()
            shares[i, j] = max(0, length - distance)
    return shares / shares.sum(1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_those_of_the_formula_and_sum_to_1(case: Case, kind) -> None:
    found = layers_of(contributions, case.model, case.trace, kind)
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-12)
    for layer in range(case.model.config.N):
        expected = expected_shares(case, kind, layer)
        np.testing.assert_allclose(found[layer], expected, rtol=1e-7, atol=1e-10)


def test_alti_plus_follows_every_path_from_the_tokens_to_the_written_word(case: Case) -> None:
    """All paths at once: one matrix for each layer over source and target positions together."""
    source, target = len(case.trace.source_pieces), len(case.trace.target_pieces)
    encoder = np.eye(source)
    for layer in range(case.model.config.N):
        encoder = expected_shares(case, "encoder_self", layer) @ encoder
    whole = np.eye(source + target)
    whole[:source, :source] = encoder
    for layer in range(case.model.config.N):
        own = expected_shares(case, "decoder_self", layer)
        cross = expected_shares(case, "cross", layer)
        step = np.eye(source + target)
        for t in range(target):
            step[source + t, :source] = cross[t, :source]
            step[source + t, source:] = cross[t, source] * own[t]
        whole = step @ whole
    found = whole_model(case.model, case.trace)
    assert found.shape == (target, source + target)
    np.testing.assert_allclose(found, whole[source:], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.sum(1), 1)
    assert not np.triu(found[:, source:], 1).any()


def test_where_no_part_brings_the_output_nearer_all_that_is_seen_has_one_share(uneven) -> None:
    name = "decoder.layers.0.self_attention_norm.hook_normalised"
    # an output that no part resembles: 0
    with uneven.model.hooks({name: lambda y, _name: torch.zeros_like(y)}):
        found = layers_of(contributions, uneven.model, uneven.trace, "decoder_self")[0]
    expected = np.tril(np.ones_like(found))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True))


def test_progress_counts_the_layers(uneven: Case) -> None:
    seen = []
    whole_model(uneven.model, uneven.trace, progress=lambda *step: seen.append(step))
    assert seen == [(done, 6) for done in range(1, 7)]
