"""Views of the Positions page on tables: by the formula of §3.5 for any size, and a learned one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import InputError, embedding
from transformer.arrays import AnyFloats
from transformer.paper import positions
from transformer.paper.positions import Formula, Stack, cosines, exact_encoding, learned_positions
from transformer.paper.results import TABLE_3
from viz.app.chrome import charts, fields
from viz.app.chrome.explanations import explain, sources
from viz.app.model_variations import ROWS, TrainedRow, read
from viz.app.view import compute, figure, view
from viz.draw import labels
from viz.draw.formatting import format_difference, format_number, listing
from viz.figures import axes, forms
from viz.figures.positions import (
    MAX_DIMENSIONS,
    drawn_dimensions,
    encoding_map,
    format_wave,
    position_maps,
    rotation_figure,
    similarity_curves,
    wave_curves,
    wave_points,
    wavelength_chart,
)

PICTURE = "positions-picture"  # key of the picture of each view
MAX_SIZE = 1024  # largest length and width
DIMENSIONS = ("0", "64", "128", "129")
FIRST_DIMENSIONS = 16  # dimensions of M_k that are distinct on a phone
_WHOLE, _FIRST_ONLY = "whole", f"first {FIRST_DIMENSIONS} dimensions"


class Size(NamedTuple):
    """Length of the table and width of the model."""

    length: int
    d_model: int


@view("Encoding")
def encoding() -> None:
    """Draw the encoding as a map."""
    with fields.controls_row("positions-controls"):
        size = _size()
        formula = _pick_formula()
    _require_even(size)
    waves = compute("waves", positions.wavelengths, size.d_model, formula)
    table = compute("table", exact_encoding, range(size.length), size.d_model, formula)
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        charts.plotly_chart(
            figure("chart", encoding_map, table, waves),
            key="positional-encoding",
            alt="The encoding of each position (across) in each dimension (down).",
        )
    with explanation:
        divisor = _DIVISORS[formula]
        st.latex(
            rf"\begin{{aligned}} PE_{{(pos,\,2i)}} &= \sin(pos / {divisor}) \\ "
            rf"PE_{{(pos,\,2i+1)}} &= \cos(pos / {divisor}) \end{{aligned}}"
        )
        explain(
            _say(formula, size)
            + "The model adds a column to the token at that position. Each pair of rows is the "
            f"sine and cosine of one wave, from {format_wave(waves[0])} positions long at the top "
            f"to {format_wave(waves[-1])} at the bottom. Purple is above 0, olive below. "
            f"Above {MAX_DIMENSIONS} dimensions, only a sample is drawn (see the axis)."
            + sources("§3.5", embedding.sinusoidal_positions)
        )


@view("Curves")
def curves() -> None:
    """Draw single dimensions as curves, and the wavelengths of all."""
    with fields.controls_row("positions-controls"):
        size = _size()
        texts = st.multiselect(
            "Dimensions, from 0",
            [str(n) for n in (0, 1, 2, 4, 8, 16, 32, 64, 128, 129, 256)],
            default=DIMENSIONS,
            key="pe_dimensions",
            bind="query-params",
            accept_new_options=True,
            max_selections=len(axes.CURVE_COLORS),
            placeholder="Choose or type a dimension",
            width=420,
        )
        formula = _pick_formula()
    _require_even(size)
    dimensions = _dimensions(texts, size.d_model)
    if not dimensions:
        st.text("There is no curve yet: choose a dimension.")
        return
    waves = compute("waves", positions.wavelengths, size.d_model, formula)
    points = compute("points", wave_points, size.length)
    table = compute("table", exact_encoding, range(size.length), size.d_model, formula)
    between = compute("between", exact_encoding, points, size.d_model, formula)
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        charts.altair_chart(
            figure("chart", wave_curves, table, dimensions, waves, points, between),
            key="pe_curves",
            alt="The value of each chosen dimension over the positions.",
        )
    with explanation:
        charts.altair_chart(
            figure("chart_of_waves", wavelength_chart, waves, dimensions),
            key="pe_wavelengths",
            alt="The wavelength of every dimension on a logarithmic axis.",
        )
        last, never = f"Last pair, i = {len(waves) - 1}", "10000 · 2π, which no pair reaches"
        st.metric("First pair, i = 0", format_wave(waves[0]), width="content")
        st.metric(last, format_wave(waves[-1]), width="content")
        st.metric(never, f"{10_000 * 2 * np.pi:,.2f}", width="content")
        explain(
            (
                _say(formula, size)
                or r"Each wavelength, $2\pi \cdot 10000^{2i/d_\text{model}}$, is the same factor "
                f"longer than the one before. The last is {waves[-1]:,.2f}, below "
                r"10000 · 2π, because it has $2i = d_\text{model} - 2$."
            )
            + sources("§3.5", positions.wavelengths)
        )


@view("Similarity")
def similarity() -> None:
    """Draw the product of two positions over their distance."""
    with fields.controls_row("positions-controls"):
        size = _size()
    _require_even(size)
    length = size.length
    products = compute("products", positions.dot_products, *size)
    distances = range(1 - length, length)
    formula = compute("formula", positions.similarity, distances, size.d_model)
    error = compute("error", positions.similarity_error, products, size.d_model)
    starts = sorted({0, length // 4, length // 2, length - 1})
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        charts.altair_chart(
            figure("chart", similarity_curves, products, starts, formula),
            key="pe_similarity",
            alt="The product of two positions over their distance, for several positions.",
        )
    with explanation:
        st.latex(r"PE_{p} \cdot PE_{p+k} = \sum_i \cos(\omega_i k)")
        st.metric("Largest error", _small(error), width="content")
        explain(
            r"The product depends only on the distance, because "
            r"$\sin a \sin b + \cos a \cos b = \cos(a - b)$; here "
            r"$\omega_i = 10000^{-2i/d_\text{model}}$. It is largest, half of d_model, at distance "
            "0, and the same forwards and backwards. “Learned” has a map of it."
            + sources("§3.5", positions.similarity)
        )


@view("Rotation")
def rotation() -> None:
    """Draw M_k, and the error of M_k PE(pos) against PE(pos + k)."""
    with fields.controls_row("positions-controls"):
        size = _size()
        pos = fields.whole_number("Position pos", "pe_pos", 0, MAX_SIZE, 10, width=230)
        k = fields.whole_number("Distance k", "pe_k", 0, MAX_SIZE, 5, width=230)
        part = fields.choose_one("Draw", [_FIRST_ONLY, _WHOLE], "pe_part", labelled=True)
    _require_even(size)
    drawn: Sequence[int] = range(min(FIRST_DIMENSIONS, size.d_model))
    if part == _WHOLE:
        drawn = compute("dimensions", drawn_dimensions, size.d_model)
    matrix = compute("matrix", positions.rotation, k, size.d_model)
    pair = compute("pair", exact_encoding, (pos, pos + k), size.d_model)
    error = compute("error", positions.rotation_error, k, *size)
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        chart = figure("chart", rotation_figure, matrix, pair, drawn)
        alt = "The matrix of the rotation, a position, its product with it, and that k further."
        charts.plotly_chart(chart, key="rotation-of-positions", alt=alt)
    with explanation:
        st.latex(
            r"\begin{gathered} PE_{pos+k} = M_k\,PE_{pos} \\[4pt] \text{block } i:\ "
            r"\begin{pmatrix} \cos\omega_i k & \sin\omega_i k \\ "
            r"-\sin\omega_i k & \cos\omega_i k \end{pmatrix} \end{gathered}"
        )
        st.metric("Largest error, float64", _small(error.exact), width="content")
        st.metric("Largest error, float32 table", _small(error.model), width="content")
        explain(
            "Compare the two columns on the right: $M_k$ rotates each pair of dimensions by the "
            r"angle $\omega_i k$, whatever the position. So $PE_{pos+k}$ is a linear function of "
            "$PE_{pos}$. The paper’s hypothesis is that a model then easily learns to attend by "
            "relative positions: one projection finds “k tokens back” from everywhere. It is not "
            "tested there; *Why here* on Inside a head shows how much of a score comes from two "
            "positions. Largest error: over all "
            f"{size.d_model} dimensions and positions 0 to {size.length - 1}."
            + sources("§3.5", positions.rotation)
        )


_DIVISORS = {"paper": r"10000^{2i/d_\text{model}}", "misprint": r"10000^{2i} / d_\text{model}"}


def _pick_formula() -> Formula:
    return fields.choose_one("Formula", get_args(Formula), "pe_formula", labelled=True)


def _say(formula: Formula, size: Size) -> str:
    if formula == "paper":
        return ""
    first, second = positions.wavelengths(max(size.d_model, 4), formula)[:2]
    return (
        r"Notes on the paper print $pos / 10000^{2i} / d_\text{model}$. Read from left to right, "
        f"only the first pair moves, once in {format_wave(first)} positions; the second takes "
        f"{format_wave(second)}, so all others are flat and positions look alike. "
    )


def pick_stack() -> Stack:
    """Draw the choice of the stack."""
    with fields.controls_row("positions-controls"):
        return fields.choose_one("Stack", get_args(Stack), "pe_stack", labelled=True)


def _size() -> Size:
    length = fields.whole_number("Length, in positions", "pe_length", 2, MAX_SIZE, 128, width=280)
    width = fields.whole_number("Width d_model", "pe_width", 2, MAX_SIZE, 512, step=2, width=250)
    return Size(length, width)


def _require_even(size: Size) -> None:
    if size.d_model % 2:
        raise InputError(
            f"A width of {size.d_model} leaves a sine without its cosine: choose an even width, "
            f"such as {size.d_model + 1}."
        )


def _dimensions(texts: list[str], d_model: int) -> list[int]:
    usable = {text: text.strip().isdecimal() and len(text) <= 9 for text in texts}
    numbers = {text: int(text) if usable[text] else d_model for text in texts}
    for text, number in numbers.items():
        if number >= d_model:
            advice = f"choose from 0 to {d_model - 1}."
            st.text(f"A width of {d_model} has no dimension {labels.quoted(text)}: {advice}")
    return list(dict.fromkeys(number for number in numbers.values() if number < d_model))


def _small(number: float) -> str:
    digits, power = f"{number:.1e}".split("e")
    raised = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"{digits} · 10{format_number(int(power), 0).translate(raised)}" if number else "0"


PAPER = {"sinusoidal": TABLE_3[0], "learned": next(row for row in TABLE_3 if row.learned)}
"""Rows of the paper by the names of the small models trained here with the same change."""


@view("Learned")
def draw_learned() -> None:
    """Draw the similarity of the rows of a learned table, and where it was never trained."""
    stack = pick_stack()
    table = getattr(compute("tables", learned_positions, ROWS / "learned"), stack)
    length, d_model = table.shape
    waves = compute("waves", embedding.sinusoidal_positions, length, d_model)
    maps = {
        "sinusoidal": compute("of_waves", cosines, waves),
        f"learned, {stack}": compute("of_learned", cosines, table),
    }
    picture, explanation = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        hover = "positions %{y} and %{x}<br>cosine %{z:.3f}"
        charts.plotly_chart(
            figure("pairs", position_maps, maps, 1, hover, 440),
            key=f"learned-positions-{stack}",
            alt="How similar two positions of a table are.",
        )
        charts.altair_chart(
            figure("neighbours", neighbours_chart, maps, d_model**-0.5),
            key="pe_neighbours",
            alt="How similar each position and the next are.",
        )
    with explanation:
        trained: list[TrainedRow] = []
        for name, paper in PAPER.items():
            row = read(ROWS / name)
            if isinstance(row, str):
                st.text(row)
                continue
            trained.append(row)
            st.metric(
                f"{name} · BLEU and perplexity, validation",
                f"{row.bleu:.1f} · {row.perplexity:.2f}",
                help=f"After {row.steps:,} steps. The paper's far larger model: {paper.bleu} and "
                f"{paper.perplexity} on newstest2013 (Table 3).",
                width="content",
            )
        if len(trained) == len(PAPER):
            st.text(_explain_difference(*trained))
        explain(
            "A model with learned positions adds a row of a table instead of the waves. Rows "
            "beyond the longest training sentence keep their random first values: they are no more "
            "similar than chance (grey band, ± 2/√d_model). The waves continue there: see “Longer”."
            + sources("§3.5, Table 3, row E", embedding.Embedding.__init__)
        )


def _explain_difference(waves: TrainedRow, table: TrainedRow) -> str:
    paper_waves, paper_table = PAPER.values()
    steps = listing([f"{n:,}" for n in dict.fromkeys((waves.steps, table.steps))])
    lower, higher = sorted((waves.bleu, table.bleu))
    return (
        f"In the paper they are nearly identical: BLEU {paper_waves.bleu} with sinusoids and "
        f"{paper_table.bleu} with learned positions, after {paper_waves.steps},000 steps. Here "
        f"they differ: these two small models had {steps} steps: the "
        f"{format_difference(higher, lower, 1).lstrip('+')} BLEU between them show which learns "
        f"faster at first, not which would end better."
    )


def neighbours_chart(cosines: Mapping[str, AnyFloats], chance: float) -> alt.LayerChart:
    """Draw the cosine of each position with the next one, and that of random rows.

    `cosines` are of each two positions, `[position, position]`.
    """
    neighbours = {name: np.diagonal(values, 1) for name, values in cosines.items()}
    count = len(next(iter(neighbours.values())))
    lines = forms.curves(
        forms.long_form("table", "cosine", neighbours, position=range(count)),
        alt.X("position:Q", axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6)),
        alt.Y("cosine:Q", title="cosine, p and p + 1"),
        axes.curve_color("table", list(cosines), columns=len(cosines)),
        width=1.5,
        height=250,
        tooltip=forms.tips("table", position=("", ""), cosine=("", ".3f")),
    )
    random = alt.Chart(pd.DataFrame({"low": [-2 * chance], "high": [2 * chance]}))
    band = random.mark_rect(color=axes.GREY, opacity=0.25)
    return band.encode(alt.Y("low:Q", title="cosine, p and p + 1"), y2=alt.Y2("high:Q")) + lines
