"""The view “Tables 2 and 3”: the paper's tables beside results of models trained here."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from transformer.config import TransformerConfig
from viz.app import model_variations
from viz.app.chrome import charts, explanations
from viz.app.model_variations import BASE, BIG, SHAPE, SYMBOLS, TABLE_3, TrainedRow, describe_change
from viz.app.sentence import python_code
from viz.draw import formatting
from viz.figures import axes, forms

HERE = ("here", "PPL here", "BLEU here", "params here")  # columns added to those of Table 3


def show() -> None:
    """Draw the view."""
    rows, problems = model_variations.read_all()
    base = model_variations.common_base(rows)
    results: dict[str, list[TrainedRow]] = {}
    if base is not None:
        for row in rows:
            if (paper := model_variations.paper_row_of(row, base)) is not None:
                results.setdefault(paper.name, []).append(row)
    picture, notes = st.columns([2, 1], gap="large")
    with picture:
        if base is None:
            st.text("No row is trained here yet: you see the paper's tables alone.")
        else:
            _differences(results, base)
        for sentence in problems:
            st.text(sentence)
    with notes:
        if base is not None:
            config = base.config
            st.text(
                "Compare the differences between rows, not the values: “here” means another size "
                f"and other data. {len(rows)} models, the base with N = {config.N}, d_model = "
                f"{config.d_model}, d_ff = {config.d_ff}, h = {config.h}, each trained "
                f"{base.steps:,} steps on the 29,000 captions of Multi30k and measured on its "
                "validation captions with greedy search. After so few steps (the paper: 100,000), "
                "a model that learns faster looks better."
            )
    _third(rows, results, base)
    st.subheader("Table 2: BLEU on newstest2014, and the cost of training", anchor=False)
    columns = ["model", "BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR"]
    second = pd.DataFrame(TABLE_2, columns=columns)
    st.dataframe(second, hide_index=True, height="content", width=820, key="arch-table-2")
    explanations.explain(
        "Table 2 compares the Transformer with the best models of its time; each row of Table 3 "
        "changes one thing in the base model."
        + explanations.sources("§6.1, §6.2", TransformerConfig)
    )
    python_code.show_code("""
        # Models trained here
        result, _ = model_variations.read_all()
        # Table 3
        result = model_variations.TABLE_3
    """)


def _differences(results: dict[str, list[TrainedRow]], base: TrainedRow) -> None:
    changes: list[tuple[str, str, float, float]] = []
    for paper in TABLE_3:
        for row in results.get(paper.name, []):
            if row is base:
                continue
            (value,) = model_variations.changes(row, base).values()
            name = paper.name  # one for both dots of a row, such as `(B) d_k = 16, here 8`
            if paper.change[1] != value and isinstance(value, int | float):
                name += f", here {value:g}"
            pairs: tuple[tuple[str, Any, Any], ...]
            pairs = ("paper", paper, TABLE_3[0]), ("here", row, base)
            changes += [
                (name, side, model.bleu - first.bleu, model.perplexity / first.perplexity)
                for side, model, first in pairs
            ]
    if not changes:
        return
    st.subheader("What each change does, in the paper and here", anchor=False)
    for panel, column in zip(st.columns(2, gap="medium"), PANELS, strict=True):
        title, _ = PANELS[column]
        with panel:
            charts.altair_chart(
                difference_chart(changes, column), alt=f"Each row: {title}, in the paper and here."
            )


def _third(
    rows: list[TrainedRow], results: dict[str, list[TrainedRow]], base: TrainedRow | None
) -> None:
    st.subheader("Table 3: one change at a time, newstest2013", anchor=False)
    frame = table_3()
    if base is not None:
        cells = [_cells(results.get(paper.name, []), base) for paper in TABLE_3]
        for column, values in zip(HERE, zip(*cells, strict=True), strict=True):
            frame[column] = list(values)
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={"here": st.column_config.Column(width=120)},
        key="arch-table-3",
    )
    for row in rows:
        if base is None or model_variations.paper_row_of(row, base) is None:
            st.text(
                f"{row.name}, which is no row of the paper: perplexity {row.perplexity:.2f}, "
                f"BLEU {row.bleu:.1f}."
            )


def _cells(rows: list[TrainedRow], base: TrainedRow) -> list[str]:
    """Format the four cells added to a row of the paper; several models share a cell."""
    changes = (model_variations.changes(row, base).items() for row in rows)
    return [
        " · ".join(
            ", ".join(describe_change(*change) for change in row) or BASE for row in changes
        ),
        " · ".join(f"{row.perplexity:.2f}" for row in rows),
        " · ".join(f"{row.bleu:.1f}" for row in rows),
        " · ".join(formatting.millions(row.parameters) for row in rows),
    ]


TABLE_2: tuple[tuple[str, str, str, str, str], ...] = (
    ("ByteNet", "23.75", "", "", ""),
    ("Deep-Att + PosUnk", "", "39.2", "", "1.0 · 10²⁰"),
    ("GNMT + RL", "24.6", "39.92", "2.3 · 10¹⁹", "1.4 · 10²⁰"),
    ("ConvS2S", "25.16", "40.46", "9.6 · 10¹⁸", "1.5 · 10²⁰"),
    ("MoE", "26.03", "40.56", "2.0 · 10¹⁹", "1.2 · 10²⁰"),
    ("Deep-Att + PosUnk Ensemble", "", "40.4", "", "8.0 · 10²⁰"),
    ("GNMT + RL Ensemble", "26.30", "41.16", "1.8 · 10²⁰", "1.1 · 10²¹"),
    ("ConvS2S Ensemble", "26.36", "41.29", "7.7 · 10¹⁹", "1.2 · 10²¹"),
    ("Transformer (base)", "27.3", "38.1", "3.3 · 10¹⁸", "the same"),
    ("Transformer (big)", "28.4", "41.8", "2.3 · 10¹⁹", "the same"),
)
"""Model, BLEU EN-DE and EN-FR, training FLOPs EN-DE and EN-FR; "" where the paper has none. For the
Transformers the paper prints one cost for both languages."""


def table_3() -> pd.DataFrame:
    """Build Table 3 as text; a cell is empty where the paper prints nothing."""
    rows = []
    for row in TABLE_3:
        letter = row.letter if row.letter in (BASE, BIG) else f"({row.letter})"
        cells = {"": letter} | dict.fromkeys((SYMBOLS.get(name, name) for name in SHAPE), "")
        for name, value in row.shape.items():
            digits = ".1f" if name in ("P_drop", "epsilon_ls") else "g"  # rates and sizes
            cells[SYMBOLS.get(name, name)] = f"{value:{digits}}"
        cells["positions"] = "learned" if row.learned else ""
        cells["steps"] = "" if row.steps is None else f"{row.steps} K"
        cells |= {"PPL": f"{row.perplexity:.2f}", "BLEU": f"{row.bleu:.1f}"}
        cells["params"] = "" if row.millions is None else f"{row.millions} M"
        rows.append(cells)
    return pd.DataFrame(rows)


SOURCE_COLORS = {"paper": axes.OCHRE, "here": axes.VIOLET}
"""Colours that differ from those of the kinds of attention."""

PANELS = {
    "bleu": ("BLEU, difference to the base", 0.0),
    "perplexity": ("perplexity, as a multiple of the base's", 1.0),
}
"""Title and value of the base, by column."""


def difference_chart(
    changes: Sequence[tuple[str, str, float, float]], column: str
) -> alt.LayerChart:
    """Draw the effect of each change relative to its own base, in one of the `PANELS`."""
    title, base = PANELS[column]
    frame = pd.DataFrame(changes, columns=["row", "whose", "bleu", "perplexity"])
    names = list(dict.fromkeys(frame["row"]))
    axis = alt.Axis(ticks=False, grid=True, labelLimit=220)
    numbers = {"bleu": ("BLEU difference", "+.2f"), "perplexity": ("perplexity, multiple", ".3f")}
    tooltip = forms.tips("row", "whose", **numbers)
    chart = alt.Chart(frame, height=len(names) * 30 + 90)  # with the axis and the legend
    dots = chart.mark_point(filled=True, size=90, opacity=0.9).encode(
        alt.X(f"{column}:Q", title=title, scale=alt.Scale(zero=False, padding=14)),
        alt.Y("row:N", sort=names, title=None, axis=axis),
        axes.named_color("whose", SOURCE_COLORS),
        alt.Shape("whose:N", scale=alt.Scale(domain=list(SOURCE_COLORS)), legend=None),
        tooltip=tooltip,
    )
    return forms.rule("base", base, strokeDash=[4, 3], strokeWidth=1.5) + dots
