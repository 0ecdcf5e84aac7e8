import numpy as np
import pytest
import torch

from tests.transformer import reference
from transformer import Transformer, TransformerConfig, dropout, layers


def config(**changes):
    shape = {"vocab_size": 20, "N": 3, "d_model": 16, "d_ff": 24, "h": 2}
    return TransformerConfig(**(shape | changes))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(3)


def shaken(module):
    """The module with every parameter random, biases and gains too."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module.double()


def arrays(*tensors):
    return [tensor.detach().numpy() for tensor in tensors]


def test_the_sum_is_normalised_after_the_sub_layer():
    """§3.1: LayerNorm(x + Sublayer(x)), with the biased variance."""
    norm = shaken(layers.AddAndNorm(config())).eval()
    x, y = 0.01 * torch.randn(2, 2, 5, 16).double()  # so small that eps counts
    expected = reference.layer_norm(x.numpy() + y.numpy(), *arrays(*norm.norm.parameters()))
    np.testing.assert_allclose(norm(x, y).detach(), expected, atol=1e-10)


def test_dropout_falls_on_the_sub_layer_and_spares_the_residual():
    """§5.4: before it is added and normalised."""
    norm = layers.AddAndNorm(config(P_drop=0.5)).train()
    x, y = torch.randn(1, 4, 16), torch.randn(1, 4, 16)
    torch.testing.assert_close(norm(x, torch.zeros_like(x)), norm.norm(x))
    assert not torch.equal(norm(x, y), norm(x, y))


def test_there_is_no_dropout_inside_attention_or_the_feed_forward_network():
    """§5.4 names each sub-layer's output and the sum at the foot, nothing else."""
    model = Transformer(config())
    places = {name for name, m in model.named_modules() if isinstance(m, dropout.Dropout)}
    feet = {f"{stack}.embedding.dropout" for stack in ("encoder", "decoder")}
    sublayers = {
        "encoder": ["self_attention", "feed_forward"],
        "decoder": ["self_attention", "cross_attention", "feed_forward"],
    }
    assert places == feet | {
        f"{stack}.layers.{n}.{sublayer}_norm.dropout"
        for stack, names in sublayers.items()
        for sublayer in names
        for n in range(3)
    }
    layer = layers.EncoderLayer(config(P_drop=0.5)).train()
    x = torch.randn(2, 4, 16)
    assert torch.equal(layer.self_attention(x, x), layer.self_attention(x, x))
    assert torch.equal(layer.feed_forward(x), layer.feed_forward(x))
