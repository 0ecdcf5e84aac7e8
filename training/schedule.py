"""The learning rate: up linearly, then down with the inverse square root (§5.3, equation 3)."""


def cooldown_left(step: int, steps: int, cooldown: int) -> float:
    """Return 1, falling linearly to 0 over the last `cooldown` steps of a run. Not in the paper."""
    return min(1.0, (steps - step + 1) / cooldown) if cooldown else 1.0


def learning_rate(
    step: int, d_model: int, warmup: int = 4000, factor: float = 1.0, until_end: float = 1.0
) -> float:
    """Compute lrate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), steps counted from 1.

    Not in the paper: `factor` multiplies the whole, and so does `until_end`, the part of the
    cooldown that is still to come.
    """
    return float(factor * until_end * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
