"""Names of the lenses, which load without torch."""

from typing import Literal, TypeAlias, get_args

LensName = Literal["weights", "norm", "alti", "rollout", "gradient", "value_zeroing"]
NAMES: tuple[LensName, ...] = get_args(LensName)

NormVariant = Literal["norm_layer_norm", "norm_residual"]
VARIANTS: tuple[NormVariant, ...] = get_args(NormVariant)
"""Options of the lens "norm", named like lenses of their own: all that takes a lens takes them."""

AnyLens: TypeAlias = LensName | NormVariant

HAS_HEADS: frozenset[AnyLens] = frozenset({"weights", "norm", "norm_layer_norm", "gradient"})
"""Lenses that tell the heads apart; the others are of whole layers."""

NEEDS_NO_MODEL: frozenset[AnyLens] = frozenset({"weights", "rollout"})
"""Lenses that need no model where a trace has its weights."""

SIGNED: frozenset[AnyLens] = frozenset({"gradient"})
"""Lenses with values below 0: what speaks against the words that were written."""
