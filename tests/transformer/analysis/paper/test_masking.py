"""The masks that are shown are those that the model uses, and each has its reason."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.padded import traces
from transformer.analysis.paper.masking import (
    MODEL_MASKS,
    labels,
    mask_reasons,
    real_queries,
    visible_keys,
)
from transformer.analysis.teacher_forcing import batch_traces
from transformer.attention import attention_scores
from transformer.config import PAD
from transformer.kinds import KINDS

__all__ = ["traces"]  # a fixture: used by its name

HOOK = {
    "encoder_self": "encoder.layers.{}.self_attention.hook_{}",
    "decoder_self": "decoder.layers.{}.self_attention.hook_{}",
    "cross": "decoder.layers.{}.cross_attention.hook_{}",
}


@pytest.fixture(scope="module")
def made(traces):
    return batch_traces(traces)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_in_use_is_the_one_in_the_model(made, model, kind):
    with torch.no_grad():
        _, cache = model.run_with_cache(made.source, made.target)
    shown = visible_keys(made, kind, MODEL_MASKS[kind])
    for layer in range(model.config.N):
        mask = cache[HOOK[kind].format(layer, "mask")]
        scores = cache[HOOK[kind].format(layer, "attn_scores")]
        shape = (len(shown), 1, *shown.shape[1:])
        np.testing.assert_array_equal(shown, mask.expand(shape)[:, 0].numpy())
        # and it is laid on the scores of every head
        assert (torch.isneginf(scores).numpy() == ~shown[:, None]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_each_square_is_hidden_for_its_reason_and_no_other(made, kind):
    keys = made.target if kind == "decoder_self" else made.source
    reasons = {which: mask_reasons(made, kind, which) for which in ("padding", "causal", "both")}
    for n, query, key in np.ndindex(reasons["both"].shape):
        padded = bool(keys[n, key] == PAD)
        later = kind != "cross" and key > query
        expected = {
            (False, False): "seen",
            (False, True): "later",
            (True, False): "padding",
            (True, True): "both",
        }
        assert reasons["both"][n, query, key] == expected[padded, later]
        assert reasons["padding"][n, query, key] == ("padding" if padded else "seen")
        assert reasons["causal"][n, query, key] == ("later" if later else "seen")
    assert (np.unique(reasons["both"]).size == 4) == (kind != "cross")  # the batch has them all


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["padding", "causal", "both"])
def test_seen_is_where_nothing_hides(made, kind, which):
    np.testing.assert_array_equal(
        visible_keys(made, kind, which), mask_reasons(made, kind, which) == "seen"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_tokens_along_the_axes_are_those_of_the_traces(made, traces, kind):
    shape = visible_keys(made, kind, "both").shape[1:]
    for one, trace in zip(labels(made, kind), traces, strict=True):
        for shown, own in zip(one, trace.labels(kind), strict=True):
            assert shown[: len(own)] == own
            assert set(shown[len(own) :]) <= {"<pad>"}
        assert (len(one.queries), len(one.keys)) == shape


@pytest.mark.parametrize("kind", KINDS)
def test_a_padding_row_is_no_real_query(made, kind):
    names = [[token != "<pad>" for token in one.queries] for one in labels(made, kind)]
    np.testing.assert_array_equal(real_queries(made, kind), names)
    assert not real_queries(made, kind).all()


def test_to_write_minus_infinity_is_to_add_it():
    """What the page says is added is what the model's own scores become."""
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2, 1, 5, 8, generator=generator) for _ in range(2))
    mask = torch.rand(2, 1, 5, 5, generator=generator) > 0.4
    added = torch.where(mask, 0.0, -torch.inf)
    assert torch.equal(attention_scores(q, k) + added, attention_scores(q, k, mask))
