import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tests.transformer import reference
from transformer import TransformerConfig
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.masks import causal_mask

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


def test_a_masked_score_is_minus_infinity_and_the_others_are_untouched():
    q, k = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 8)
    mask = causal_mask(4).expand(1, 2, 4, 4)
    scores = attention_scores(q, k, mask)
    assert (scores[~mask] == -math.inf).all()
    assert torch.equal(scores[mask], attention_scores(q, k)[mask])


@PATHS
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_multi_head_attention_is_pytorchs(attention, theirs, path, causal, padded):
    x = torch.randn(BATCH, QUERIES, D_MODEL)
    hidden = ~causal_mask(QUERIES)[0, 0] if causal else None
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


@PATHS
@given(queries=st.integers(1, 6), earlier=st.integers(0, 6))
def test_later_queries_see_what_they_see_in_the_whole(path, queries, earlier):
    """The last rows of a longer sequence, as a cache asks for them."""
    torch.manual_seed(queries)
    attention = MultiHeadAttention(config())
    x = torch.randn(1, earlier + queries, D_MODEL)
    with path():
        whole = attention(x, x, is_causal=True)
        last = attention(x[:, earlier:], x, is_causal=True)
    torch.testing.assert_close(last, whole[:, earlier:], atol=1e-6, rtol=1e-5)


def test_a_pattern_is_the_papers_softmax(attention):
    seen: dict[str, torch.Tensor] = {}
    x = torch.randn(BATCH, QUERIES, D_MODEL)
    with watching(attention, seen):
        attention(x, x, PADDING, is_causal=True)
    mask = (PADDING & causal_mask(QUERIES)).numpy()
    q, k = (seen[name].double().detach().numpy() for name in ("hook_q", "hook_k"))
    expected = reference.attention_weights(q, k, mask)
    np.testing.assert_allclose(seen["hook_pattern"].detach(), expected, atol=1e-6)


def watching(attention, seen):
    """Keep every value of one module by the last part of its point's name."""
    from transformer.hooks import Hooked

    class Alone(Hooked):
        def __init__(self):
            super().__init__()
            self.attention = attention
            self.name_hook_points()

    def keep(value, name):
        seen[name.removeprefix("attention.")] = value

    alone = Alone()
    return alone.hooks(dict.fromkeys(alone.hook_points(), keep))
