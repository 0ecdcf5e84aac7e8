"""The ribbons of some heads, between two lists of tokens: what travels for `js/ribbons`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from transformer.text.languages import Languages
from viz.draw.labels import axis_titles, display_tokens
from viz.draw.palette import ENDS, head_colors
from viz.draw.weights import check, named_rows
from viz.draw.wire import encode

if TYPE_CHECKING:
    from transformer.kinds import Kind
    from transformer.trace import Labels

MOST_HEADS = 8
NOTE = "Ribbons from {from_weight:g} up; numbers are exact."
FAINTEST = 0.01  # a thinner ribbon could not be seen, and there are thousands of them


def encode_ribbons(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: Labels,
    kind: Kind,
    *,
    languages: Languages,
    alone: bool = False,
    by_read: bool = False,
    threshold: float = 0.0,
    amount: str = "weight",
    reads: Sequence[str] | None = None,
    caption: Sequence[str] = (),
    writes: Sequence[str] | None = None,
) -> bytes:
    """Encode ribbons: queries left, keys right, a band for each weight between them.

    Args:
        heads: one to eight names, such as `L3 H5`, with weights `[query, key]`, 0 to 1. The first
            has the kind's colour; each can be switched off in the browser.
        labels: the tokens of both sides, pieces or whole words.
        kind: gives the first colour and the words over the lists.
        languages: of both sides, for the words over the lists.
        alone: whether there is but one sentence: see `axis_titles`.
        by_read: whether rows are named by what is read because what is written is not known.
        threshold: weights of less than this get no ribbon, nor do those of less than 0.01.
        amount: what a ribbon shows, in a word.
        reads: `[query]`, what the decoder reads at each row, where rows are named by what it
            writes; for the text on hover.
        writes: `[query]`, likewise where they are named by what it reads.
        caption: what the picture was made from, for a file that is saved.

    Raises:
        ValueError: if there is no head or more than eight, if two have one name, if a label is
            missing or too many, or a weight is not a number.
    """
    names = [name for name, _ in heads]
    if not 0 < len(heads) <= MOST_HEADS or len(set(names)) < len(names):
        raise ValueError(f"1 to {MOST_HEADS} heads, each with a name of its own, not {names}")
    for _, weights in heads:
        check(weights, labels, dimensions=2)
    drawn_from = max(threshold, FAINTEST)
    axes = axis_titles(kind, languages, by_read=by_read or writes is not None, alone=alone)
    meta = {
        "component": "ribbons",
        "caption": list(caption),
        "kind": kind,
        "heads": names,
        "colors": {theme: head_colors(kind, theme) for theme in ENDS},
        **axes._asdict(),
        "note": NOTE.format(from_weight=drawn_from),
        "from": drawn_from,
        "amount": amount,
        "queries": display_tokens(labels.queries),
        "keys": display_tokens(labels.keys),
        "rowNames": named_rows(reads, writes, labels),
    }
    stacked = np.stack([weights for _, weights in heads])  # [head, query, key]
    return encode(meta, {"weights": stacked.astype(np.float32)})
