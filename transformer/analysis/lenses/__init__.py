"""The lenses: six ways to say how much a query takes from a key, in one place and one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from transformer.analysis.lenses import alti, gradient, norm_lens, rollout, value_zeroing
from transformer.analysis.teacher_forcing import Array, Progress, patterns, to_array
from transformer.errors import CheckpointError, InputError, quoted
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translator import Translator

Floats: TypeAlias = npt.NDArray[np.float32]

LensName = Literal["weights", "norm", "alti", "rollout", "gradient", "value_zeroing"]
NAMES: tuple[LensName, ...] = get_args(LensName)

HAS_HEADS: frozenset[LensName] = frozenset({"weights", "norm", "gradient"})
"""Lenses that tell the heads apart; the others are of whole layers."""

SIGNED: frozenset[LensName] = frozenset({"gradient"})
"""Lenses with values below 0: what speaks against the words that were written."""


def lens(
    name: LensName,
    translator: Translator,
    trace: AttentionTrace,
    kind: Kind,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """See one kind of attention through one lens.

    | name | value | source |
    |---|---|---|
    | weights | softmax(QKᵀ / √d_k), 0 to 1, rows sum to 1 | §3.2.1 |
    | norm | ‖α_ij x_j W_V W_O‖₂, in units of the residual stream | `norm_lens` |
    | alti | share of the output of the layer's attention, 0 to 1 | `alti` |
    | rollout | share by weights through all layers, 0 to 1, rows sum to 1 | `rollout` |
    | gradient | A ⊙ ∂ log P(y|x) / ∂A, in nats, signed | `gradient` |
    | value_zeroing | 1 − cos of the layer's output without this value, 0 to 2 | `value_zeroing` |

    Each lens runs the model anew over the pieces of the trace, in the precision of the model, with
    the hooks of the current context: it gives the same numbers each time.

    Args:
        trace: a sentence pair; of it, only the pieces are used.
        kind: of attention.
        progress: called after each layer with the number done and the number of all.

    Returns:
        `[layer, head, query, key]`, or `[layer, query, key]` unless the name is in `HAS_HEADS`.
        Rows of `alti` sum to 1, but in `cross` to what does not come from the residual.

    Raises:
        InputError: if there is no such lens or kind, or the trace does not fit the model.
        CheckpointError: if the weights are so large that what is computed is not finite.
    """
    if name not in NAMES:
        raise InputError(f"There is no lens {quoted(name)}: choose one of {', '.join(NAMES)}.")
    if kind not in KINDS:
        raise InputError(
            f"There is no kind of attention {quoted(kind)}: choose one of {', '.join(KINDS)}."
        )
    values = _LENSES[name](translator.model, trace, kind, progress)
    if not np.isfinite(values).all():
        raise CheckpointError(
            f"The model of {translator.folder} computes numbers that are not finite, so the lens "
            f"{name} shows nothing: take another checkpoint."
        )
    return values.astype(np.float32)


def as_rows(values: npt.NDArray[np.floating]) -> Floats:
    """Rows that sum to 1, as a map draws them: absolute values over their row's sum.

    A row of zeros stays one, and what is 0, such as the keys that a mask hides, stays 0.

    Args:
        values: `[..., query, key]`, of any lens.
    """
    size = np.abs(values).astype(np.float64)
    largest = size.max(-1, keepdims=True)  # tiny values would have a sum of 0 in float32
    size = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
    total = size.sum(-1, keepdims=True)
    rows: Floats = np.divide(size, total, out=size, where=total > 0).astype(np.float32)
    return rows


_Lens: TypeAlias = Callable[[Transformer, AttentionTrace, Kind, Progress | None], Array]


def _weights(
    model: Transformer, trace: AttentionTrace, kind: Kind, progress: Progress | None
) -> Array:
    values = to_array(patterns(model, trace, kind))
    if progress:
        progress(len(values), len(values))
    return values


def _alti(
    model: Transformer, trace: AttentionTrace, kind: Kind, progress: Progress | None
) -> Array:
    shares = alti.contributions(model, trace, kind, progress=progress)
    return shares[..., :-1] if kind == "cross" else shares


def _gradient(
    model: Transformer, trace: AttentionTrace, kind: Kind, progress: Progress | None
) -> Array:
    return gradient.gradient_times_attention(model, trace, progress=progress)[kind]


_LENSES: dict[LensName, _Lens] = {
    "weights": _weights,
    "norm": lambda model, trace, kind, done: norm_lens.head_norms(
        model, trace, kind, progress=done
    ),
    "alti": _alti,
    "rollout": lambda model, trace, kind, done: rollout.rollout(model, trace, kind, progress=done),
    "gradient": _gradient,
    "value_zeroing": lambda model, trace, kind, done: value_zeroing.value_zeroing(
        model, trace, kind, progress=done
    ),
}
