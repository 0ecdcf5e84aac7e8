"""The lenses: ways to say how much a query takes from a key, in one place and one shape."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from transformer.analysis.lenses.alti import ALTI
from transformer.analysis.lenses.decomposition import NORM, NORM_LAYER_NORM, NORM_RESIDUAL
from transformer.analysis.lenses.gradient import GRADIENT
from transformer.analysis.lenses.names import NAMES as NAMES
from transformer.analysis.lenses.names import VARIANTS as VARIANTS
from transformer.analysis.lenses.names import AnyLens as AnyLens
from transformer.analysis.lenses.names import Lens as Lens
from transformer.analysis.lenses.names import LensName as LensName
from transformer.analysis.lenses.rollout import ROLLOUT
from transformer.analysis.lenses.value_zeroing import VALUE_ZEROING
from transformer.analysis.lenses.weights import WEIGHTS
from transformer.analysis.teacher_forcing import (
    Progress,
    count_steps,
    measure_layers,
)
from transformer.arrays import AnyFloats, Singles
from transformer.choices import check_choices
from transformer.errors import CheckpointError, InputError, quoted
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from transformer.translator import Translator

_ALL = (
    WEIGHTS, NORM, NORM_LAYER_NORM, NORM_RESIDUAL, ALTI, ROLLOUT, GRADIENT, VALUE_ZEROING,
)  # fmt: skip
LENSES: dict[AnyLens, Lens] = {lens.name: lens for lens in _ALL}
"""The lenses by their names, in the order of menus."""

HAS_HEADS: frozenset[AnyLens] = frozenset(lens.name for lens in _ALL if lens.has_heads)
"""Lenses that tell the heads apart; the others are of whole layers."""

NEEDS_NO_MODEL: frozenset[AnyLens] = frozenset(lens.name for lens in _ALL if lens.of_trace)
"""Lenses that need no model where a trace has its weights."""

SIGNED: frozenset[AnyLens] = frozenset(lens.name for lens in _ALL if lens.signed)
"""Lenses with values below 0: what speaks against the words that were written."""


@check_choices
def lens(
    name: AnyLens,
    translator: Translator | None,
    trace: AttentionTrace,
    kind: Kind,
    *,
    progress: Progress | None = None,
) -> Singles:
    """Compute one kind of attention through one lens.

    - `weights`: softmax(QKᵀ / √d_k), 0 to 1, rows sum to 1 (§3.2.1).
    - `norm`: ‖α_ij f(x_j)‖₂, in units of the residual stream; f in `decomposition`.
    - `norm_layer_norm`: the same after the linearised LayerNorm.
    - `norm_residual`: that of all heads together, x_i on the diagonal.
    - `alti`: share of the output of the layer's attention, 0 to 1.
    - `rollout`: share by weights through all layers, 0 to 1, rows sum to 1.
    - `gradient`: A ⊙ ∂ log P(y|x) / ∂A, in nats, signed.
    - `value_zeroing`: 1 − cos of the layer's output without this value, 0 to 2.

    Each lens runs the model again over the pieces of the trace, in the precision of the model and
    with the hooks of the current context. It gives the same numbers each time.

    Args:
        name: the name of the lens, from `NAMES` or `VARIANTS`.
        translator: the model that made the trace. For the lenses in `NEEDS_NO_MODEL`, it can be
            None: they then use the weights of the trace, which can be of any model.
        trace: the trace of the sentence pair; with a model, only its pieces are used.
        kind: the kind of attention.
        progress: a callback after each layer, with the number of layers done and in total.

    Returns:
        `[layer, head, query, key]` if the name is in `HAS_HEADS`, otherwise `[layer, query, key]`.
        Rows of `alti` sum to 1. In `cross`, they sum to the share that does not come from the
        residual, which `norm_residual` leaves out there, too.

    Raises:
        InputError: if there is no such lens or kind, if the lens needs a model and there is none,
            if the trace does not fit the model, or if the model is in training mode.
        CheckpointError: if the weights are so large that the result is not finite.
    """
    return lens_of_kinds(name, translator, trace, (kind,), progress=progress)[kind]


@check_choices
def lens_of_kinds(
    name: AnyLens,
    translator: Translator | None,
    trace: AttentionTrace,
    kinds: Sequence[Kind] | None = None,
    *,
    progress: Progress | None = None,
) -> dict[Kind, Singles]:
    """Compute several kinds of attention, all unless given, through one `lens` from one pass."""
    kinds = trace.kinds if kinds is None else kinds
    if translator is None:
        of_trace = LENSES[name].of_trace
        if of_trace is None:
            raise InputError(
                f"The lens {name} needs the model that made the weights, and this trace has the "
                f"weights alone: choose one of {', '.join(sorted(NEEDS_NO_MODEL))}."
            )
        absent = next((kind for kind in kinds if kind not in trace.kinds), None)
        if absent is not None:
            raise InputError(f"This trace has no {absent}: choose one of {', '.join(trace.kinds)}.")
        step = count_steps(progress, sum(len(trace.weights(kind)) for kind in kinds))
        values = {kind: of_trace(trace, kind, step) for kind in kinds}
        return {kind: values[kind].astype(np.float32, copy=False) for kind in kinds}
    require_loaded(translator)
    measure, model = LENSES[name].measure, translator.model
    if measure is None:
        by_kind: Any = LENSES[name].function(model, trace, progress=progress)
    else:
        by_kind = measure_layers(measure, model, trace, kinds, progress)
    for kind in kinds:
        require_finite(by_kind[kind], name, translator)
    return {kind: by_kind[kind].astype(np.float32) for kind in kinds}


def require_loaded(translator: object) -> None:
    """Raise InputError for the folder of a model, which is easily given for its Translator."""
    if isinstance(translator, str | Path):
        raise InputError(
            f"{quoted(str(translator))} is not a Translator: give Translator.load of this folder."
        )


@check_choices
def require_finite(values: AnyFloats, name: AnyLens, translator: Translator) -> None:
    """Raise CheckpointError if not all that a lens gave is finite."""
    if not np.isfinite(values).all():
        raise CheckpointError(
            f"The model of {translator.folder} computes numbers that are not finite, so the lens "
            f"{name} shows nothing: take another checkpoint."
        )


def as_rows(values: AnyFloats) -> Singles:
    """Scale absolute values, `[..., query, key]`, by their row's sum; what is 0 stays 0."""
    size = np.abs(values).astype(np.float64)
    largest = size.max(-1, keepdims=True)  # tiny values would have a sum of 0 in float32
    size = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
    total = size.sum(-1, keepdims=True)
    return np.divide(size, total, out=size, where=total > 0).astype(np.float32)


@check_choices
def lens_trace(
    name: AnyLens,
    translator: Translator | None,
    trace: AttentionTrace,
    *,
    progress: Progress | None = None,
) -> AttentionTrace:
    """Replace the weights of a trace by the values of a lens, as shares of their rows.

    The arguments are those of `lens`; "weights" returns the trace unchanged.

    Returns:
        A trace of `[layer, head, query, key]`, with a single head if the lens does not tell heads
        apart (see `lenses.HAS_HEADS`). A row sums to 1, or to 0 if all of its values are 0.

    Raises:
        InputError: if there is no such lens, if the lens needs a model and there is none, or if the
            trace does not fit the model.
        CheckpointError: if the result is not finite.
    """
    if name == "weights":
        return trace
    weights: dict[Any, Any] = {}
    for kind, values in lens_of_kinds(name, translator, trace, progress=progress).items():
        shares = as_rows(values)
        weights[kind] = shares if shares.ndim == 4 else shares[:, None]  # one head for all
    return replace(trace, **weights, head_counts=trace.head_counts if name in HAS_HEADS else {})
