"""What each key brings, against plain loops; and that it adds up to what the layer gives."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case, case, layers_of, uneven
from tests.transformer.analysis.plain_model import brought, linearised
from transformer import KINDS, silence
from transformer.analysis.lenses import decomposition
from transformer.analysis.lenses.decomposition import (
    block_of,
    norms_of_heads,
    norms_of_heads_after_layer_norm,
    norms_of_layer,
    norms_of_layer_with_residual,
    points,
)
from transformer.analysis.teacher_forcing import forced_pair, values_at

__all__ = ["case", "uneven"]  # fixtures: used by their names


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
def test_parts_add_up_in_float32_too(translator, trace, kind) -> None:
    for block in attention_blocks(translator.model, trace, kind):
        whole = torch.cat(list(block.transformed()), 1).sum(1) + block.bias
        assert (whole - block.output).abs().max() <= 1e-5 * block.output.abs().max()


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_keys_change_nothing(uneven: Case, kind, monkeypatch) -> None:
    blocks = attention_blocks(uneven.model, uneven.trace, kind)
    whole = [torch.cat(list(block.transformed()), 1) for block in blocks]
    monkeypatch.setattr(decomposition, "LARGEST_TENSOR", 1)
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


def test_what_takes_the_place_of_a_head_is_constant(uneven: Case) -> None:
    def ones(z, _name):
        z = z.clone()
        z[:, 1] = 1
        return z

    with uneven.model.hooks({"encoder.layers.0.self_attention.hook_z": ones}):
        block = attention_blocks(uneven.model, uneven.trace, "encoder_self")[0]
    W_O = uneven.plain.attention["encoder_self", 0].W_O[1]
    np.testing.assert_allclose(block.constant.numpy(), np.tile(W_O.sum(0), (5, 1)), atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_norms_are_lengths_of_the_vectors_that_keys_bring(case: Case, kind) -> None:
    heads, heads_after_norm = (
        layers_of(norms, case.model, case.trace, kind)
        for norms in (norms_of_heads, norms_of_heads_after_layer_norm)
    )
    layers, layers_after_norm = (
        layers_of(norms, case.model, case.trace, kind)
        for norms in (norms_of_layer, norms_of_layer_with_residual)
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


def test_norms_of_a_model_in_float32_are_float32(translator, trace) -> None:
    found = layers_of(norms_of_heads, translator.model, trace, "cross")
    assert found.dtype == np.float32
    assert found.shape == trace.cross.shape
    layers = layers_of(norms_of_layer, translator.model, trace, "decoder_self")
    assert not layers[:, 0, 1:].any()


def close(found, expected) -> bool:
    return np.allclose(found, expected, rtol=1e-8, atol=1e-10)
