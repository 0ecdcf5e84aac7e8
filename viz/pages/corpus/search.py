"""The view “Search”: lines sorted by any measure and filtered by their words."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.arrays import AnyFloats, Ints
from transformer.corpus import measuring
from transformer.corpus.measured import (
    HEAD_MEASURES,
    LEAST_CERTAIN,
    SENTENCE_MEASURES,
    MeasuredLines,
    sentences_table,
)
from transformer.corpus.search import LineWords, matching_rows
from viz.app.chrome import charts, explanations, fields
from viz.app.chrome.head_picker import link_parameters, pick_head
from viz.app.sentence import search_request
from viz.app.view import compute, list_result, part, view
from viz.draw import formatting, labels
from viz.pages.corpus.lines import choose_lines
from viz.pages.corpus.measurements import first_head

BY, ORDER, PAGE = "search_by", "search_order", "search_page"  # names in the URL

ASCENDING, DESCENDING = "smallest first", "largest first"
HEAD = "this head: "  # beginning of the names of a head's measures in the menu

ROWS = 20  # lines on a page


@view("Search", needs="model", question="Which lines stand out by a measure?")
def search(translator: Translator) -> None:
    """Draw the lines that match, sorted by a measure."""
    lines = choose_lines(translator)
    name, ascending, head = _choose_order(translator, lines)
    words = _choose_words()
    measure = name.removeprefix(HEAD)
    title = labels.measure_name(measure)
    if head is None:
        values = part("values", lines.sentence_values, measure)
    else:
        values, title = lines.values_of(head, measure), f"{title}, {head.title}"
        list_result("values", values, lines.values_of, head, measure)
    rows = compute("rows", matching_rows, translator, lines, words)
    if np.isnan(values).all():
        st.text(f"{labels.quoted(title)} is not measured: choose another measure.")
    else:
        count = f"{len(rows):,} of {len(lines):,} lines match"
        if len(rows) == len(lines):
            count = formatting.counted(len(rows), "line")
        st.text(f"{count}, sorted by {title}, {ASCENDING if ascending else DESCENDING}.")
        table = compute("table", matching_table, lines, rows, title, values, ascending=ascending)
        _draw(table, title)
    description = labels.capitalised((SENTENCE_MEASURES | HEAD_MEASURES)[measure])
    explanations.explain(
        f"{description}. Shares of the source: {explanations.SOURCE_SHARE_LIMITS}"
        + explanations.sources("", measuring.sentence_measures, matching_rows)
    )


def _choose_order(translator: Translator, lines: MeasuredLines) -> tuple[str, bool, Head | None]:
    """Draw the menus; return the measure, whether the smallest come first, and its head."""
    measures = [
        *(n for n in SENTENCE_MEASURES if not np.isnan(lines.sentence_values[n]).all()),
        *(f"{HEAD}{n}" for n in HEAD_MEASURES if n in lines.head_values),
    ]
    with fields.controls_row():
        first = measures.index(LEAST_CERTAIN)
        name = fields.menu(
            "Sort by", measures, BY, width=280, index=first, format_func=labels.measure_name
        )
        order = fields.choose_one("Order", [ASCENDING, DESCENDING], ORDER)
    head = None
    if name.startswith(HEAD):
        with fields.controls_row():
            head = pick_head(translator, link_parameters(*first_head(lines)))
    return name, order == ASCENDING, head


def _choose_words() -> LineWords:
    settings: dict[str, Any] = {"width": 220, "autocomplete": "off"}
    settings["help"] = "As it is written, in upper or lower case."
    with fields.controls_row():
        return LineWords(
            fields.text_input("Source has", key="match_source", **settings),
            fields.text_input("Translation has", key="match_translation", **settings),
            fields.text_input("Subwords have", key="match_subwords", **settings),
        )


def matching_table(
    lines: MeasuredLines,
    rows: Ints,
    title: str,
    values: AnyFloats,
    *,
    ascending: bool,
) -> pd.DataFrame:
    """Return the rows with all measures of their sentences, sorted by the values under a title."""
    table = sentences_table(lines).assign(**{title: values.astype(float)}).iloc[rows]
    return table.sort_values(title, ascending=ascending, kind="stable", ignore_index=True)


def _draw(table: pd.DataFrame, title: str) -> None:
    if table.empty:
        return
    picture, page = st.container(), 1
    if (pages := -(-len(table) // ROWS)) > 1:
        fields.clamp_state(PAGE, pages)
        page = fields.whole_number(f"Page, of {pages:,}", PAGE, 1, pages, 1, width=130)
    columns = [c for c in ("line", title, "source", "translation", "reference") if c in table]
    with picture:
        shown = table[columns].iloc[(page - 1) * ROWS : page * ROWS]
        lines_table(shown, table, "lines", f"Lines by {title}")


def lines_table(shown: pd.DataFrame, every_line: pd.DataFrame, name: str, alt: str) -> None:
    """Draw the `shown` lines as a table, with downloads of every line."""
    sources = list(shown["source"])
    # other lines are another table, in which nothing is ticked
    key = f"{name}-{hash(tuple(shown['line']))}"

    def ticked() -> None:
        row = ticked_row(st.session_state.get(key), len(sources))
        if row is not None:
            search_request.put_text(sources[row])

    st.dataframe(
        shown,
        hide_index=True,
        column_config=number_formats(shown),
        key=key,
        on_select=ticked,
        selection_mode="single-row",
        alt=alt,
    )
    st.caption(
        f"Tick a line to use it as the sentence on every page. Saved: {len(every_line):,} lines."
    )
    charts.table_downloads(every_line, name)


def number_formats(table: pd.DataFrame) -> dict[str, Any]:
    """Return the settings of the columns with numbers: three decimals where one has a fraction."""
    return {
        str(name): st.column_config.NumberColumn(format="%d" if (values % 1 == 0).all() else "%.3f")
        for name, values in table.items()
        if pd.api.types.is_float_dtype(values)
    }


def ticked_row(state: Any, rows: int) -> int | None:
    """Return the row that is ticked in the state of a table with `rows` rows, or None."""
    selection = state.get("selection") if isinstance(state, dict) else None
    ticks = selection.get("rows") if isinstance(selection, dict) else None
    if not (isinstance(ticks, list) and ticks and type(ticks[0]) is int):
        return None
    return ticks[0] if 0 <= ticks[0] < rows else None
