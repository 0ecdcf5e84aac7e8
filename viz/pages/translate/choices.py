"""What else could have stood at each place: the most probable pieces of each step."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from transformer.analysis.logits.alternatives import Choice
from viz.app.formatting import format_probability
from viz.draw.labels import shown

OTHERS = 2
"""Pieces beside the one that was written."""


def show_choices(steps: Sequence[Sequence[Choice]]) -> None:
    """Draw each written piece with its probability, the next best ones below it.

    Args:
        steps: `[step]`, the written piece first.
    """
    # all at once, so that a piece is marked alike wherever it stands
    texts = iter(shown([choice.piece for step in steps for choice in step]))
    items = [_step([next(texts) for _ in step], step) for step in steps]
    st.html(f'<ol class="headlight-choices">{"".join(items)}</ol>')


def _step(texts: Sequence[str], choices: Sequence[Choice]) -> str:
    written, *others = [
        f"<bdi>{escape(text)}</bdi> <span>{probability(choice.probability)}</span>"
        for text, choice in zip(texts, choices, strict=True)
    ]
    below = "".join(f"<small>{other}</small>" for other in others)
    return f"<li><b>{written}</b>{below}</li>"


def probability(value: float) -> str:
    """A probability as HTML."""
    return escape(format_probability(value))
