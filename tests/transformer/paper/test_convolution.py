"""The feed-forward network as two convolutions, against the model and a loop over positions."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from transformer.layers import FeedForward
from transformer.paper.convolution import by_convolutions

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_two_convolutions_are_the_network_at_each_position(case: Case, stack: str) -> None:
    network = case.model.get_submodule(f"{stack}.layers.0.feed_forward")
    assert isinstance(network, FeedForward)
    x = np.random.default_rng(1).normal(size=(5, case.model.config.d_model))
    with torch.inference_mode():
        own = network(torch.tensor(x)).numpy()
    result = by_convolutions(network, x)
    np.testing.assert_allclose(result, own, rtol=1e-5, atol=1e-6)
    W_1, b_1, W_2, b_2 = (parameter.detach().numpy() for parameter in network.parameters())
    for position in range(5):
        hidden = ACTIVATIONS[network.activation](W_1 @ x[position] + b_1)
        np.testing.assert_allclose(result[position], W_2 @ hidden + b_2, rtol=1e-5, atol=1e-6)
