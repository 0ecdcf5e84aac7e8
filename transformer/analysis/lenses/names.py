"""Names of the lenses, and what a lens is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from transformer.analysis.teacher_forcing import LayerMeasure
from transformer.arrays import AnyFloats
from transformer.choices import check_choices
from transformer.kinds import Kind
from transformer.trace import AttentionTrace

LensName = Literal["weights", "norm", "alti", "rollout", "gradient", "value_zeroing"]
NAMES: tuple[LensName, ...] = get_args(LensName)

NormVariant = Literal["norm_layer_norm", "norm_residual"]
VARIANTS: tuple[NormVariant, ...] = get_args(NormVariant)
"""Options of the lens "norm", named like lenses of their own: all that takes a lens takes them."""

AnyLens: TypeAlias = LensName | NormVariant


@check_choices
@dataclass(frozen=True)
class Lens:
    """A measure of how much a query takes from a key."""

    name: AnyLens
    title: str  # on the screen and in links
    about: str  # in one line, for its menu
    shares: str  # what the squares of a row are shares of
    formula: str  # of a square, in Markdown
    function: Callable[..., object]  # that computes it
    # from the values of one pass; None: the function takes model and trace, and gives every kind
    measure: LayerMeasure | None
    has_heads: bool  # whether it tells the heads apart; else its values are of whole layers
    # from a trace alone, a call of the last argument for each layer; None: it needs the model
    of_trace: Callable[[AttentionTrace, Kind, Callable[[], None]], AnyFloats] | None = None
    signed: bool = False  # whether there are values below 0, of what speaks against the words
    without_residual: bool = False  # whether cross-attention leaves out its share
    variant: str = ""  # in the menu of norms, for a norm
    at_once: int = 200  # subwords up to which it takes less than a second
