"""The view “Work and memory”: Table 1 as formulas, as curves, and as measured on a machine."""

import json
from collections.abc import Mapping
from functools import partial

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from transformer import attention
from transformer.files import installed
from transformer.paper import costs
from viz.app.chrome import charts, explanations, fields
from viz.app.sentence import python_code, sentence_bar
from viz.figures import forms
from viz.figures.axes import OCHRE, PINK, SLATE, VIOLET, curve_color

MEASURED = installed.ASSETS / "layers.json"  # measurements written by `python -m benchmarks layers`
MAX_LENGTH = 65_536
WORK, MEMORY = "computation", "memory"
SHAPE = "d = {d:,}, h = {h}, k = {k}"

TABLE_1 = {
    costs.SELF_ATTENTION: ("O(n^2 d)", "O(1)", "O(1)"),
    costs.RECURRENT: ("O(n d^2)", "O(n)", "O(n)"),
    costs.CONVOLUTIONAL: ("O(k n d^2)", "O(1)", r"O(\log_k n)"),
    costs.RESTRICTED: ("O(r n d)", "O(1)", "O(n / r)"),
}
"""Work, sequential operations and longest path between two positions, from the paper."""


def show() -> None:
    """Draw the view."""
    with fields.controls_row():
        quantity = fields.choose_one("Quantity", [WORK, MEMORY], "arch_quantity", labelled=True)
        d = fields.whole_number("Width d", "arch_d", 1, 8_192, 512, width=130)
        k = fields.whole_number("Kernel k", "arch_k", 1, 64, 3, width=130)
        r = fields.whole_number("Neighbourhood r", "arch_r", 1, 8_192, 64, width=130)
        h = fields.whole_number("Heads h", "arch_heads", 1, 128, 8, width=130)
        longest = fields.whole_number("Longest n", "arch_n", 16, MAX_LENGTH, 4_096, width=130)
    sizes = costs.Sizes(d=d, k=k, r=r, h=h)
    equal_at = {layer: f"{length:,.0f}" for layer, length in costs.crossings(sizes).items()}
    n = np.geomspace(SHORTEST, longest, POINTS)
    formula, title = costs.memory, "numbers held, to a factor"
    if quantity == WORK:
        formula, title = costs.work, "operations, to a factor"
    curves = {layer: (n, formula(layer, n, sizes)) for layer in costs.LAYERS}
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(f"By formula, {SHAPE.format(d=d, h=h, k=k)}", anchor=False)
        charts.altair_chart(
            growth_chart(curves, quantity=title),
            alt=f"{quantity} of one layer of each sort over the length of the sequence.",
        )
        st.text(
            "Self-attention takes less computation than recurrence up to n = d = "
            f"{equal_at[costs.RECURRENT]}, less than convolution up to n = k · d = "
            f"{equal_at[costs.CONVOLUTIONAL]}, and as much as restricted self-attention up to "
            f"n = r = {equal_at[costs.RESTRICTED]}."
        )
    with right:
        _measured(quantity, sizes)
    tokens = _table(sizes)
    explanations.explain(
        "You see what one layer costs for n tokens of width d, with a kernel of k and a "
        "neighbourhood of r. Attention compares all tokens with all: its computation grows with "
        "n², but no token waits for the one before. The paper's table leaves out memory: each head "
        "keeps a weight for each pair of tokens."
        + explanations.sources("§4, Table 1", attention.MultiHeadAttention.attend)
    )
    field, function = ("seconds", "work") if quantity == WORK else ("bytes", "memory")
    table = f"""
        # Table 1
        result = {{layer: costs.work(layer, {tokens}, sizes) for layer in costs.LAYERS}}
    """
    python_code.show_code(
        f"""
        sizes = costs.{sizes}
        # By formula
        n = np.geomspace({SHORTEST}, {longest}, {POINTS})
        result = {{layer: costs.{function}(layer, n, sizes) for layer in costs.LAYERS}}
        # Measured
        layers = loads((ASSETS / "layers.json").read_text("utf-8"))["layers"]
        result = {{layer: [row[{field!r}] for row in rows] for layer, rows in layers.items()}}
        """,
        "" if tokens is None else table,
    )


