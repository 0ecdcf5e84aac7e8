"""Below “Where it comes from”: how evenly cross-attention covers the source, beside your lines."""

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.attention_mass import (
    NEAREST,
    distance_to_even,
    distance_to_lines,
    source_mass,
)
from transformer.analysis.teacher_forcing import Progress
from transformer.arrays import Floats
from transformer.corpus import result_file
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.measuring import trace_of
from viz.app.cache import cached_results, memory
from viz.app.chrome.explanations import as_markdown, function_name
from viz.app.links.navigation import OWN_LINES
from viz.app.view import Content, Offer, compute, compute_on_request, list_file
from viz.draw.formatting import per_cent

MAX_LINES = 200  # lines that a sentence is compared with, the first ones
LIMITS = (
    "Large distances point to translations that are detached from the source (Guerreiro et al. "
    "2023). In 120 captions with planted damage, translated by the bundled model, they find less "
    "than the shares above: the translation of another sentence with AUC 0.74 and 0.72 (mean share "
    "0.92, log p 1.00), one without a third of the words with 0.54 and 0.60, where 0.5 is chance."
)
"""Limits of the distances, with the figures of `docs/figures.md`."""


def show_mass(translator: Translator, trace: AttentionTrace) -> None:
    """Draw the distance to even, and those to measured lines when the user asks for them."""
    mass = compute("mass", source_mass, trace)
    even = compute("even", distance_to_even, mass)
    text = (
        f"Attention mass: {per_cent(even)} of the cross-attention of all heads would have to move "
        f"for all source subwords to receive the same"
    )
    own = _own_lines(translator)
    if own is not None:
        key, lines = own
        file = Content(Path("headlight-corpus.safetensors"))  # as “Corpus” saves it
        list_file("lines", lines, key, result_file.from_bytes, file, translator)
        offer = Offer("attention-mass", "Tracing lines", "Compare its attention with your lines")
        masses = compute_on_request("masses", offer, line_masses, translator, lines, MAX_LINES)
        if masses:
            apart, evener, nearer = map(
                per_cent, compute("beside_lines", compare_mass, mass, trace.source, masses)
            )
            text += (
                f", more than in {evener} of {len(masses)} lines. To be spread as in the {NEAREST} "
                f"most similar of these lines, {apart} would have to move, more than in {nearer} "
                f"of them"
            )
    st.caption(f"{as_markdown(f'{text}. {LIMITS}')} {function_name(distance_to_even)}")


def _own_lines(translator: Translator) -> tuple[Hashable, MeasuredLines] | None:
    """Find the lines that the user has measured with this model, with their key."""
    own = st.session_state.get(OWN_LINES)
    if own is None or own.model != cached_results.identity(translator):
        return None
    key = "measured lines", own.key
    lines = memory.recall(key)
    return None if lines is None else (key, lines)


def line_masses(
    translator: Translator,
    lines: MeasuredLines,
    count: int,
    *,
    progress: Progress = lambda _done, _total: None,
) -> list[tuple[str, Floats, float]]:
    """Return source, mass, and distance to the others of so many lines, the first ones."""
    pairs = lines.pairs[:count]
    masses: list[Floats] = []
    for pair in pairs:
        masses.append(source_mass(trace_of(translator, pair)))
        progress(len(masses), len(pairs))
    rest = ([*masses[:n], *masses[n + 1 :]] or masses for n in range(len(masses)))
    apart = map(distance_to_lines, masses, rest)
    return list(zip((pair.source for pair in pairs), masses, apart, strict=True))


def compare_mass(
    mass: Floats, source: str, masses: Sequence[tuple[str, Floats, float]]
) -> tuple[float, float, float]:
    """Return a mass's distance to those of other lines, and two shares of all `line_masses`.

    They are the shares of lines that are more even, and that are nearer to the others.
    """
    even = distance_to_even(mass)
    others = [other for text, other, _ in masses if text != source]
    apart = distance_to_lines(mass, others or [mass])
    below = [(distance_to_even(other) < even, near < apart) for _, other, near in masses]
    evener, nearer = np.mean(below, axis=0).tolist()
    return apart, evener, nearer
