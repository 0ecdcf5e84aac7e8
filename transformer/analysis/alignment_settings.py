"""Alignment settings of a checkpoint: the map of cross-attention, and its error on gold links."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from transformer import choices, errors, kinds
from transformer.analysis import lenses
from transformer.config import TransformerConfig
from transformer.files.documents import Count, Name, read_document
from transformer.translation import loaded_model

FILE = "alignment.json"
MAX_BYTES = 4_096
MAX_SENTENCES = 10**9

Links = Literal["each", "mutual"]
"""Each target word with its strongest source word; or only those that hold both ways."""
LINKS: tuple[Links, ...] = get_args(Links)


@dataclass(frozen=True)
class GoldFigures:
    """Alignment error on a gold set, whose links people drew and which chose the map."""

    name: Name  # the name of the gold set
    sentences: Annotated[int, 1, MAX_SENTENCES]  # the number of its sentences
    aer: Annotated[float, 0, 100]  # alignment error rate, 0 to 100 (Och & Ney 2003)


@choices.check_choices
@dataclass(frozen=True)
class AlignmentSettings:
    """The map of cross-attention that aligns words."""

    layer: Count  # the layer of the decoder, from 0
    head: Count | None  # the head, from 0; None is the whole layer
    row: kinds.Row  # the row that stands for a target word
    lens: lenses.LensName  # the lens through which the attention is seen
    links: Links  # the rule by which the strongest pairs count
    gold: GoldFigures | None = None  # its error on gold links; None if it was never measured

    @property
    def map_title(self) -> str:
        """The map as the screen names it: `L2 H5`, or `layer 2` for all of its heads."""
        if self.head is None:
            return f"layer {self.layer + 1}"
        return f"L{self.layer + 1} H{self.head + 1}"

    def describe_map(self) -> str:
        """Describe the map in one line, layers and heads from 1."""
        part = "all heads" if self.head is None else f"head {self.head + 1}"
        return f"layer {self.layer + 1}, {part}, row that {self.row} the word, lens {self.lens}"

    def describe(self) -> str:
        """Describe the settings in one line, layers and heads from 1."""
        map_ = self.describe_map()
        rule = "both ways" if self.links == "mutual" else "for each target word"
        if self.gold is None:
            return f"{map_}, strongest {rule}; never measured on gold links"
        return (
            f"{map_}, strongest {rule}; AER {self.gold.aer:.1f} on the "
            f"{self.gold.sentences:,} sentences of {self.gold.name}, which chose this map"
        )

    def require_map(self, config: TransformerConfig, path: Path) -> None:
        """Raise CheckpointError unless a model has this map; the error names the file."""
        problem = ""
        for name, value, count in (
            ("layer", self.layer, config.decoder.N),
            ("head", self.head or 0, config.decoder.h),
        ):
            if value >= count:
                problem = f"{name} = {value}, but this model has {name}s 0 to {count - 1}"
        if self.head is not None and self.lens not in lenses.HAS_HEADS:
            problem = f"head = {self.head}, but the lens '{self.lens}' does not tell heads apart"
        if problem:
            raise errors.CheckpointError(f"{path} says {problem}: copy the folder again.")

    def to_json(self) -> str:
        """Format the settings as the text that `read_alignment` reads."""
        return json.dumps(asdict(self), indent=2) + "\n"


def fallback(config: TransformerConfig) -> AlignmentSettings:
    """Return the default settings of a checkpoint that was not evaluated on gold links.

    The last layer, in the row that writes: whatever the depth, the word that comes next is what
    this row is for. The norm, since much weight lies on vectors of no length (Kobayashi 2020).
    """
    return AlignmentSettings(config.decoder.N - 1, None, "writes", "norm", "mutual")


def read_alignment(loaded: loaded_model.LoadedModel) -> AlignmentSettings:
    """Read the settings of a loaded model, or the defaults where its folder states none."""
    path, config = loaded.folder / FILE, loaded.model.config
    if not path.is_file():
        return fallback(config)
    settings = read_document(path, AlignmentSettings, MAX_BYTES)
    settings.require_map(config, path)
    return settings
