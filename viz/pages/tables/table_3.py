"""Table 3 on its page: one change at a time, in the paper and in models that were trained here."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from transformer.config import TransformerConfig
from transformer.paper.results import BASE, BIG, EN_DE, SHAPE, SYMBOLS, TABLE_3, TEXTS, TRAININGS
from viz.app import model_variations
from viz.app.chrome import charts, explanations
from viz.app.chrome.explanations import as_markdown
from viz.app.model_variations import TrainedRow
from viz.app.view import compute, figure, part
from viz.draw import formatting
from viz.draw.formatting import format_number
from viz.figures.paper_results import PANELS, difference_chart

HERE = ("here", "PPL here", "BLEU here", "params here")  # columns added to those of Table 3


def show() -> None:
    """Draw the charts of the five groups, and Table 3."""
    trained = compute("trained", model_variations.read_all, model_variations.ROWS)
    rows: list[TrainedRow] = part("rows", trained, 0)
    base, results = model_variations.common_base(rows), model_variations.by_paper_row(rows)
    st.subheader("Table 3: what each change does to the base model", anchor=False)
    picture, notes = st.columns([2, 1], gap="large")
    with picture:
        table = compute("differences_to_base", model_variations.differences, rows)
        for panel, (column, (title, _)) in zip(
            st.columns(2, gap="medium"), PANELS.items(), strict=True
        ):
            with panel:
                charts.altair_chart(
                    figure(f"{column}_chart", difference_chart, table, column),
                    alt=f"{title}, of each row of Table 3 and of the models trained here.",
                )
    with notes:
        sentences = (f"**({letter})** {text}" for letter, text in describe_groups().items())
        explanations.explain(
            "  \n".join(sentences)
            + f"\n\n{as_markdown(_about_here(rows, results, base))}"
            + explanations.sources("§6.1, §6.2, Tables 2 and 3", TransformerConfig)
        )
        for sentence in trained[1]:
            st.text(sentence)
    _table(rows, base)


def describe_groups() -> Mapping[str, str]:
    """Say what each group of Table 3 shows, with its numbers."""
    row = {paper.name: paper for paper in TABLE_3}
    bleu = {name: paper.bleu for name, paper in row.items()}
    group = {letter: [p for p in TABLE_3 if p.letter == letter] for letter in "ABCDE"}
    best = max(bleu[BASE], *(paper.bleu for paper in group["A"]))
    first, last = (f(group["C"], key=lambda paper: paper.bleu) for f in (min, max))
    smoothed = row["(D) ε_ls = 0"]
    (learned,) = group["E"]
    return {
        "A": f"One head is {best - bleu['(A) h = 1']:.1f} BLEU worse than the best setting, and "
        f"with 32 heads quality falls, too ({bleu['(A) h = 32']}).",
        "B": f"Narrower queries and keys hurt: {bleu[BASE] - bleu['(B) d_k = 16']:.1f} BLEU less "
        "at d_k = 16. It is not easy to tell which key fits a query.",
        "C": f"Bigger models are better: from {first.bleu} BLEU ({first.name[4:]}) to {last.bleu} "
        f"({last.name[4:]}).",
        "D": "Dropout helps against over-fitting: without it, "
        f"{bleu[BASE] - bleu['(D) P_drop = 0']:.1f} BLEU less. Without label smoothing, perplexity "
        f"is better ({smoothed.perplexity}) and BLEU is not ({smoothed.bleu}).",
        "E": f"Learned positions are nearly identical to sinusoids: {learned.bleu} BLEU instead of "
        f"{bleu[BASE]}, at the same perplexity of {learned.perplexity}.",
    }


def _about_here(
    rows: Sequence[TrainedRow], results: Mapping[str, Sequence[TrainedRow]], base: TrainedRow | None
) -> str:
    """Say how the models trained here differ from the paper's, and which rows have none."""
    missing = ""
    if none := _without_model(results):
        missing = f"No model here yet: {none}. “make rows DATA=dir” trains them one by one."
    if base is None:
        return missing
    config = base.config
    about = (
        f"“Here” are {len(rows)} small models, the base with N = {config.N}, d_model = "
        f"{config.d_model}, d_ff = {config.d_ff}, h = {config.h}, each trained {base.steps:,} "
        "steps on the 29,000 captions of Multi30k and measured on its validation captions with "
        f"greedy search. The paper trains {TRAININGS['base'].steps:,} steps on "
        f"{TEXTS[EN_DE].pairs / 1e6:g} million pairs. On so small a text, and after so few steps, "
        "a model that learns faster looks better: the dots do not show final quality."
    )
    if positions := results.get("(E) learned positions"):
        gain = format_number(positions[0].bleu - base.bleu, 1, sign=True)
        about += f" Learned positions have {gain} BLEU here, unlike in the paper: see Positions."
    return f"{about} {missing}"


def _without_model(results: Mapping[str, Sequence[TrainedRow]]) -> str:
    """List the rows of which no model was trained here, as `(A) h = 1, 4; (B) d_k = 16`."""
    values: dict[tuple[str, str], list[str]] = {}
    for paper in TABLE_3:
        if paper.letter not in (BASE, BIG) and paper.name not in results:
            start, _, value = paper.name.rpartition(" = ")
            values.setdefault((paper.letter, start or value), []).append(value * bool(start))
    texts = (f"{start} = {', '.join(v)}" if any(v) else start for (_, start), v in values.items())
    return "; ".join(texts)


def _table(rows: Sequence[TrainedRow], base: TrainedRow | None) -> None:
    st.subheader("Table 3: one change at a time, newstest2013", anchor=False)
    st.dataframe(
        compute("with_models_here", table_3, rows),
        hide_index=True,
        height="content",
        column_config={"here": st.column_config.Column(width=120)},
        key="arch-table-3",
    )
    for row in rows:
        if base is None or model_variations.paper_row_of(row, base) is None:
            st.text(
                f"{row.name}, which is not a row of the paper: perplexity {row.perplexity:.2f}, "
                f"BLEU {row.bleu:.1f}."
            )


def _cells(rows: Sequence[TrainedRow], base: TrainedRow) -> list[str]:
    """Format the four cells added to a row of the paper; several models share a cell."""
    return [
        " · ".join(model_variations.describe(row, base) for row in rows),
        " · ".join(f"{row.perplexity:.2f}" for row in rows),
        " · ".join(f"{row.bleu:.1f}" for row in rows),
        " · ".join(formatting.millions(row.parameters) for row in rows),
    ]


def table_3(trained: Sequence[TrainedRow]) -> pd.DataFrame:
    """Build Table 3 as text, with the models trained here beside the paper's rows.

    A cell is empty where the paper prints nothing.
    """
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
    frame = pd.DataFrame(rows)
    if (base := model_variations.common_base(trained)) is not None:
        results = model_variations.by_paper_row(trained)
        here = [_cells(results.get(paper.name, []), base) for paper in TABLE_3]
        for column, values in zip(HERE, zip(*here, strict=True), strict=True):
            frame[column] = list(values)
    return frame
