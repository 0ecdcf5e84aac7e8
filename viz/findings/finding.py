"""A finding: a sentence, the numbers that it states, and the view that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from transformer.analysis.heads.head import Head
from viz.draw.labels import KINDS_BY_NAME, SCREEN_NAMES


class Claim(NamedTuple):
    """One number of a finding, which can be computed again from the same sentence.

    `measure` names the computation, and `arguments` are its arguments, such as a head and a cell,
    all from 0.
    """

    measure: str
    arguments: tuple[object, ...]
    value: float


@dataclass(frozen=True)
class Finding:
    """One thing that is worth seeing on a sentence: where, how much or what changed, never why."""

    text: str  # one plain sentence
    claims: tuple[Claim, ...]  # the numbers of the sentence
    strength: float  # how much it is worth seeing, from 0 to 1, by which findings are ranked
    page: str  # path of the page that shows it
    choices: Mapping[str, str] = field(default_factory=dict)  # its parameters in the URL


def head_choices(head: Head) -> dict[str, str]:
    """Return the URL parameters that open a head."""
    kind, layer, number = head
    return {"kind": SCREEN_NAMES[kind], "layer": str(layer + 1), "head": str(number + 1)}


def chosen_head(choices: Mapping[str, str]) -> Head:
    """Return the head that URL parameters open; see `head_choices`."""
    layer, number = int(choices["layer"]) - 1, int(choices["head"]) - 1
    return Head(KINDS_BY_NAME[choices["kind"]], layer, number)
