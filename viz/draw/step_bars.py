"""The top alternatives at each step as bars: what travels for `js/step_bars`, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from viz.draw.forced_prefix import forced_of
from viz.draw.labels import display_tokens
from viz.draw.wire import encode

TITLE = "What the model held probable at each step"
NOTE = "All bars from 0 to 1. In bold the piece that was written; a click on another one forces it."


def encode_bars(
    steps: Sequence[Sequence[tuple[str, float]]], *, caption: Sequence[str] = ()
) -> bytes:
    """Encode a column of probabilities for each step.

    Args:
        steps: `[step][1 + alternatives]`, pieces as `Piece.text` with their probabilities: the one
            that was written, then the others, most probable first.
        caption: what the picture was made from, for a file that is saved.

    Raises:
        ValueError: if there is no step, a step has no piece, or a probability is none.
    """
    if not steps or not all(steps):
        raise ValueError("a step without a piece cannot be drawn")
    values = [p for step in steps for _, p in step]
    if not all(0 <= p <= 1 + 1e-3 for p in values):
        raise ValueError("a probability outside of 0 to 1")
    texts = [text for step in steps for text, _ in step]
    meta = {
        "component": "step_bars",
        "caption": list(caption),
        "title": TITLE,
        "note": NOTE,
        # all at once, so that a piece is marked alike wherever it stands
        "labels": display_tokens(texts),
        "pieces": texts,
    }
    counts = np.array([len(step) for step in steps], dtype=np.uint32)
    probabilities = np.minimum(np.array(values, dtype=np.float32), 1)
    return encode(meta, {"counts": counts, "probabilities": probabilities})


def choice_of(
    value: object, steps: Sequence[Sequence[tuple[str, float]]]
) -> tuple[int, int] | None:
    """Return the clicked step and alternative, from 0 behind the written piece; None if malformed.

    What a browser sends can be anything; one that was chosen among other steps than these is None,
    too: the browser names the whole prefix that it wants.
    """
    if not isinstance(value, Mapping):
        return None
    return forced_of(
        value.get("step"),
        value.get("alternative"),
        value.get("prefix"),
        [step[0][0] for step in steps],
        [[text for text, _ in step[1:]] for step in steps],
    )
