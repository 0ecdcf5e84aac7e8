"""Overlaps of subspaces, against NumPy's singular values and random subspaces."""

import numpy as np
import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer import Transformer, TransformerConfig, Translator, kinds
from transformer.analysis.heads.subspaces import random_overlap, subspace_overlaps


def one_by_one(model, kind, layer, name):
    """Squared cosines of the principal angles: singular values of the product of two bases."""
    attention = model.get_submodule(kinds.attention_name(kind, layer))
    weight = getattr(attention, f"W_{name}").weight.detach().double().numpy()
    heads = np.split(weight, attention.h, axis=1 if name == "O" else 0)
    bases = []
    for head in heads:
        left, sizes, right = np.linalg.svd(head, full_matrices=False)
        assert sizes.min() > 1e-6
        bases.append(left if name == "O" else right.T)
    return np.array([
        [np.mean(np.linalg.svd(a.T @ b, compute_uv=False) ** 2) for b in bases] for a in bases
    ])  # fmt: skip


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_overlaps_are_those_of_the_principal_angles(model, bundled, tmp_path, kind) -> None:
    folder = marian_folder.write(tmp_path / "marian", decoder=(3, 4, 32))
    for other in (model, bundled.model, Translator.load(folder).model):
        layer = other.config.stack(kind).N - 1
        overlaps = subspace_overlaps(other, kind, layer)
        assert list(overlaps) == ["Q", "K", "V", "O"]
        for name, overlap in overlaps.items():
            np.testing.assert_allclose(overlap, one_by_one(other, kind, layer, name), atol=1e-6)
            np.testing.assert_allclose(np.diag(overlap), 1, atol=1e-6)


def test_random_subspaces_share_their_width_over_d_model() -> None:
    config = TransformerConfig(vocab_size=8, N=1, h=6, d_model=24, d_ff=8, d_k=4, d_v=12)
    models = [Transformer(config) for _ in range(30)]
    for name, width in (("Q", 4), ("O", 12)):
        pairs = [
            overlap[np.triu_indices(6, 1)]
            for model in models
            for overlap in [subspace_overlaps(model, "cross", 0)[name]]
        ]
        assert np.mean(pairs) == pytest.approx(random_overlap(width, 24), abs=0.01)
    assert random_overlap(48, 24) == 1
    alone = Transformer(TransformerConfig(vocab_size=8, N=1, h=1, d_model=8, d_ff=8, d_k=12))
    assert subspace_overlaps(alone, "cross", 0)["Q"] == pytest.approx(1)
