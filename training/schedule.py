"""The learning rate: up linearly, then down with the inverse square root (§5.3, equation 3)."""

from __future__ import annotations


def learning_rate(step: int, d_model: int, warmup: int = 4000, factor: float = 1.0) -> float:
    """lrate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5).

    Args:
        step: the update that is about to be made, counted from 1.
        d_model: width of the model.
        warmup: number of steps on the way up.
        factor: multiplies the whole; 1 in the paper.
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
