"""Below “Where it comes from”: how evenly cross-attention covers the source, beside your lines."""

from functools import partial

import numpy as np
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.attention_mass import (
    NEAREST,
    distance_to_even,
    distance_to_lines,
    source_mass,
)
from transformer.arrays import Floats
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.measuring import trace_of
from viz.app import jobs
from viz.app.cache import cached_results, memory
from viz.app.chrome.explanations import as_markdown, function_name
from viz.app.links.navigation import OWN_LINES
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
    mass = source_mass(trace)
    even = distance_to_even(mass)
    text = (
        f"Attention mass: {per_cent(even)} of the cross-attention of all heads would have to move "
        f"for all source subwords to receive the same"
    )
    own = _own_lines(translator)
    compared = own and jobs.get_or_offer(
        "attention-mass", ("attention mass", own[0]), "Tracing lines", translator.folder,
        partial(_line_masses, own[1]), "Compare its attention with your lines",
    )  # fmt: skip
    if compared:
        others = [other for source, other, _ in compared if source != trace.source]
        apart = distance_to_lines(mass, others or [mass])
        below = [(distance_to_even(other) < even, near < apart) for _, other, near in compared]
        evener, nearer = map(per_cent, np.mean(below, axis=0).tolist())
        text += (
            f", more than in {evener} of {len(compared)} lines. To be spread as in the {NEAREST} "
            f"most similar of these lines, {per_cent(apart)} would have to move, more than in "
            f"{nearer} of them"
        )
    st.caption(f"{as_markdown(f'{text}. {LIMITS}')} {function_name(distance_to_even)}")


def mass_code(translator: Translator) -> str:
    """Return the code of what `show_mass` draws."""
    code = """
        # Attention mass
        result = attention_mass.distance_to_even(attention_mass.source_mass(trace))
    """
    if (own := _own_lines(translator)) and memory.recall(("attention mass", own[0])):
        code += f"""
        # Attention mass beside measured lines
        content = Path("headlight-corpus.safetensors").read_bytes()
        lines = result_file.from_bytes(content, translator)
        traces = [trace_of(translator, pair) for pair in lines.pairs[:{MAX_LINES}]]
        masses = [attention_mass.source_mass(x) for x in traces if x.source != trace.source]
        result = attention_mass.distance_to_lines(attention_mass.source_mass(trace), masses)
    """
    return code


def _own_lines(translator: Translator) -> tuple[str, MeasuredLines] | None:
    """Find the lines that the user has measured with this model, with their key."""
    own = st.session_state.get(OWN_LINES)
    if own is None or own.model != cached_results.identity(translator):
        return None
    lines = memory.recall(("measured lines", own.key))
    return None if lines is None else (own.key, lines)


def _line_masses(
    lines: MeasuredLines, translator: Translator, report: cached_results.Report
) -> list[tuple[str, Floats, float]]:
    """Return source, mass, and distance to the others of the first lines."""
    pairs = lines.pairs[:MAX_LINES]
    masses: list[Floats] = []
    for pair in pairs:
        masses.append(source_mass(trace_of(translator, pair)))
        report(len(masses), len(pairs))
    rest = ([*masses[:n], *masses[n + 1 :]] or masses for n in range(len(masses)))
    apart = map(distance_to_lines, masses, rest)
    return list(zip((pair.source for pair in pairs), masses, apart, strict=True))
