"""Summary numbers of the open map."""

from __future__ import annotations

import numpy as np
import streamlit as st

from transformer import Kind
from transformer.analysis.heads.measures import first_counted_row, summarise
from transformer.config import BOS
from transformer.text.tokenizer import SPECIAL
from viz.draw.formatting import format_number
from viz.draw.labels import capitalised, display_tokens, quoted, row_names
from viz.draw.lens_words import amount
from viz.draw.open_head import Heads, OpenMap, mean
from viz.pages.heads.controls import Controls


def show_numbers(controls: Controls, heads: Heads, opened: OpenMap) -> None:
    """Draw the summary of the open map over the shown rows, special tokens included."""
    causal = heads.whole.is_causal(heads.kind)
    numbers = summarise(mean(heads.whole.weights, controls.layer, controls.head), causal=causal)
    unit = "word" if controls.words else "piece"
    quantity = amount(heads.lens)
    if heads.lens == "weights":
        low, high = (
            f"looks at one {unit} alone",
            f"looks at all {unit}s that it sees alike",
        )
    else:
        low, high = f"has one {unit} alone", f"has all {unit}s that it sees alike"
    included = "" if controls.special else " Special tokens count here, although they are hidden."
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Entropy",
            f"{numbers.entropy:.2f} bit",
            help=f"Mean over the rows: 0 where each {low}, {numbers.max_entropy:.2f} where each "
            f"{high}.{included}",
            width="content",
        )
        with st.container(key="largest", gap=None, width="content"):
            row, column, weight = _largest(opened, heads.kind)
            st.metric(f"Largest {quantity}", f"{weight:.2f}", width="content")
            name = row_names(opened.labels.queries, reads=opened.reads, writes=opened.writes)[row]
            key = quoted(display_tokens(opened.labels.keys)[column])
            verb = "looks at" if heads.lens == "weights" else "gives it to"
            st.text(f"{capitalised(name)} {verb} {key}")
        if heads.kind != "cross":
            st.metric(
                "Offset",
                f"{format_number(numbers.offset, 1, sign=True)} ± {numbers.offset_deviation:.1f}",
                help=f"How far from itself a position looks, in {unit}s: mean and standard "
                f"deviation over all {quantity}s; below 0 is back, above 0 is ahead.{included}",
                width="content",
            )


def _largest(opened: OpenMap, kind: Kind) -> tuple[int, int, float]:
    """Return row, column and value of the largest drawn weight.

    The decoder's first row sees itself alone, so its 1 counts only where it is the only row.
    """
    alone = kind == "decoder_self" and opened.labels.queries[0] == SPECIAL[BOS]
    first = first_counted_row(len(opened.weights), causal=alone)
    counted = opened.weights[first:]
    row, column = np.unravel_index(int(counted.argmax()), counted.shape)
    return int(row) + first, int(column), float(counted[row, column])
