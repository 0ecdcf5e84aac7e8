"""Value zeroing against runs of the layer in which a hook really zeroes the value."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case, through
from transformer import KINDS, kinds
from transformer.analysis import teacher_forcing


def outputs(case: Case, kind, layer, edits):
    """`[position, d_model]` of one layer, in a whole run with these hooks."""
    pair = teacher_forcing.forced_pair(case.model, case.trace)
    stack = "encoder" if kind == "encoder_self" else "decoder"
    name = f"{stack}.layers.{layer}.feed_forward_norm.hook_normalised"
    with torch.inference_mode(), case.model.hooks(edits):
        return case.model.run_with_cache(pair.source, pair.target, names={name}.__contains__)[1][
            name
        ][0].numpy()


def really_zeroed(case: Case, kind, layer, key):
    """1 − cos of each position, with the value of one key set to 0 in all heads."""

    def zero(v, _name):
        v = v.clone()
        v[:, :, key] = 0
        return v

    y = outputs(case, kind, layer, {})
    without = outputs(case, kind, layer, {f"{kinds.attention_name(kind, layer)}.hook_v": zero})
    lengths = np.linalg.norm(y, axis=1) * np.linalg.norm(without, axis=1)
    return 1 - (y * without).sum(1) / lengths


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_really_zeroing_does(case: Case, kind) -> None:
    values = through("value_zeroing", case, kind)
    for layer, key in np.ndindex(len(values), values.shape[-1]):
        expected = really_zeroed(case, kind, layer, key)
        np.testing.assert_allclose(values[layer, :, key], expected, rtol=1e-5, atol=1e-7)
    if kind == "decoder_self":
        assert not np.triu(values, 1).any()
    assert values.max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_keys_change_nothing(uneven: Case, kind, monkeypatch) -> None:
    expected = through("value_zeroing", uneven, kind)
    monkeypatch.setattr(teacher_forcing, "MAX_TENSOR_SIZE", 1)
    np.testing.assert_allclose(through("value_zeroing", uneven, kind), expected)


def test_edits_of_the_cross_attention_meet_all_queries(uneven: Case, monkeypatch) -> None:
    monkeypatch.setattr(teacher_forcing, "MAX_TENSOR_SIZE", 1)
    painted = torch.rand(4, 4, 5).double().softmax(-1)  # [head, query, key]
    name = "decoder.layers.0.cross_attention.hook_pattern"
    with uneven.model.hooks({name: lambda pattern, _name: painted.expand_as(pattern)}):
        values = through("value_zeroing", uneven, "decoder_self")
        for key in range(4):
            expected = really_zeroed(uneven, "decoder_self", 0, key)
            np.testing.assert_allclose(values[0, :, key], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_edits_of_the_feed_forward_network_meet_all_queries(uneven: Case, kind) -> None:
    stack = "encoder" if kind == "encoder_self" else "decoder"
    by_position = torch.rand(5 if kind == "encoder_self" else 4, 1).double()
    name = f"{stack}.layers.0.feed_forward_norm.hook_sublayer"
    with uneven.model.hooks({name: lambda x, _name: x * by_position}):
        values = through("value_zeroing", uneven, kind)
        expected = really_zeroed(uneven, kind, 0, 1)
        np.testing.assert_allclose(values[0, :, 1], expected, rtol=1e-5, atol=1e-7)
