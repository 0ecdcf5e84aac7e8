"""Alignment settings of a checkpoint: the map of cross-attention, and its error on gold links."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from transformer.analysis.lenses.names import HAS_HEADS, NAMES, LensName
from transformer.choices import check_choices
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.files.reading import read_bytes
from transformer.kinds import ROWS, Row
from transformer.translation.loaded_model import LoadedModel

FILE = "alignment.json"
MAX_BYTES = 4_096
MAX_NAME_LENGTH = 200
"""Characters of the name of a gold set."""

Links = Literal["each", "mutual"]
"""Each target word with its strongest source word; or only those that hold both ways."""
LINKS: tuple[Links, ...] = get_args(Links)


@dataclass(frozen=True)
class GoldFigures:
    """Alignment error on a gold set, whose links people drew and which chose the map."""

    name: str  # the name of the gold set
    sentences: int  # the number of its sentences
    aer: float  # alignment error rate, 0 to 100 (Och & Ney 2003)


@check_choices
@dataclass(frozen=True)
class AlignmentSettings:
    """The map of cross-attention that aligns words."""

    layer: int  # the layer of the decoder, from 0
    head: int | None  # the head, from 0; None is the whole layer
    row: Row  # the row that stands for a target word
    lens: LensName  # the lens through which the attention is seen
    links: Links  # the rule by which the strongest pairs count
    gold: GoldFigures | None = None  # its error on gold links; None if it was never measured

    @property
    def map_title(self) -> str:
        """The map as the screen names it: `L2 H5`, or `layer 2` for all of its heads."""
        if self.head is None:
            return f"layer {self.layer + 1}"
        return f"L{self.layer + 1} H{self.head + 1}"

    def map_in_words(self) -> str:
        """Describe the map in one line, layers and heads from 1."""
        part = "all heads" if self.head is None else f"head {self.head + 1}"
        return f"layer {self.layer + 1}, {part}, row that {self.row} the word, lens {self.lens}"

    def in_words(self) -> str:
        """Describe the settings in one line, layers and heads from 1."""
        map_ = self.map_in_words()
        rule = "both ways" if self.links == "mutual" else "for each target word"
        if self.gold is None:
            return f"{map_}, strongest {rule}; never measured on gold links"
        return (
            f"{map_}, strongest {rule}; AER {self.gold.aer:.1f} on the "
            f"{self.gold.sentences:,} sentences of {self.gold.name}, which chose this map"
        )

    def to_json(self) -> str:
        """Format the settings as the text that `read` reads."""
        return json.dumps(asdict(self), indent=2) + "\n"


def fallback(config: TransformerConfig) -> AlignmentSettings:
    """Return the default settings of a checkpoint that was not evaluated on gold links.

    The last layer, in the row that writes: whatever the depth, the word that comes next is what
    this row is for. The norm, since much weight lies on vectors of no length (Kobayashi 2020).
    """
    return AlignmentSettings(config.decoder.N - 1, None, "writes", "norm", "mutual")


def read_alignment(loaded: LoadedModel) -> AlignmentSettings:
    """Read the settings of a loaded model; see `read`."""
    return read(loaded.folder, loaded.model.config)


def read(folder: Path, config: TransformerConfig) -> AlignmentSettings:
    """Read the settings of a checkpoint folder, or the defaults where it states none."""
    path = folder / FILE
    if not path.is_file():
        return fallback(config)
    names = "layer, head, row, lens, links and gold"
    return read_file(path, names, lambda values: from_values(values, config))


_Settings = TypeVar("_Settings")
_Choice = TypeVar("_Choice", bound=str)


class WrongValueError(Exception):
    """A value that the settings cannot have."""


def read_file(path: Path, names: str, convert: Callable[[Any], _Settings]) -> _Settings:
    """Read a JSON file of settings by `convert`, which raises `WrongValueError`.

    An error lists the `names` of the values that it must have.
    """
    try:
        return convert(json.loads(read_bytes(path, MAX_BYTES)))
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{path} does not say {names}: copy the folder again.") from error
    except WrongValueError as error:
        raise CheckpointError(f"{path} says {error}: copy the folder again.") from error


def from_values(values: Any, config: TransformerConfig) -> AlignmentSettings:
    """Convert the values of a file to settings of a model.

    Raises:
        WrongValueError: if the model or the settings cannot have a value.
        KeyError, TypeError: if they are no such values.
    """
    head = None
    if values["head"] is not None:
        head = _counted("head", values["head"], config.decoder.h)
        if values["lens"] not in HAS_HEADS:
            lens = quoted(values["lens"])
            raise WrongValueError(f"head = {head}, but the lens {lens} does not tell heads apart")
    return AlignmentSettings(
        layer=_counted("layer", values["layer"], config.decoder.N),
        head=head,
        row=one_of("row", values["row"], ROWS),
        lens=one_of("lens", values["lens"], NAMES),
        links=one_of("links", values["links"], LINKS),
        gold=gold_figures(values["gold"]),
    )


def gold_figures(values: Any) -> GoldFigures | None:
    """Convert the values of figures, or None; raise as `from_values` does."""
    if values is None:
        return None
    name, sentences, aer = values["name"], values["sentences"], values["aer"]
    is_text = isinstance(name, str) and name.strip() and name.isprintable()
    if not is_text or len(name) > MAX_NAME_LENGTH:
        raise WrongValueError(f"gold name = {quoted(name)}")
    if type(sentences) is not int or sentences < 1:
        raise WrongValueError(f"gold sentences = {quoted(sentences)}")
    if type(aer) not in (int, float) or not 0 <= aer <= 100:  # NaN is in no range
        raise WrongValueError(f"gold aer = {quoted(aer)}, which must be from 0 to 100")
    return GoldFigures(name, sentences, float(aer))


def _counted(name: str, value: Any, count: int) -> int:
    if type(value) is not int or not 0 <= value < count:
        raise WrongValueError(
            f"{name} = {quoted(value)}, but this model has {name}s 0 to {count - 1}"
        )
    return value


def one_of(name: str, value: Any, choices: tuple[_Choice, ...]) -> _Choice:
    """Return the choice that a value is; raise `WrongValueError` if it is none."""
    for choice in choices:
        if value == choice:
            return choice
    raise WrongValueError(f"{name} = {quoted(value)}, which must be one of {', '.join(choices)}")
