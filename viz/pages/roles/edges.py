"""Edges on the view “Why this word?”: which heads work through which."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, HeadlightError, TransformerConfig, Translator
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.edges import (
    FACTOR,
    SEED,
    Edge,
    PatchedEdges,
    patch_edges,
)
from viz.app.chrome import charts, explanations, problems
from viz.app.view import Job, compute, compute_in_job
from viz.draw.formatting import counted, format_bound, format_number
from viz.draw.labels import SCREEN_NAMES, named_head, quoted
from viz.draw.palette import COLOR
from viz.figures import axes, forms
from viz.figures.head_scatter import PICKED
from viz.findings.passes import INPUT_NAMES, edge_text
from viz.pages.roles import head_charts

PATCH = "patch_edges"
"""Name in the URL: whether random edges are patched as well."""
MAX_SUBWORDS = 128
"""Longest side up to which edges are computed: beyond it they take too much time and memory."""

_LANDS = {"q": -0.25, "k": 0.0, "v": 0.25}
"""Where a line ends at its reader, beside its middle, in columns."""
_GAP = 2  # columns between the stacks
_ROW = 32  # height of a row of heads in CSS pixels
_BEND = 0.7  # rows that a line goes up before it turns
_WIDEST = 6  # CSS pixels


def show(
    translator: Translator, trace: AttentionTrace, step: int, other: int, head: Head,
    names: tuple[str, str],
) -> None:  # fmt: skip
    """Draw the strongest edges, beside random ones if the reader asks."""
    st.subheader("Which heads work through which", anchor=False)
    longest = max(len(trace.source_pieces), step + 1)
    if longest > MAX_SUBWORDS:
        st.text(f"This sentence has {longest} subwords: edges are drawn up to {MAX_SUBWORDS}.")
        return
    try:
        compared = st.toggle(
            "Compare with random edges", key=PATCH, bind="query-params", help=_HELP
        )
        given = translator.model, trace, step, other
        if compared:
            job = Job("Patching edges one by one")
            patched = compute_in_job("edges", job, patch_edges, *given, seed=SEED)
        else:
            patched = compute("edges", patch_edges, *given)
    except HeadlightError as error:
        problems.say(error)
        return
    if not patched.lost.any():
        st.text("At this step no head works through another one.")
        return
    table = edges_table(patched, compared=compared)
    st.text(_summary(patched, names))
    if compared:
        st.text(_comparison(patched))
    left, right = st.columns([10, 11], gap="medium")
    with left:
        place = f"{head.kind}-{head.layer}.{head.head}"
        charts.draw_clickable(
            edges_chart(translator.model.config, patched.edges, table, head),
            f"why-edges-{place}",
            all_heads(translator.model.config),
            f"The strongest {len(table)} edges between heads, which the table lists.",
        )
        st.caption(explanations.as_markdown(_legend(table, names)))
    with right:
        charts.data_table(table, "edges", {PATCHED: "%+.3f", ATTRIBUTED: "%+.3f"}, height=440)


_HELP = "Patches as many random edges, too, and marks those of the strongest that stand out."
INPUT, PATCHED, ATTRIBUTED, HOLDS = "input", "patched, nats", "estimated, nats", "holds"


def edges_table(patched: PatchedEdges, *, compared: bool) -> pd.DataFrame:
    """List the edges: writer, reader and its input, patched, estimated; `compared`: what holds."""
    table = pd.DataFrame(
        {
            "writer": [edge.writer.title for edge in patched.edges],
            "reader": [named_head(*edge.reader) for edge in patched.edges],
            INPUT: [INPUT_NAMES[edge.input] for edge in patched.edges],
            PATCHED: patched.lost,
            ATTRIBUTED: patched.attributed,
        }
    )
    return table.assign(**{HOLDS: patched.hold}) if compared else table


def _summary(patched: PatchedEdges, names: Sequence[str]) -> str:
    return (
        f"The {len(patched.edges)} edges with the largest estimates, patched one by one. The "
        f"strongest: {edge_text(patched.edges[0], float(patched.lost[0]), names)}"
    )


def _comparison(patched: PatchedEdges) -> str:
    random = np.abs(patched.random_lost)
    text = f"{int(patched.beat_random.sum())} of {len(patched.edges)} change the log-odds more "
    text += f"than each of {counted(len(random), 'random edge')} "
    text += f"(at most {format_bound(float(random.max(initial=0)), 3)} nats)."
    if not np.isnan(patched.correlation):
        text += " Rank correlation of estimated and patched (1: the same order): "
        text += f"{format_number(patched.correlation)}; of their sizes without signs, "
        text += f"{format_number(patched.size_correlation)}."
    text += " This shows that the estimate finds large edges. It does so in a model with random "
    return f"{text}weights, too: it does not show that the model has learnt these edges."


def _legend(table: pd.DataFrame, names: Sequence[str]) -> str:
    text = (
        f"A line goes from the head that writes up into the head that reads: left at its query, "
        f"middle at its key, right at its value. Click a head to open it. Purple speaks for "
        f"{quoted(names[0])}, olive for {quoted(names[1])}; widest line: "
        f"{table[PATCHED].abs().max():.2f} nats."
    )
    if HOLDS in table:
        dashed = int((~table[HOLDS]).sum())
        text += f" Dashed, {dashed} of {len(table)}: no more than a random edge, or the estimate "
        text += f"has the other sign or is wrong by more than a factor of {FACTOR:.0f}."
    return text


def _course(x: float, y: float, x2: float, y2: float, lands: float) -> list[tuple[float, float]]:
    """Return the points of a line that leaves one head upwards, and comes to another from below."""
    return [(x, y), (x, y + _BEND), (x2 + lands, y2 - _BEND), (x2 + lands, y2)]


def edges_chart(
    config: TransformerConfig, edges: Sequence[Edge], table: pd.DataFrame, opened: Head
) -> alt.LayerChart:
    """Draw edges, with their `edges_table`, between the heads of both stacks as Figure 1 has them.

    The encoder is on the left, layers go up. A click on a head selects it in `PICKED`.
    """
    heads, first = all_heads(config), config.h + _GAP  # the decoder's first column

    def place(head: Head) -> tuple[int, int]:
        column = head.head + (0 if head.kind == "encoder_self" else first)
        return column, 2 * head.layer + (head.kind == "cross")

    ends = [
        (writer, edge.reader, _LANDS[edge.input])
        for edge in edges
        if (writer := edge.writer.head) is not None
    ]
    points = [
        (number, point, at, row)
        for number, (writer, reader, lands) in enumerate(ends)
        for point, (at, row) in enumerate(_course(*place(writer), *place(reader), lands))
    ]
    lines = pd.DataFrame(points, columns=["edge", "point", "x", "y"]).join(
        pd.DataFrame(
            {
                "writer": table["writer"],
                "reader": table["reader"] + ", through its " + table[INPUT],
                "patched": table[PATCHED],
                "estimated": table[ATTRIBUTED],
                "size": table[PATCHED].abs(),
                "sign": head_charts.signs(table[PATCHED].to_numpy()),
                "holds": table.get(HOLDS, True),
            }
        ),
        on="edge",
    )
    width, rows = first + config.decoder.h, 2 * max(config.N, config.decoder.N)
    number = f"datum.value - (datum.value < {first} ? -1 : {first - 1})"
    columns = [*range(config.h), *range(first, width)]
    x, y = (
        channel(
            f"{name}:Q",
            title=title,
            scale=alt.Scale(domain=[-0.8, end - 0.2], nice=False, zero=False),
            axis=axes.bare_axis(values=values, labelExpr=label),
        )
        for channel, name, title, end, values, label in (
            (alt.X, "x", "head: encoder left, decoder right", width, columns, number),
            (alt.Y, "y", "layer", rows, [*range(0, rows, 2)], "datum.value / 2 + 1"),
        )
    )
    scale = alt.Scale(domain=[0, float(table[PATCHED].abs().max())], range=[0.4, _WIDEST])
    dash = alt.Scale(domain=[True, False], range=[[1, 0], [4, 4]])
    course: list[Any] = [x, y, alt.Detail("edge:N"), alt.Order("point:Q")]
    base = alt.Chart(lines, height=rows * _ROW)
    drawn = base.mark_line(interpolate="basis", opacity=0.8, aria=False).encode(
        *course,
        head_charts.SIGN_COLOR,
        alt.StrokeWidth("size:Q", scale=scale, legend=None),
        alt.StrokeDash("holds:N", scale=dash, legend=None),
    )
    numbers = {"patched": (PATCHED, "+.3f"), "estimated": (ATTRIBUTED, "+.3f")}
    tooltip = forms.tips("writer", "reader", **numbers)
    # thin lines are hard to hit: these are wide, and not seen
    hit = base.mark_line(interpolate="basis", opacity=0.01, strokeWidth=9, aria=False)
    joined = {head for pair in ends for head in pair[:2]}
    marks = pd.DataFrame([place(head) for head in heads], columns=["x", "y"]).assign(
        **{name: [head[n] for head in heads] for n, name in enumerate(("kind", "layer", "head"))},
        name=[named_head(*head) for head in heads],
        attention=[SCREEN_NAMES[head.kind] for head in heads],
        joined=[head in joined for head in heads],
    )
    colors = {SCREEN_NAMES[kind]: color for kind, color in COLOR.items()}
    fills = alt.Scale(domain=[*colors], range=[*colors.values()])
    dots = (
        alt.Chart(marks)
        .mark_circle(size=70, strokeWidth=0, cursor="pointer")
        .encode(
            x,
            y,
            alt.Fill("attention:N", scale=fills, legend=alt.Legend(title=None, orient="top")),
            opacity=alt.OpacityValue(0.3, condition={"test": "datum.joined", "value": 1}),
            tooltip=forms.tips(name=("head", forms.TEXT)),
        )
        .add_params(alt.selection_point(name=PICKED, fields=["kind", "layer", "head"]))
    )
    ring = alt.Chart(marks[[head == opened for head in heads]]).mark_point(
        size=190, stroke=axes.INK, strokeWidth=2, aria=False
    )
    return alt.LayerChart(
        layer=[drawn, hit.encode(*course, tooltip=tooltip), dots, ring.encode(x, y)]
    )
