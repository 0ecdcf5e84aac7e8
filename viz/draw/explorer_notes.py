"""Notes under the pictures of the explorer, and the heading of its page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from transformer.text.languages import Side, code_of_name
from transformer.trace import AttentionTrace
from transformer.traces.notes import TOLERANCE
from viz.draw.labels import capitalised
from viz.draw.lens_words import row_note
from viz.draw.open_head import Heads
from viz.draw.packed_heads import Packing
from viz.draw.ribbons import FAINTEST


def map_note(heads: Heads, trace: AttentionTrace, *, special: bool) -> str:
    """Return the note under a map that says what a row is; it claims no sum that is not there."""
    if heads.lens != "weights":
        return row_note(heads.lens, heads.kind, special=special)
    if special and not _sums_to_one(heads, trace):
        return "Each row is one position that looks; not every row sums to 1."
    return row_note(heads.lens, heads.kind, special=special)


def _sums_to_one(heads: Heads, trace: AttentionTrace) -> bool:
    sums = heads.whole.weights.sum(-1)[trace.has_head(heads.kind)]  # [head, query]
    return bool((np.abs(sums - 1) <= TOLERANCE).all())


def ribbon_note(packing: Packing, threshold: float) -> str | None:
    """Return the note under ribbons with rounded numbers, else None."""
    if packing.exact:
        return None
    drawn_from = max(threshold, FAINTEST)
    return f"Ribbons from {drawn_from:g} up; numbers are steps of {_step(packing)}."


def _step(packing: Packing) -> str:
    return np.format_float_positional(packing.unit, precision=2, fractional=False)


def rounding_note(packing: Packing, exact_bytes: int) -> str | None:
    """Return the note on a page with rounded weights, else None.

    Args:
        packing: how the heads are written.
        exact_bytes: what all of them would take in float32.
    """
    if packing.exact:
        return None
    return (
        f"The weights are rounded to steps of {_step(packing)}, 16 bits each: exact ones would "
        f"take {exact_bytes / 1e6:,.0f} MB. A page of fewer layers or kinds holds exact ones."
    )


class NamedText(NamedTuple):
    """A text with what it is called, and the code of its language, "" where it is not known."""

    name: str
    text: str
    code: str


def named_texts(trace: AttentionTrace) -> list[NamedText]:
    """List the texts of a trace; an encoder or a decoder alone has neither side nor name."""
    languages = trace.languages
    texts: dict[Side, str] = {"source": trace.source, "target": trace.target}
    alone = is_alone(trace)
    return [
        NamedText(
            "Text" if alone else capitalised(languages.name(side)),
            text,
            code_of_name(languages.name(side)),
        )
        for side, text in texts.items()
        if text
    ]


def is_alone(trace: AttentionTrace) -> bool:
    """Return whether there is only one sentence, as in an encoder or a decoder alone."""
    return trace.kinds in (("encoder_self",), ("decoder_self",))
