"""Many sentences: what travels for `js/lines`, the list of them and the summary of their heads."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.corpus.head_summary import MEASURES, REACH, HeadSummary, OverSentences
from transformer.kinds import KIND_TITLES
from viz.draw.lens_words import amount, tells_heads
from viz.draw.open_head import short_name
from viz.draw.palette import COLOR, table
from viz.draw.wire import encode

if TYPE_CHECKING:
    from transformer.analysis.heads.head import Head
    from transformer.analysis.lenses import AnyLens
    from transformer.kinds import Kind

VARIES = "changes"
SHOWN_MEASURES = {
    **MEASURES,
    VARIES: "how far its rows by relative position lie from their mean in a single sentence, "
    "0 to 1",
}
"""What the summary shows of each head, by the names on the screen."""


class Side(NamedTuple):
    """Name of one side of the texts, and the code of its language, "" if unknown."""

    name: str
    code: str


@dataclass(frozen=True)
class ListedSentence:
    """A sentence as the list has it.

    Args:
        number: of its line, from 1; the page's address names it.
        source: as it was typed; "" where there is none, as with the target.
        target: its translation.
        log_p: natural logarithm of the translation's probability; None where it is not known.
        length: pieces of both sides.
        unlike: how far the heads of a kind differ from each other here, 0 to 1.
        sides: source and target; another line of one file may be in another language.
    """

    number: int
    source: str
    target: str
    log_p: float | None
    length: int
    unlike: float
    sides: tuple[Side, ...]


def encode_lines(
    sentences: Sequence[ListedSentence],
    heads: Mapping[Kind, Sequence[HeadSummary]],
    *,
    selected: Head,
    lens: AnyLens = "weights",
    caption: Sequence[str] = (),
) -> str:
    """Encode the message of `js/lines`, gzip in base64: no character of it can close a tag.

    Args:
        sentences: in the order of the file, at least one.
        heads: of each kind that is there, by layer and number.
        selected: the head that each sentence opens with; -1 for a mean.
        lens: through which the sentences are seen; one may tell no heads of a layer apart.
        caption: what the picture was made from, for a file that is saved.
    """
    meta = {
        "component": "lines",
        "caption": list(caption),
        "selected": selected,
        "together": not tells_heads(lens),
        "amount": amount(lens),
        "reach": REACH,
        "measures": SHOWN_MEASURES,
        "sentences": [_row(item) for item in sentences],
        "parts": [_part(kind, summaries, lens) for kind, summaries in heads.items()],
    }
    arrays: dict[str, NDArray] = {}
    for kind, summaries in heads.items():
        arrays[f"{kind}.profile"] = _profiles(summaries)
        arrays[f"{kind}.light"] = table(kind, "light")
        arrays[f"{kind}.dark"] = table(kind, "dark")
    return base64.b64encode(gzip.compress(encode(meta, arrays), mtime=0)).decode()


def _row(row: ListedSentence) -> list[Any]:
    unlike = round(row.unlike, 4)
    return [row.number, row.source, row.target, row.log_p, row.length, unlike, row.sides]


def _profiles(heads: Sequence[HeadSummary]) -> NDArray[np.float64]:
    """`[head, column]`, up to the position itself where nothing lies ahead, as in a decoder."""
    profiles = np.stack([summary.profile for summary in heads])
    ahead = profiles[:, REACH + 2 :]
    return profiles if ahead.any() else profiles[:, : REACH + 2]


def _part(kind: Kind, heads: Sequence[HeadSummary], lens: AnyLens) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": KIND_TITLES[kind],
        "color": COLOR[kind],
        "heads": [_head(summary, lens) for summary in heads],
    }


def _head(summary: HeadSummary, lens: AnyLens) -> dict[str, Any]:
    _, layer, head = summary.place
    values = {name: _as_list(value) for name, value in summary.values.items()}
    return {
        "layer": layer,
        "head": head,
        "name": short_name(lens, layer, head),
        "role": summary.role,
        "roles": list(summary.roles.items()),
        "values": {**values, VARIES: [summary.varies]},
    }


def _as_list(value: OverSentences) -> list[float | tuple[float, int]]:
    return [value.mean, value.deviation, value.lowest, value.highest]
