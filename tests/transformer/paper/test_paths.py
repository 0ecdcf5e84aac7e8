"""Paths are counted over connections: against the formulas, a loop over edges, and real layers."""

from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from transformer.paper import paths
from transformer.paper.costs import LAYERS, RECURRENT, RESTRICTED, Sizes
from transformer.paper.paths import CONTIGUOUS, connections, longest_path, shortest_path
from transformer.text.special_tokens import OURS

EVERY = (*LAYERS, CONTIGUOUS)


def sizes(k: int = 3, r: int = 8) -> Sizes:
    return Sizes(d=8, k=k, r=r, h=1)


def counted(layer: str, n: int, start: int, end: int, some: Sizes) -> float:
    """Steps until a signal has spread to a position, by sets alone."""
    reached = {start}
    for step in range(n + 2):
        reached = {j for i in reached for j in connections(layer, step, i, n, some)}
        if end in reached:
            return step + 1
    return float("inf")


@pytest.mark.parametrize("layer", EVERY)
@pytest.mark.parametrize(("k", "r"), [(2, 2), (3, 8), (4, 5), (7, 64), (1, 1)])
def test_a_path_has_as_many_steps_as_formula_and_loop_say(layer: str, k: int, r: int) -> None:
    some = sizes(k, r)
    for n in (1, 2, 3, 8, 9, 10, 27, 28, 65):
        path = shortest_path(layer, n, 0, n - 1, some)
        steps = float("inf") if path is None else len(path) - 1
        assert steps == counted(layer, n, 0, n - 1, some) == longest_path(layer, n, some)
        if path is not None:
            assert (path[0], path[-1]) == (0, n - 1)
            for step, (before, after) in enumerate(pairwise(path)):
                assert after in connections(layer, step, before, n, some)


@pytest.mark.parametrize("layer", EVERY)
def test_between_any_two_words_no_path_is_shorter(layer: str) -> None:
    n, some = 9, sizes(3, 4)
    for start, end in product(range(n), repeat=2):
        path = shortest_path(layer, n, start, end, some)
        steps = float("inf") if path is None else len(path) - 1
        assert steps == counted(layer, n, start, end, some)


def test_the_papers_orders_of_growth() -> None:
    some = sizes(k=3, r=64)
    n = np.array([3.0**p for p in range(1, 8)])
    assert longest_path("self-attention", n, some).tolist() == [1] * 7
    assert longest_path(RECURRENT, n, some).tolist() == n.tolist()
    assert longest_path("convolutional", n, some).tolist() == [1, 2, 3, 4, 5, 6, 7]  # log_k n
    assert longest_path(CONTIGUOUS, n, some).tolist() == [
        1,
        4,
        13,
        40,
        121,
        364,
        1093,
    ]  # (n-1)/(k-1)
    assert longest_path(RESTRICTED, 64 + 32 * 5, some) == 6


@pytest.mark.parametrize("dilated", [True, False])
def test_a_gradient_takes_as_many_convolutions_as_counted(dilated: bool) -> None:
    """Kernels of ones that see their position and those before it, as torch computes them."""
    n, k = 20, 3
    layer = "convolutional" if dilated else CONTIGUOUS
    x = torch.zeros(1, 1, n, dtype=torch.float64, requires_grad=True)
    signal, step = x, 0
    while True:
        dilation = k**step if dilated else 1
        padded = nn.functional.pad(signal, ((k - 1) * dilation, 0))
        kernel = torch.ones(1, 1, k, dtype=torch.float64)
        signal, step = nn.functional.conv1d(padded, kernel, dilation=dilation), step + 1
        (gradient,) = torch.autograd.grad(signal[0, 0, -1], x, retain_graph=True)
        if gradient[0, 0, 0] > 0:
            break
    assert step == longest_path(layer, n, sizes(k))


def test_each_window_of_restricted_attention_has_r_positions() -> None:
    n, some = 20, sizes(r=6)
    seen = np.zeros((n, n), dtype=int)
    for position in range(n):
        seen[list(connections(RESTRICTED, 0, position, n, some)), position] = 1
    assert seen.sum(1).tolist() == [6] * n
    assert seen[10, 7:13].all()


def test_the_farthest_look_is_that_of_a_loop() -> None:
    def farthest(weights: np.ndarray) -> tuple[int, ...] | None:
        tokens = ["x", "x", ".", "x", "x", "x", "</s>"]
        trace: Any = SimpleNamespace(encoder_self=weights, source_tokens=tokens, special=OURS)
        return paths.farthest_look(trace)

    weights = np.random.default_rng(5).dirichlet([0.2] * 7, (2, 3, 7))
    sinks = [False, False, True, False, False, False, True]
    best = max(
        (abs(q - k), weights[layer, head, q, k], (layer, head, q, k))
        for layer, head, q, k in product(range(2), range(3), range(7), range(7))
        if weights[layer, head, q, k] >= 0.5 and not sinks[q] and not sinks[k]
    )
    assert farthest(weights) == best[2]
    assert farthest(np.eye(7)[None, None]) is None  # each at itself alone
    assert farthest(weights * 0.1) is None
