"""Masks are those of the model, each with its reason; what leaks is what no mask lets pass."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from transformer import attention, config, kinds, masks
from transformer.analysis.teacher_forcing import batch_traces
from transformer.paper import masking

HOOK = {
    "encoder_self": "encoder.layers.{}.self_attention.hook_{}",
    "decoder_self": "decoder.layers.{}.self_attention.hook_{}",
    "cross": "decoder.layers.{}.cross_attention.hook_{}",
}


@pytest.fixture(scope="module")
def made(traces):
    return batch_traces(traces)


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_mask_in_use_is_the_one_in_the_model(made, model, kind):
    with torch.no_grad():
        _, cache = model.run_with_cache(made.source, made.target)
    shown = masking.visible_keys(made, kind, masking.MODEL_MASKS[kind])
    for layer in range(model.config.N):
        mask = cache[HOOK[kind].format(layer, "mask")]
        scores = cache[HOOK[kind].format(layer, "attn_scores")]
        shape = (len(shown), 1, *shown.shape[1:])
        np.testing.assert_array_equal(shown, mask.expand(shape)[:, 0].numpy())
        # and it is laid on the scores of every head
        assert (torch.isneginf(scores).numpy() == ~shown[:, None]).all()


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_each_square_is_hidden_for_its_reason_and_no_other(made, kind):
    keys = made.target if kind == "decoder_self" else made.source
    reasons = {
        which: masking.mask_reasons(made, kind, which) for which in ("padding", "causal", "both")
    }
    for n, query, key in np.ndindex(reasons["both"].shape):
        padded = bool(keys[n, key] == config.PAD)
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


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_tokens_along_the_axes_are_those_of_the_traces(made, traces, kind):
    shape = masking.visible_keys(made, kind, "padding").shape[1:]
    for axes, trace in zip(masking.labels(made, kind), traces, strict=True):
        for shown, own in zip(axes, trace.labels(kind), strict=True):
            assert shown[: len(own)] == own
            assert set(shown[len(own) :]) <= {"<pad>"}
        assert (len(axes.queries), len(axes.keys)) == shape


@torch.no_grad()
def unmasked(model, made, kind, monkeypatch):
    """Logits and patterns of a pass to which this kind's mask was never given."""
    real = masks.padding_mask(made.source)
    everything = torch.ones_like(real)
    if kind == "decoder_self":
        monkeypatch.setattr(attention, "causal_mask", lambda *_: masks.padding_mask(made.target))
    patterns = {}
    names = [HOOK[kind].format(layer, "pattern") for layer in range(model.config.N)]
    with model.hooks({name: lambda value, name: patterns.update({name: value}) for name in names}):
        memory = model.encode(made.source, everything if kind == "encoder_self" else real)
        decoded = model.decode(made.target, memory, everything if kind == "cross" else real)
    return model.logits(decoded), [patterns[name].double().numpy() for name in names]


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_leak_is_that_of_a_pass_without_the_mask(model, made, kind, monkeypatch):
    result = masking.leak(model, made, kind, masked=False)
    logits, patterns = unmasked(model, made, kind, monkeypatch)
    loss = F.cross_entropy(logits.transpose(1, 2), made.written, reduction="none").double()
    real = made.written != config.PAD
    np.testing.assert_allclose(result.loss[real.numpy()], loss[real], atol=1e-5)
    assert np.isnan(result.loss[~real.numpy()]).all()
    assert result.mean_loss == pytest.approx(loss[real].mean().item(), abs=1e-5)
    for n, mean in enumerate(result.mean_losses):
        assert mean == pytest.approx(loss[n][real[n]].mean().item(), abs=1e-5)
    queries = made.source if kind == "encoder_self" else made.target
    keys = made.target if kind == "decoder_self" else made.source
    for layer, pattern in enumerate(patterns):
        for head in range(model.config.h):
            shares = []
            for n, query in np.ndindex(*queries.shape):
                if queries[n, query] == config.PAD:
                    assert np.isnan(result.shares[n, query]).all()
                    continue
                row = pattern[n, head, query]
                pad = (keys[n] == config.PAD).numpy()
                after = (np.arange(len(row)) > query) & ~pad
                shares.append(row[after if kind == "decoder_self" else pad].sum())
            assert result.to_hidden[layer, head] == pytest.approx(np.mean(shares), abs=1e-6)
    assert (result.to_hidden > 0).all()


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_with_the_mask_nothing_leaks_and_no_sentence_knows_of_the_others(model, made, traces, kind):
    result = masking.leak(model, made, kind, masked=True)
    assert (result.to_hidden == 0).all()
    for n, trace in enumerate(traces):
        alone = -trace.log_probs.astype(np.float64)  # each sentence by itself, never padded
        np.testing.assert_allclose(result.loss[n, : len(alone)], alone, atol=1e-4)
        assert result.mean_losses[n] == pytest.approx(alone.mean(), abs=1e-4)
    every = np.concatenate([trace.log_probs for trace in traces])
    # a long sentence counts for more than a short one: each real token alike
    assert result.mean_loss == pytest.approx(-every.mean(dtype=np.float64), abs=1e-4)
    assert result.mean_loss != pytest.approx(result.mean_losses.mean(), abs=1e-4)
