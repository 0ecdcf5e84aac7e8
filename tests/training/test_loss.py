"""The chunked loss against plain NumPy in float64 and PyTorch's own cross-entropy."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from training.loss import label_smoothed_loss, positions_at_once, r_drop_loss, with_bias

V, D = 23, 6


def _example(rows: int = 13) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    x = torch.randn(rows, D, dtype=torch.float64, requires_grad=True)
    W = torch.randn(V, D, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(1, V, (rows,))
    labels[::5] = 0  # padding
    return x, W, labels


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_value_is_the_formula(epsilon: float) -> None:
    x, W, labels = _example()
    logits = x.detach().numpy() @ W.detach().numpy().T
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    target = np.full((len(labels), V), epsilon / V)
    target[np.arange(len(labels)), labels] += 1 - epsilon
    expected = -(target * log_p).sum(1)[labels.numpy() != 0].sum()
    loss = label_smoothed_loss(x, W, labels, epsilon, chunk=4).detach()
    assert float(loss) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("chunk", [4, 500])
def test_gradients_are_those_of_pytorch_whatever_the_chunks(chunk: int) -> None:
    x, W, labels = _example()
    label_smoothed_loss(x, W, labels, 0.1, chunk=chunk).mul(0.7).backward()
    ours = x.grad, W.grad
    x.grad = W.grad = None
    reference = F.cross_entropy(
        x @ W.T, labels, ignore_index=0, label_smoothing=0.1, reduction="sum"
    )
    reference.mul(0.7).backward()
    torch.testing.assert_close(ours[0], x.grad, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(ours[1], W.grad, rtol=1e-5, atol=1e-6)


def test_a_bias_of_each_piece_counts_and_learns() -> None:
    x, W, labels = _example()
    bias = torch.randn(V, dtype=torch.float64, requires_grad=True)
    loss = label_smoothed_loss(*with_bias(x, W, bias), labels, 0.1, chunk=4)
    loss.backward()
    ours, parts = loss.item(), [part.grad for part in (x, W, bias)]
    x.grad = W.grad = bias.grad = None
    reference = F.cross_entropy(
        F.linear(x, W, bias), labels, ignore_index=0, label_smoothing=0.1, reduction="sum"
    )
    reference.backward()
    assert ours == pytest.approx(reference.item(), rel=1e-6)
    for own, part in zip(parts, (x, W, bias), strict=True):
        torch.testing.assert_close(own, part.grad, rtol=1e-5, atol=1e-6)


def test_it_computes_in_the_type_of_autocast() -> None:
    x, W, labels = (t.float().detach() if t.is_floating_point() else t for t in _example())
    exact = label_smoothed_loss(x, W, labels, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = label_smoothed_loss(x, W, labels, 0.1)
    assert rounded.dtype == torch.float32
    assert float(rounded) == pytest.approx(float(exact), rel=0.02)
    assert float(rounded) != float(exact)


def test_what_smoothing_spreads_is_summed_in_float32_in_autocast() -> None:
    torch.manual_seed(0)
    # whole numbers, so that no logit is rounded; the mean over the vocabulary is
    x, W = (torch.randint(-3, 4, shape).float() for shape in ((40, D), (V, D)))
    labels = torch.randint(1, V, (40,))
    with torch.autocast("cpu", torch.bfloat16):
        nothing, everything = (label_smoothed_loss(x, W, labels, epsilon) for epsilon in (0.0, 1.0))
    expected = ((W[labels] - W.double().mean(0)) * x).sum()
    assert float(everything - nothing) == pytest.approx(float(expected), abs=1e-3)


def test_r_drop_is_the_mean_loss_plus_the_divergence_of_two_passes() -> None:
    torch.manual_seed(1)
    twice = torch.randn(4, 5, D, dtype=torch.float64)  # two sentences, twice
    _, W, _ = _example()
    labels = torch.randint(1, V, (2, 5))
    labels[1, 3:] = 0
    p = torch.softmax(twice @ W.detach().T, -1).unflatten(0, (2, 2)).numpy()
    real = labels.numpy() != 0
    p, q = p[0][real], p[1][real]
    divergence = (p * np.log(p / q)).sum() + (q * np.log(q / p)).sum()
    losses = label_smoothed_loss(twice, W, labels.repeat(2, 1), 0.1).detach()
    expected = float(losses) / 2 + 5 * divergence / 4
    actual = r_drop_loss(twice, W, labels, 0.1, weight=5.0)
    assert float(actual.detach()) == pytest.approx(expected, rel=1e-5)
    actual.backward()
    assert W.grad is not None


def test_a_large_vocabulary_has_fewer_positions_in_memory_at_one_time() -> None:
    assert positions_at_once(torch.empty(8_000, 1)) == 1024
    assert positions_at_once(torch.empty(37_000, 1)) * 37_000 <= 2**24
    assert positions_at_once(torch.empty(1, 1).expand(2**25, 1)) == 1
