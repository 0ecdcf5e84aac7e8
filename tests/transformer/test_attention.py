import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.transformer import reference
from transformer import TransformerConfig, masks
from transformer.attention import MultiHeadAttention, attention_scores

BATCH, QUERIES, KEYS, D_MODEL, H = 3, 6, 6, 32, 4
LENGTHS = torch.tensor([6, 4, 1])
REAL = torch.arange(KEYS) < LENGTHS[:, None]  # [batch, key], True at real tokens
PADDING = REAL[:, None, None]  # [batch, 1, 1, key]
PATHS = pytest.mark.parametrize(
    "path", [torch.enable_grad, torch.no_grad], ids=["explicit", "sdpa"]
)


def config(**changes):
    return TransformerConfig(**({"vocab_size": 9, "d_model": D_MODEL, "h": H} | changes))


@pytest.fixture
def attention():
    torch.manual_seed(0)
    return MultiHeadAttention(config())


@pytest.fixture
def theirs(attention):
    """PyTorch's own attention with our weights."""
    other = nn.MultiheadAttention(D_MODEL, H, bias=False, batch_first=True)
    weights = (attention.W_Q.weight, attention.W_K.weight, attention.W_V.weight)
    with torch.no_grad():
        other.in_proj_weight.copy_(torch.cat(weights))
        other.out_proj.weight.copy_(attention.W_O.weight)
    return other


@pytest.fixture
def kernel_calls(monkeypatch):
    """Arguments of each call of the fused kernel."""
    calls = []
    kernel = F.scaled_dot_product_attention

    def counted(*args, **kwargs):
        calls.append(kwargs)
        return kernel(*args, **kwargs)

    monkeypatch.setattr(F, "scaled_dot_product_attention", counted)
    return calls


def test_scores_are_the_papers_formula():
    """QKᵀ / √d_k, equation 1: multiplied by neither √d_k nor 1/√d_model."""
    q, k = torch.randn(2, 3, 5, 8).double(), torch.randn(2, 3, 7, 8).double()
    expected = q.numpy() @ k.numpy().swapaxes(-1, -2) / math.sqrt(8)
    np.testing.assert_allclose(attention_scores(q, k), expected, rtol=1e-12)


@PATHS
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_multi_head_attention_is_pytorchs(attention, theirs, path, causal, padded):
    x = torch.randn(BATCH, QUERIES, D_MODEL)
    hidden = ~masks.causal_mask(QUERIES)[0, 0] if causal else None
    expected = theirs(
        x, x, x, key_padding_mask=~REAL if padded else None, attn_mask=hidden, need_weights=False
    )[0]
    with path():
        actual = attention(x, x, PADDING if padded else None, is_causal=causal)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-5)


@PATHS
def test_attention_over_another_sequence_is_pytorchs(attention, theirs, path):
    x, memory = torch.randn(BATCH, 4, D_MODEL), torch.randn(BATCH, KEYS, D_MODEL)
    expected = theirs(x, memory, memory, key_padding_mask=~REAL, need_weights=False)[0]
    with path():
        actual = attention(x, memory, PADDING)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-5)


@PATHS
def test_the_weights_and_the_values_may_differ_in_width(path):
    """Table 3, row (B): d_k alone; checked head by head in NumPy."""
    attention = MultiHeadAttention(config(d_k=5, d_v=11)).double()
    x = torch.randn(2, 6, D_MODEL).double()
    W_Q, W_K, W_V, W_O = (
        getattr(attention, name).weight.detach().numpy().T for name in ("W_Q", "W_K", "W_V", "W_O")
    )
    heads = []
    for i in range(H):
        q, k = (x.numpy() @ W[:, 5 * i : 5 * i + 5] for W in (W_Q, W_K))
        v = x.numpy() @ W_V[:, 11 * i : 11 * i + 11]
        heads.append(reference.attention_weights(q, k) @ v)
    with path():
        actual = attention(x, x)
    expected = np.concatenate(heads, -1) @ W_O  # Concat(head_1, ..., head_h) W^O
    np.testing.assert_allclose(actual.detach(), expected, atol=1e-12)


def test_without_gradients_the_fused_kernel_does_the_work(attention, kernel_calls):
    x = torch.randn(BATCH, QUERIES, D_MODEL)
    with torch.no_grad():
        attention(x, x, is_causal=True)
    # a mask tensor would keep the kernel off its flash path
    assert kernel_calls == [{"attn_mask": None, "is_causal": True}]


def test_with_gradients_on_a_cpu_the_fused_kernel_is_left_alone(attention, kernel_calls):
    x = torch.randn(BATCH, QUERIES, D_MODEL)
    attention(x, x, is_causal=True)
    assert not kernel_calls
