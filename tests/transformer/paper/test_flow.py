"""Values that flow through the model are those of its hook points."""

import numpy as np
import pytest
import torch

from transformer import AttentionTrace, Translator, config
from transformer.paper.flow import LOGITS, PROBABILITIES, Flow, flow


@pytest.fixture(scope="module")
def model_flow(translator: Translator, trace: AttentionTrace) -> Flow:
    return flow(translator.model, trace)


@pytest.fixture(scope="module")
def expected(
    translator: Translator, trace: AttentionTrace
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    written = [piece.id for piece in trace.target_pieces]
    with torch.inference_mode():
        return translator.model.run_with_cache(source, torch.tensor([[config.BOS, *written[:-1]]]))


def test_every_value_is_that_of_its_hook_point(model_flow: Flow, expected) -> None:
    _, cache = expected
    inside = set(model_flow.values) - {LOGITS, PROBABILITIES}
    for name in inside:
        np.testing.assert_allclose(
            model_flow.values[name], cache[name][0].numpy(), rtol=1e-4, atol=2e-5
        )
    n, m = len(model_flow.values["encoder.embedding.hook_sum"]), len(model_flow.values[LOGITS])
    assert model_flow.values["decoder.layers.1.cross_attention.hook_pattern"].shape == (4, m, n)
    assert model_flow.values["encoder.layers.0.feed_forward.hook_hidden"].shape == (n, 64)
    assert {name for name in cache if name.endswith(("_normalised", "_sum"))} <= inside


def test_the_last_two_boxes_have_the_columns_that_are_named(
    translator, trace, model_flow, expected
):
    logits, _ = expected
    ids = {piece.text: piece.id for piece in trace.target_pieces}
    assert model_flow.columns == tuple(ids)
    assert model_flow.vocab_size == translator.model.config.vocab_size
    own = logits[0].double().numpy()[:, [ids[text] for text in model_flow.columns]]
    np.testing.assert_allclose(model_flow.values[LOGITS], own, rtol=1e-5, atol=1e-5)
    every = np.exp(logits[0].double().numpy())
    shares = np.exp(own) / every.sum(-1, keepdims=True)
    np.testing.assert_allclose(model_flow.values[PROBABILITIES], shares, rtol=1e-4, atol=1e-7)
    written = [model_flow.columns.index(text) for text in trace.target_tokens]
    probabilities = model_flow.values[PROBABILITIES][np.arange(len(written)), written]
    np.testing.assert_allclose(np.log(probabilities), trace.log_probs, rtol=1e-4, atol=1e-5)


def test_a_piece_that_comes_twice_has_one_column(translator: Translator) -> None:
    twice = flow(translator.model, translator.trace("The dog.", "Hund Hund Hund"))
    assert len(set(twice.columns)) == len(twice.columns) < len(twice.values[LOGITS])
    assert twice.values[LOGITS].shape[1] == len(twice.columns)
