import math

import pytest
import torch

from transformer.dropout import Dropout

RATES = pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
MANY = 1 << 20


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(5)


def dropped(rate, *shape):
    """1 where an element was dropped, 0 where it was kept."""
    return (Dropout(rate)(torch.ones(*shape)) == 0).float()


def five_sigma(rate, draws):
    return 5 * math.sqrt(rate * (1 - rate) / draws)


def test_a_rate_that_rounds_to_1_drops_nearly_all():
    assert dropped(1 - 1e-6, MANY).mean().item() > 0.999


@RATES
def test_each_of_the_four_elements_of_a_draw_is_dropped_at_the_rate(rate):
    rates = dropped(rate, MANY // 4, 4).mean(0)
    assert rates.tolist() == pytest.approx([rate] * 4, abs=five_sigma(rate, MANY // 4))


@RATES
def test_what_is_kept_grows_so_that_the_mean_stays(rate):
    x = torch.rand(MANY) + 1
    y = Dropout(rate)(x)
    remaining = y != 0
    torch.testing.assert_close(y[remaining], x[remaining] / (1 - rate))
    assert y.mean().item() == pytest.approx(x.mean().item(), rel=0.02)


@pytest.mark.parametrize("apart", [1, 3, 4])
def test_neighbours_are_dropped_independently(apart):
    """Four neighbours share one 64-bit draw: nobody may notice."""
    rate = 0.3
    gone = dropped(rate, MANY)
    together = (gone[apart:] * gone[:-apart]).mean().item()
    assert together == pytest.approx(rate**2, abs=five_sigma(rate**2, MANY))


def test_a_seed_brings_the_same_mask_back():
    x, dropout = torch.randn(100), Dropout(0.5)
    torch.manual_seed(1)
    first = dropout(x)
    torch.manual_seed(1)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(dropout(x), first)


def test_gradients_flow_where_values_did():
    x = torch.randn(1000, requires_grad=True)
    y = Dropout(0.25)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, (y != 0) / 0.75)


def test_outside_training_everything_passes_through():
    x = torch.randn(9)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0)(x) is x
