"""Names and descriptions of the lenses for screens, captions and files."""

from __future__ import annotations

from transformer.analysis.lenses import HAS_HEADS, NAMES, AnyLens
from transformer.kinds import Kind
from viz.draw.attention_map import NOTE

ALL_HEADS = "all heads"
"""In the place of a head, under a lens that does not tell them apart."""

LENS_NAMES: dict[AnyLens, str] = {
    "weights": "weights",
    "norm": "norms",
    "norm_layer_norm": "norms after LayerNorm",
    "norm_residual": "norms with residual and LayerNorm",
    "alti": "ALTI",
    "rollout": "rollout",
    "gradient": "gradient × weights",
    "value_zeroing": "value zeroing",
}
"""The lenses as the screen names them."""

LENSES_BY_NAME: dict[str, AnyLens] = {LENS_NAMES[lens]: lens for lens in NAMES}
"""By their names in the URL."""

NORMS_BY_NAME: dict[str, AnyLens] = {
    "of each head": "norm",
    "after LayerNorm": "norm_layer_norm",
    "with residual": "norm_residual",
}
"""What the lens of norms measures, by its name in the URL."""

_SHARES: dict[AnyLens, str] = {
    "norm": "‖αf(x)‖",
    "norm_layer_norm": "‖αf(x)‖ after LayerNorm",
    "norm_residual": "‖Σαf(x) + x‖ after LayerNorm",
    "alti": "contributions",
    "rollout": "weights, followed down to the input",
    "gradient": "|gradient × weight|",
    "value_zeroing": "changes, each with one value at zero",
}

_DROPPED = "what special tokens absorb is left out of"


def tells_heads(lens: AnyLens) -> bool:
    """Return whether a lens has a value for each head."""
    return lens in HAS_HEADS


def title_end(lens: AnyLens) -> list[str]:
    """Return the end of a map's title: weights are expected, any other lens is named."""
    return [] if lens == "weights" else [LENS_NAMES[lens]]


def amount(lens: AnyLens) -> str:
    """Name the quantity that one square of a map holds."""
    return "weight" if lens == "weights" else "share"


def row_note(lens: AnyLens, kind: Kind, *, special: bool = True) -> str:
    """Return the note under a map that says what a row is.

    Args:
        lens: the lens.
        kind: the kind of attention.
        special: whether `<s>` and `</s>` are shown, so that whole rows are.
    """
    if lens == "weights":
        return NOTE if special else f"Each row is one position that looks; {_DROPPED} its sum."
    note = f"Each square is its share of its row's {_SHARES[lens]}"
    if lens in ("alti", "norm_residual") and kind == "cross":
        note += ", the residual aside"
    return f"{note}." if special else f"{note}; {_DROPPED} the map."
