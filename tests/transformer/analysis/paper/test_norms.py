"""Layer norm and batch norm against torch's own, and what they make of the model's tensors."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from transformer import Translator
from transformer.analysis.paper.norms import batch_norm, deviations, layer_norm, norm_values
from transformer.analysis.teacher_forcing import batch_traces

NAMES = [
    f"{stack}.layers.{layer}.{name}_norm"
    for stack, subs in (
        ("encoder", ("self_attention", "feed_forward")),
        ("decoder", ("self_attention", "cross_attention", "feed_forward")),
    )
    for layer in range(2)
    for name in subs
]
EPS = 1e-5


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(3).normal(2, 5, (3, 4, 6))


@pytest.fixture
def counts() -> np.ndarray:
    return np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)


@pytest.fixture(scope="module")
def traces(translator: Translator):
    pairs = [
        ("The dog sleeps in the garden.", "Der Hund schläft im Garten."),
        ("Dog.", "Hund."),
    ]
    return [translator.trace(english, german) for english, german in pairs]


def test_layer_norm_is_torch_s(x: np.ndarray) -> None:
    for values in (x, x * 1e-3):  # so small that eps counts, inside of the root
        expected = F.layer_norm(torch.tensor(values), (6,), eps=EPS).numpy()
        np.testing.assert_allclose(layer_norm(values, EPS), expected, rtol=1e-10)


def test_batch_norm_is_torch_s_over_the_tokens_that_count(x, counts) -> None:
    rows = torch.tensor(x[counts])  # [token, feature]
    expected = F.batch_norm(rows, None, None, training=True, eps=EPS).numpy()
    np.testing.assert_allclose(batch_norm(x, counts, EPS)[counts], expected, rtol=1e-10)
    # what does not count is normalised by the others' mean and variance
    mean, variance = x[counts].mean(0), x[counts].var(0)
    np.testing.assert_allclose(
        batch_norm(x, counts, EPS)[1, 3], (x[1, 3] - mean) / np.sqrt(variance + EPS)
    )


def test_spreads_are_of_tokens_and_of_features(x: np.ndarray, counts: np.ndarray) -> None:
    by_token, by_feature = deviations(x, counts)
    assert by_token.shape == (9,)
    assert by_token[4] == pytest.approx(np.std(x[1, 0]))
    assert by_feature[2] == pytest.approx(np.std(x[counts][:, 2]))
    np.testing.assert_allclose(deviations(layer_norm(x, 0), counts)[0], 1)
    np.testing.assert_allclose(deviations(batch_norm(x, counts, 0), counts)[1], 1)


@pytest.mark.parametrize("name", NAMES)
def test_with_gain_and_bias_layer_norm_is_what_the_model_made(translator, traces, name) -> None:
    every = batch_traces(traces)
    values = norm_values(translator.model, every, name)
    with torch.inference_mode():
        _, cache = translator.model.run_with_cache(every.source, every.target)
    np.testing.assert_allclose(values.x, cache[f"{name}.hook_sum"].numpy(), atol=1e-5)
    ours = layer_norm(values.x, values.eps) * values.gain + values.bias
    np.testing.assert_allclose(ours, cache[f"{name}.hook_normalised"].numpy(), atol=2e-5)
    np.testing.assert_allclose(ours, values.normalised, atol=1e-5)
    tokens = every.source_tokens if name.startswith("encoder") else every.decoder_tokens
    assert values.real.tolist() == [[token != "<pad>" for token in row] for row in tokens]
    assert not values.real.all()


def test_a_norm_that_is_not_there_is_refused(translator: Translator, traces) -> None:
    with pytest.raises(AttributeError):
        norm_values(translator.model, batch_traces(traces), "encoder.layers.7.self_attention_norm")
