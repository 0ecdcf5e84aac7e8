"""Notes on lines that were left out, or are to be read with care: counted, and one by one."""

import numpy as np
import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.lines.measured import LOG_P, LeftOut, MeasuredLines
from transformer.config import UNK
from viz.draw.formatting import counted, format_number


def summary(translator: Translator, lines: MeasuredLines) -> str:
    """Count the lines that were measured, left out, and those to be read with care."""
    counts = {
        "left out": lines.left_out,
        "without a word": {number for number, _ in lines.undefined},
        "with unknown characters": unknown_notes(lines),
        "of which the model is unsure": unsure_notes(translator, lines),
    }
    parts = [f"{len(notes):,} {text}" for text, notes in counts.items() if notes]
    return ", ".join([f"{counted(len(lines), 'line')} measured", *parts])


def show(translator: Translator, lines: MeasuredLines) -> None:
    """Draw the table of the notes, where there are any."""
    notes = [*lines.left_out, *lines.undefined]
    notes += [*unknown_notes(lines), *unsure_notes(translator, lines)]
    if not notes:
        return
    st.dataframe(
        pd.DataFrame(sorted(notes), columns=["line", "why"]),
        hide_index=True,
        height="content" if len(notes) < 8 else 280,
        column_config={"line": st.column_config.NumberColumn(width="small")},
    )


def unknown_notes(lines: MeasuredLines) -> list[LeftOut]:
    """Name the measured lines that have characters which the model does not know."""
    return [
        LeftOut(pair.number, "It has characters that the model does not know.")
        for pair in lines.pairs
        if UNK in pair.source_ids
    ]


def unsure_notes(translator: Translator, lines: MeasuredLines) -> list[LeftOut]:
    """Name the measured lines of which the model is less sure than of the text it is made for."""
    if (domain := translator.domain) is None:
        return []
    usual = format_number(domain.least_log_prob)
    log_probs = lines.sentence_values[LOG_P]
    return [
        LeftOut(
            lines.pairs[row].number,
            f"The model is unsure: log p {format_number(log_probs[row])} per subword, usually "
            f"above {usual} on {domain.made_for}.",
        )
        for row in np.flatnonzero(log_probs < domain.least_log_prob)
    ]
