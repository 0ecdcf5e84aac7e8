"""Names of the lenses, notes under maps, and captions of pictures that are saved."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from transformer.analysis.lenses import HAS_HEADS, LENSES, NAMES, AnyLens
from transformer.files import installed
from transformer.kinds import KIND_TITLES, Kind
from transformer.translator import Translator
from viz.draw import attention_map, labels

ALL_HEADS = "all heads"  # in the place of a head, under a lens that does not tell them apart

WITHOUT_SINKS = "without sinks"
"""Suffix of titles, captions and file names of maps whose rows are rescaled without sinks."""

LENS_NAMES: dict[AnyLens, str] = {lens.name: lens.title for lens in LENSES.values()}
"""Names of the lenses on the screen."""

LENSES_BY_NAME: dict[str, AnyLens] = {LENS_NAMES[lens]: lens for lens in NAMES}
"""By their names in the URL."""

NORMS_BY_NAME: dict[str, AnyLens] = {
    lens.variant: lens.name for lens in LENSES.values() if lens.variant
}
"""What the lens of norms measures, by its name in the URL."""

_DROPPED = "what special tokens get is left out of"


def tells_heads(lens: AnyLens) -> bool:
    """Return whether a lens has a value for each head."""
    return lens in HAS_HEADS


def map_unit(lens: AnyLens) -> str:
    """Name the part of the model that has one map."""
    return "head" if tells_heads(lens) else f"layer, {ALL_HEADS} together"


def title_end(lens: AnyLens, *, sinks: bool = True) -> list[str]:
    """Return the end of a map's title: any lens but the weights, and rows scaled without sinks."""
    names = [] if lens == "weights" else [LENS_NAMES[lens]]
    return names if sinks else [*names, WITHOUT_SINKS]


def amount(lens: AnyLens) -> str:
    """Name the quantity that one square of a map holds."""
    return "weight" if lens == "weights" else "share"


def row_note(lens: AnyLens, kind: Kind, *, special: bool = True, sinks: bool = True) -> str:
    """Return the note under a map on its rows: cut short, or scaled, by what is left out."""
    if lens == "weights" and sinks:
        return attention_map.NOTE if special else f"In each row, {_DROPPED} the sum."
    note = f"Each square is its share of its row's {LENSES[lens].shares}"
    if LENSES[lens].without_residual and kind == "cross":
        note += ", the residual aside"
    if not sinks:
        note += f" {WITHOUT_SINKS}"
    return f"{note}." if special else f"{note}; {_DROPPED} the map."


_DIGITS = 16  # of a checksum: enough to tell any two checkpoints apart
_SLUG = 40  # letters of a sentence in a file name


@dataclass(frozen=True)
class Origin:
    """The sentence and the model that a picture was made from."""

    source: str
    target: str
    model: str  # "" where it is unknown
    checksum: str  # SHA-256 of the checkpoint's manifest; "" where it has none

    @classmethod
    def from_translator(cls, translator: Translator, source: str, target: str) -> "Origin":
        """Describe the model and the sentence pair of a translator."""
        folder = translator.folder.resolve()
        bundled = (name for name, at in installed.BUNDLED_BY_NAME.items() if at.resolve() == folder)
        return cls(source, target, next(bundled, folder.name), translator.checksum)

    def caption(self, *part: str) -> list[str]:
        """Return the caption of a picture of a part of the model, such as a head."""
        return [self.pair, *part, f"{self.made_by}."]

    @property
    def pair(self) -> str:
        """The sentence and its translation."""
        return " → ".join(map(labels.quoted, filter(None, (self.source, self.target))))

    @property
    def made_by(self) -> str:
        """Program and model in words."""
        checksum = f", SHA-256 {self.checksum[:_DIGITS]}…" if self.checksum else ""
        model = f", model {self.model}" if self.model else ""
        return f"Headlight {_version()}{model}{checksum}"

    def file_name(self, part: str, ending: str) -> str:
        """Return a name of letters, digits and `-`, as `headlight-l3-h5-cross-dogs-bundled.csv`."""
        parts = ["headlight", _slug(part), _slug(self.source)[:_SLUG].strip("-"), _slug(self.model)]
        return "-".join(part for part in parts if part) + f".{ending}"


def head_caption(
    kind: Kind,
    layer: int | None,
    head: int | None,
    lens: AnyLens = "weights",
    *,
    sinks: bool = True,
) -> str:
    """Describe a head as `cross-attention, layer 3, head 5, lens: weights.`; None is a mean."""
    which = ["mean of all layers" if layer is None else f"layer {layer + 1}"]
    if not tells_heads(lens):
        which.append(f"{ALL_HEADS} together")
    else:
        whose = "their" if layer is None else "its"
        which.append(f"mean of {whose} heads" if head is None else f"head {head + 1}")
    return ", ".join([KIND_TITLES[kind], *which, lens_caption(lens, sinks=sinks)])


def grid_caption(lens: AnyLens = "weights", *, sinks: bool = True) -> str:
    """Describe all small maps as `every head, lens: weights.`."""
    return f"every {map_unit(lens)}, {lens_caption(lens, sinks=sinks)}"


def lens_caption(lens: AnyLens, *, sinks: bool = True) -> str:
    """Format the lens for the end of a caption, as `lens: weights.`."""
    return f"lens: {LENS_NAMES[lens]}{'' if sinks else f', {WITHOUT_SINKS}'}."


@cache
def _version() -> str:
    try:
        return version("headlight-attention")
    except PackageNotFoundError:  # a checkout that is not installed
        return "(not installed)"


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", text.lower()))
