"""Norms against vectors that plain loops build one by one."""

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case, case
from tests.transformer.analysis.plain_model import brought, linearised
from transformer import KINDS
from transformer.analysis.lenses.decomposition import stack_blocks
from transformer.analysis.lenses.norm_lens import (
    norms_of_heads,
    norms_of_heads_after_layer_norm,
    norms_of_layer,
    norms_of_layer_with_residual,
)

__all__ = ["case"]


@pytest.mark.parametrize("kind", KINDS)
def test_norms_are_lengths_of_the_vectors_that_keys_bring(case: Case, kind) -> None:
    heads, heads_after_norm = (
        stack_blocks(norms, case.model, case.trace, kind)
        for norms in (norms_of_heads, norms_of_heads_after_layer_norm)
    )
    layers, layers_after_norm = (
        stack_blocks(norms, case.model, case.trace, kind)
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
    found = stack_blocks(norms_of_heads, translator.model, trace, "cross")
    assert found.dtype == np.float32
    assert found.shape == trace.cross.shape
    layers = stack_blocks(norms_of_layer, translator.model, trace, "decoder_self")
    assert not layers[:, 0, 1:].any()


def close(found, expected) -> bool:
    return np.allclose(found, expected, rtol=1e-8, atol=1e-10)
