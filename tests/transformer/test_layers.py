import numpy as np
import pytest
import torch

from tests.transformer import reference
from transformer import Transformer, TransformerConfig
from transformer.dropout import Dropout
from transformer.layers import AddAndNorm, DecoderLayer, EncoderLayer, FeedForward


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


def test_the_feed_forward_network_is_the_papers_formula():
    """§3.3, equation 2."""
    ffn = shaken(FeedForward(config()))
    x = torch.randn(2, 5, 16).double()
    W_1, b_1, W_2, b_2 = arrays(ffn.W_1.weight.T, ffn.W_1.bias, ffn.W_2.weight.T, ffn.W_2.bias)
    expected = reference.feed_forward(x.numpy(), W_1, b_1, W_2, b_2)
    np.testing.assert_allclose(ffn(x).detach(), expected, rtol=1e-12, atol=1e-12)


def test_the_sum_is_normalised_after_the_sub_layer():
    """§3.1: LayerNorm(x + Sublayer(x)), with the biased variance."""
    norm = shaken(AddAndNorm(config())).eval()
    x, y = 0.01 * torch.randn(2, 2, 5, 16).double()  # so small that eps counts
    expected = reference.layer_norm(x.numpy() + y.numpy(), *arrays(*norm.norm.parameters()))
    np.testing.assert_allclose(norm(x, y).detach(), expected, atol=1e-10)


def test_dropout_falls_on_the_sub_layer_and_spares_the_residual():
    """§5.4: before it is added and normalised."""
    norm = AddAndNorm(config(P_drop=0.5)).train()
    x, y = torch.randn(1, 4, 16), torch.randn(1, 4, 16)
    torch.testing.assert_close(norm(x, torch.zeros_like(x)), norm.norm(x))
    assert not torch.equal(norm(x, y), norm(x, y))


def test_there_is_no_dropout_inside_attention_or_the_feed_forward_network():
    """§5.4 names each sub-layer's output and the sum at the foot, nothing else."""
    model = Transformer(config())
    places = {name for name, m in model.named_modules() if isinstance(m, Dropout)}
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
    layer = EncoderLayer(config(P_drop=0.5)).train()
    x = torch.randn(2, 4, 16)
    assert torch.equal(layer.self_attention(x, x), layer.self_attention(x, x))
    assert torch.equal(layer.feed_forward(x), layer.feed_forward(x))


def test_an_encoder_layer_is_pytorchs():
    """§3.1; biases of attention, which ours has none of, are zero there."""
    layer = shaken(EncoderLayer(config())).eval()
    theirs = torch.nn.TransformerEncoderLayer(16, 2, 24, dropout=0, batch_first=True).double()
    attention = layer.self_attention
    with torch.no_grad():
        theirs.self_attn.in_proj_bias.zero_()
        theirs.self_attn.out_proj.bias.zero_()
        W = (attention.W_Q.weight, attention.W_K.weight, attention.W_V.weight)
        theirs.self_attn.in_proj_weight.copy_(torch.cat(W))
        theirs.self_attn.out_proj.weight.copy_(attention.W_O.weight)
    theirs.linear1.load_state_dict(layer.feed_forward.W_1.state_dict())
    theirs.linear2.load_state_dict(layer.feed_forward.W_2.state_dict())
    theirs.norm1.load_state_dict(layer.self_attention_norm.norm.state_dict())
    theirs.norm2.load_state_dict(layer.feed_forward_norm.norm.state_dict())
    x = torch.randn(2, 5, 16).double()
    torch.testing.assert_close(layer(x), theirs(x))


def test_a_decoder_layer_looks_at_itself_first_and_then_at_the_source():
    """§3.1: self-attention feeds cross-attention, not the other way round."""
    layer = shaken(DecoderLayer(config())).eval()
    x, memory = torch.randn(2, 1, 5, 16).double()
    y = layer.self_attention_norm(x, layer.self_attention(x, x, is_causal=True))
    y = layer.cross_attention_norm(y, layer.cross_attention(y, memory))
    y = layer.feed_forward_norm(y, layer.feed_forward(y))
    torch.testing.assert_close(layer(x, memory), y)


def test_each_position_passes_the_feed_forward_network_by_itself():
    ffn = FeedForward(config())
    x = torch.randn(1, 5, 16)
    one_by_one = torch.cat([ffn(x[:, i : i + 1]) for i in range(5)], dim=1)
    torch.testing.assert_close(ffn(x), one_by_one)
