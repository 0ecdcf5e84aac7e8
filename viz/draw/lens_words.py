"""What the screen, a caption and a file say of a lens."""

from __future__ import annotations

from transformer.analysis.lenses import HAS_HEADS, LensName
from transformer.kinds import Kind
from viz.draw.attention_map import NOTE

ALL_HEADS = "all heads"
"""In the place of a head, under a lens that does not tell them apart."""

LENS_NAMES: dict[LensName, str] = {
    "weights": "weights",
    "norm": "norms",
    "alti": "ALTI",
    "rollout": "rollout",
    "gradient": "gradient × weights",
    "value_zeroing": "value zeroing",
}
"""The lenses as the screen and the URL name them."""

LENSES_BY_NAME: dict[str, LensName] = {name: lens for lens, name in LENS_NAMES.items()}

_SHARES: dict[LensName, str] = {
    "norm": "‖αf(x)‖",
    "alti": "contributions",
    "rollout": "weights, followed down to the input",
    "gradient": "|gradient × weight|",
    "value_zeroing": "changes, each with one value at zero",
}

_DROPPED = "what <s> and </s> absorb is left out of"


def tells_heads(lens: LensName) -> bool:
    """Whether a lens tells the heads of a layer apart."""
    return lens in HAS_HEADS


def title_end(lens: LensName) -> list[str]:
    """What the title of a map ends with: weights are what people expect, any other is named."""
    return [] if lens == "weights" else [LENS_NAMES[lens]]


def amount(lens: LensName) -> str:
    """What one square of a map holds, in a word."""
    return "weight" if lens == "weights" else "share"


def row_note(lens: LensName, kind: Kind, *, special: bool = True) -> str:
    """The sentence under a map that says what a row is.

    Args:
        special: whether `<s>` and `</s>` are shown, so that whole rows are.
    """
    if lens == "weights":
        return NOTE if special else f"Each row is one word that looks; {_DROPPED} its sum."
    note = f"Each square is its share of its row's {_SHARES[lens]}"
    if lens == "alti" and kind == "cross":
        note += ", the residual aside"
    return f"{note}." if special else f"{note}; {_DROPPED} the map."