def _measured(quantity: str, sizes: costs.Sizes) -> None:
    try:
        measurement = json.loads(MEASURED.read_text("utf-8"))
        field, factor, title = {
            WORK: ("seconds", 1e3, "ms for a forward pass"),
            MEMORY: ("bytes", 2**-20, "MiB held for the way back"),
        }[quantity]
        curves = {
            layer: ([row["n"] for row in rows], [row[field] * factor for row in rows])
            for layer, rows in measurement["layers"].items()
        }
        chart = growth_chart(curves, quantity=title, dots=True)
        d, h, k = (int(measurement[name]) for name in ("d", "h", "k"))
        caption = (
            f"One layer each, one sequence, median of {measurement['repeats']}, "
            f"{measurement['threads']} thread: {measurement['machine']}."
        )
    except (OSError, ValueError, KeyError, TypeError):
        st.subheader("Measured", anchor=False)
        st.text(
            "There is no measurement in assets/layers.json: run python -m benchmarks layers, then "
            "reload this page."
        )
        return
    st.subheader(f"Measured, {SHAPE.format(d=d, h=h, k=k)}", anchor=False)
    charts.altair_chart(chart, alt=f"{title} over the length of the sequence, as measured.")
    st.text(caption)
    if (d, h, k) != (sizes.d, sizes.h, sizes.k):
        st.text("Compare the slopes, not the values: the two charts are of different sizes.")
        take_size = partial(st.session_state.update, arch_d=d, arch_heads=h, arch_k=k)
        st.button("Formula for the measured size", on_click=take_size)


def _table(sizes: costs.Sizes) -> int | None:
    """Draw Table 1 with the work for the sentence in the bar, if any; return its tokens' number."""
    # the table needs no translation, so a missing one is not reported here
    bar = sentence_bar.traced() if sentence_bar.current() else None
    n = None if bar is None else len(bar.trace.source_tokens)
    own_column = "" if n is None else f" n = {n} |"
    lines = [
        f"| layer | computation | sequential operations | longest path |{own_column}",
        "|---|---|---|---|" + ("---:|" if own_column else ""),
    ]
    for layer, formulas in TABLE_1.items():
        cells = " | ".join(f"${formula}$" for formula in formulas)
        value = "" if n is None else f" {float(costs.work(layer, n, sizes)):,.0f} |"
        name = f"{layer}, r" if layer == costs.RESTRICTED else layer
        lines.append(f"| {name} | {cells} |{value}")
    with st.container(key="arch-table-1"):
        st.subheader(
            "Table 1" + ("" if n is None else f", with the operations for your {n} tokens"),
            anchor=False,
        )
        st.markdown("\n".join(lines))
    return n


LAYER_COLORS = dict(zip(costs.LAYERS, (VIOLET, OCHRE, PINK, SLATE), strict=True))
"""Colours of the layers of Table 1, different from those of the kinds of attention."""

SHORTEST, POINTS = 4, 80
_SHORT = "datum.value < 1000 ? format(datum.value, '~g') : format(datum.value, '~s')"


def growth_chart(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, quantity: str, dots: bool = False
) -> alt.Chart:
    """Draw one quantity over the length of the sequence, both axes logarithmic."""
    frame = pd.concat(
        pd.DataFrame({"layer": name, "n": np.asarray(n), "value": np.asarray(values)})
        for name, (n, values) in curves.items()
    )
    first, last = np.log2(frame["n"].min()), np.log2(frame["n"].max())
    powers = [2**n for n in range(int(np.ceil(first)), int(np.floor(last)) + 1)]
    low, high = np.log10(frame["value"].min()), np.log10(frame["value"].max())
    tens = [10.0**n for n in range(int(np.floor(low)), int(np.ceil(high)) + 1)]
    scale = alt.Scale(type="log", nice=False)
    x = alt.Axis(grid=False, values=powers, format=",", labelOverlap=True)
    y = alt.Axis(values=tens, labelExpr=_SHORT, labelOverlap=True)
    colors = [LAYER_COLORS[name] for name in curves]
    return forms.curves(
        frame,
        alt.X("n:Q", title="length n, tokens", scale=scale, axis=x),
        alt.Y("value:Q", title=quantity, scale=alt.Scale(type="log"), axis=y),
        curve_color("layer", list(curves), colors, labelLimit=200),
        dots=36 * dots,
        height=480,
        tooltip=forms.tips("layer", n=("", ",.0f"), value=(quantity, ",.4~g")),
    )
