"""Contributions of each key, against plain loops; and that they add up to what the layer gives."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case, through
from tests.transformer.analysis.plain_model import brought, linearised
from transformer import KINDS, silence
from transformer.analysis.lenses import alti, decomposition
from transformer.analysis.lenses.decomposition import (
    block_of,
    norms_of_heads,
    norms_of_heads_after_layer_norm,
    norms_of_layer,
    norms_of_layer_with_residual,
    points,
)
from transformer.analysis.teacher_forcing import forced_pair, values_at


@torch.inference_mode()
def attention_blocks(model, trace, kind):
    _, cache = values_at(model, forced_pair(model, trace), points(model, kind))
    return [block_of(model, cache, kind, layer) for layer in range(model.config.N)]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_those_of_plain_loops_and_add_up_to_the_output(case: Case, kind) -> None:
    for layer, block in enumerate(attention_blocks(case.model, case.trace, kind)):
        plain = case.plain.attention[kind, layer]
        heads, queries, keys = plain.pattern.shape
        parts, brings = torch.cat(list(block.transformed()), 1).numpy(), block.from_keys().numpy()
        for i in range(queries):
            for j in range(keys):
                part = np.sum([brought(plain, h, i, j) for h in range(heads)], axis=0)
                np.testing.assert_allclose(brings[i, j], part, rtol=1e-8, atol=1e-10)
                if kind != "cross" and i == j:
                    part = part + plain.x[i]
                np.testing.assert_allclose(
                    parts[i, j], linearised(plain, i, part), rtol=1e-8, atol=1e-10
                )
        np.testing.assert_allclose(block.output.numpy(), plain.y, rtol=1e-8, atol=1e-10)
        whole = parts.sum(1) + block.linearised(block.constant).numpy() + plain.bias
        assert np.abs(whole - plain.y).max() <= 1e-5 * np.abs(plain.y).max()
        # no bias in the paper's projections, and that of W_O elsewhere
        np.testing.assert_allclose(
            block.constant.numpy(), np.broadcast_to(plain.constant, plain.y.shape), atol=1e-10
        )


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_keys_change_nothing(uneven: Case, kind, monkeypatch) -> None:
    blocks = attention_blocks(uneven.model, uneven.trace, kind)
    whole = [torch.cat(list(block.transformed()), 1) for block in blocks]
    monkeypatch.setattr(decomposition, "MAX_TENSOR_SIZE", 1)
    for block, expected in zip(blocks, whole, strict=True):
        parts = list(block.transformed())
        assert len(parts) == expected.size(1)
        torch.testing.assert_close(torch.cat(parts, 1), expected)


def test_keys_bring_nothing_through_a_head_that_a_hook_has_silenced(uneven: Case) -> None:
    edit = {"decoder.layers.1.cross_attention.hook_z": silence(2)}
    with uneven.model.hooks(edit):
        blocks = attention_blocks(uneven.model, uneven.trace, "cross")
    assert not blocks[1].pattern[2].any()
    assert all(blocks[1].pattern[head].any() for head in (0, 1, 3))
    assert blocks[0].pattern[2].any()
    for block in blocks:
        assert block.constant.abs().max() < 1e-10
        whole = torch.cat(list(block.transformed()), 1).sum(1) + block.bias
        torch.testing.assert_close(whole, block.output)


@pytest.mark.parametrize("kind", KINDS)
def test_norms_are_lengths_of_the_vectors_that_keys_bring(case: Case, kind) -> None:
    blocks = attention_blocks(case.model, case.trace, kind)
    heads, heads_after_norm, layers, layers_after_norm = (
        torch.stack([norms(block) for block in blocks]).numpy()
        for norms in (
            norms_of_heads,
            norms_of_heads_after_layer_norm,
            norms_of_layer,
            norms_of_layer_with_residual,
        )
    )
    for layer in range(case.model.config.N):
        plain = case.plain.attention[kind, layer]
        for i, j in np.ndindex(plain.pattern.shape[1:]):
            vectors = [brought(plain, h, i, j) for h in range(len(plain.pattern))]
            assert close(heads[layer, :, i, j], [np.linalg.norm(v) for v in vectors])
            after = [np.linalg.norm(linearised(plain, i, v)) for v in vectors]
            assert close(heads_after_norm[layer, :, i, j], after)
            assert close(layers[layer, i, j], np.linalg.norm(np.sum(vectors, axis=0)))
            whole = np.sum(vectors, axis=0) + (plain.x[i] if kind != "cross" and i == j else 0)
            length = np.linalg.norm(linearised(plain, i, whole))
            assert close(layers_after_norm[layer, i, j], length)
        if kind == "cross":
            residual = [np.linalg.norm(linearised(plain, i, row)) for i, row in enumerate(plain.x)]
            assert close(layers_after_norm[layer, :, -1], residual)
    assert layers_after_norm.shape[-1] == heads.shape[-1] + (kind == "cross")


def close(actual, expected) -> bool:
    return np.allclose(actual, expected, rtol=1e-8, atol=1e-10)


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
    for layer, block in enumerate(attention_blocks(case.model, case.trace, kind)):
        expected, shares = expected_shares(case, kind, layer), alti.contributions(block).numpy()
        np.testing.assert_allclose(shares, expected, rtol=1e-7, atol=1e-10)
        shown = through("alti", case, kind)[layer]  # in cross-attention without the residual
        np.testing.assert_allclose(shown, expected[:, : shown.shape[1]], rtol=1e-5, atol=1e-7)


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
    shares = alti.whole_model(case.model, case.trace)
    assert shares.shape == (target, source + target)
    np.testing.assert_allclose(shares, whole[source:], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(shares.sum(1), 1)
    assert not np.triu(shares[:, source:], 1).any()


def test_where_no_part_brings_the_output_nearer_all_that_is_seen_has_one_share(uneven) -> None:
    name = "decoder.layers.0.self_attention_norm.hook_normalised"
    # an output that no part resembles: 0
    with uneven.model.hooks({name: lambda y, _name: torch.zeros_like(y)}):
        shares = through("alti", uneven, "decoder_self")[0]
    expected = np.tril(np.ones_like(shares))
    np.testing.assert_allclose(shares, expected / expected.sum(1, keepdims=True), rtol=1e-6)
