"""Tables 2 and 3 of the paper, and beside them what was trained here."""

from __future__ import annotations

import streamlit as st

from transformer.config import TransformerConfig
from transformer.files.installed import BUNDLED
from viz.app import model_variations
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.model_variations import BASE, TABLE_3, PaperRow, TrainedRow, describe_change
from viz.pages.architecture.difference_chart import PANELS, difference_chart
from viz.pages.architecture.parameters_chart import millions
from viz.pages.architecture.table_frames import table_2, table_3

HERE = ("here", "PPL here", "BLEU here", "params here")
"""Columns beside those of Table 3."""


def show() -> None:
    """Draw the view."""
    rows, wrong = model_variations.read_all()
    base = model_variations.common_base(rows)
    placed = {} if base is None else _placed(rows, base)
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        if base is None:
            st.text("No row was trained here yet: the tables are the paper's alone.")
        else:
            _differences(placed, base)
        for sentence in wrong:
            st.text(sentence)
    with beside:
        if base is not None:
            st.text(_what_here(base, len(rows)))
        _bundled()
    _third(rows, placed, base)
    st.subheader("Table 2: BLEU on newstest2014, and the cost of training", anchor=False)
    st.dataframe(table_2(), hide_index=True, height="content", width=820, key="arch-table-2")
    explain(
        "Table 2 (§6.1) sets the Transformer beside the best models of its day; each row of Table "
        "3 (§6.2) names what it changes of the base model, measured on newstest2013. Each knob is "
        f"a field of {code_line(TransformerConfig)}, each row a file in `training/configs`: base "
        "and big there, the others in `table3`."
    )


def _placed(rows: list[TrainedRow], base: TrainedRow) -> dict[str, list[TrainedRow]]:
    """What was trained here by the name of the paper's row that it stands beside."""
    placed: dict[str, list[TrainedRow]] = {}
    for row in rows:
        if (paper := model_variations.paper_row_of(row, base)) is not None:
            placed.setdefault(paper.name, []).append(row)
    return placed


def _differences(placed: dict[str, list[TrainedRow]], base: TrainedRow) -> None:
    first = TABLE_3[0]
    changes: list[tuple[str, str, float, float]] = []
    for paper in TABLE_3:
        for row in placed.get(paper.name, []):
            if row is base:
                continue
            name = _pair(paper, row, base)
            changes.append(
                (name, "paper", paper.bleu - first.bleu, paper.perplexity / first.perplexity)
            )
            changes.append((name, "here", row.bleu - base.bleu, row.perplexity / base.perplexity))
    if not changes:
        return
    st.subheader("What a change does, in the paper and here", anchor=False)
    for panel, column in zip(st.columns(2, gap="medium"), PANELS, strict=True):
        title, _ = PANELS[column]
        with panel:
            altair_chart(
                difference_chart(changes, column), alt=f"Each row: {title}, in the paper and here."
            )


def _pair(paper: PaperRow, row: TrainedRow, base: TrainedRow) -> str:
    """Such as `(B) d_k = 16, here 8`: one name for both dots of a row."""
    (value,) = model_variations.changes(row, base).values()
    if paper.change[1] == value:
        return paper.name
    return f"{paper.name}, here {value:g}" if isinstance(value, int | float) else paper.name


def _third(
    rows: list[TrainedRow], placed: dict[str, list[TrainedRow]], base: TrainedRow | None
) -> None:
    st.subheader("Table 3: one change at a time, newstest2013", anchor=False)
    frame = table_3()
    if base is not None:
        cells = [_cells(placed.get(paper.name, []), base) for paper in TABLE_3]
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
        if base is not None and model_variations.paper_row_of(row, base) is not None:
            continue
        st.text(
            f"{row.name}, in no row of the paper: perplexity {row.perplexity:.2f}, "
            f"BLEU {row.bleu:.1f}."
        )


def _cells(rows: list[TrainedRow], base: TrainedRow) -> list[str]:
    """The four cells beside a row of the paper; what was trained twice stands there twice."""
    return [
        " · ".join(_change(row, base) for row in rows),
        " · ".join(f"{row.perplexity:.2f}" for row in rows),
        " · ".join(f"{row.bleu:.1f}" for row in rows),
        " · ".join(millions(row.parameters) for row in rows),
    ]


def _change(row: TrainedRow, base: TrainedRow) -> str:
    differ = model_variations.changes(row, base)
    return ", ".join(describe_change(field, value) for field, value in differ.items()) or BASE


def _what_here(base: TrainedRow, count: int) -> str:
    config = base.config
    return (
        f"“Here” is another size on other data: {count} models, the base of N = {config.N}, "
        f"d_model = {config.d_model}, d_ff = {config.d_ff}, h = {config.h}, each other one "
        f"changed as its row says, {base.steps:,} steps on the 29,000 captions of Multi30k, "
        "measured on its validation captions with greedy search. So few steps end long before "
        "the paper's 100,000 would: what learns faster looks better here. Only the differences "
        "between rows can be compared with the paper's."
    )


def _bundled() -> None:
    row = model_variations.read(BUNDLED)
    if isinstance(row, str):
        st.text(row)
        return
    config = row.config
    st.subheader("The bundled model", anchor=False)
    st.text(
        f"N = {config.N}, d_model = {config.d_model}, d_ff = {config.d_ff}, h = {config.h}, "
        f"{millions(row.parameters)} parameters: perplexity {row.perplexity:.2f} and "
        f"BLEU {row.bleu:.1f} on its validation text, greedy. None of the paper's figures is on "
        "that text, so they cannot be compared."
    )
