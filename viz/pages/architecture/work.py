"""Work and memory: Table 1 as formulas, as curves, and as measured on a machine."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from transformer.analysis.paper.complexity import (
    CONVOLUTIONAL,
    LAYERS,
    RECURRENT,
    RESTRICTED,
    SELF_ATTENTION,
    Sizes,
    crossings,
    memory,
    work,
)
from transformer.attention import MultiHeadAttention
from transformer.files.installed import ASSETS
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import choose_one, whole_number
from viz.app.sentence import sentence_bar
from viz.pages.architecture.work_chart import growth_chart, lengths

MEASURED = ASSETS / "layers.json"
"""What `python -m benchmarks layers` wrote."""
MAX_LENGTH = 65_536
WORK, MEMORY = "work", "memory"

TABLE_1 = {
    SELF_ATTENTION: ("O(n^2 d)", "O(1)", "O(1)"),
    RECURRENT: ("O(n d^2)", "O(n)", "O(n)"),
    CONVOLUTIONAL: ("O(k n d^2)", "O(1)", r"O(\log_k n)"),
    RESTRICTED: ("O(r n d)", "O(1)", "O(n / r)"),
}
"""Work, sequential operations and longest path between two positions, as the paper has them."""


def show() -> None:
    """Draw the view."""
    quantity, sizes, longest = _controls()
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(f"By formula, {_shape(sizes.d, sizes.h, sizes.k)}", anchor=False)
        altair_chart(
            _by_formula(quantity, sizes, longest),
            alt=f"{quantity} of one layer of each sort over the length of the sequence.",
        )
        st.text(_crossing_words(sizes))
    with right:
        _measured(quantity, sizes)
    _table(sizes)
    explain(
        "Table 1 (§4): what one layer costs for n tokens of width d, with a kernel of k and a "
        "neighbourhood of r. Attention compares all tokens with all, so its work grows with n²; "
        "up to n = d it is still less than that of recurrence, and nothing has to wait for the "
        "token before. The memory is not in the paper's table: each head keeps a weight for each "
        f"pair of tokens, {code_line(MultiHeadAttention.attend)}. The curves leave out "
        "constant factors, the stopwatch does not."
    )


def _controls() -> tuple[str, Sizes, int]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        quantity = choose_one("Quantity", [WORK, MEMORY], "arch_quantity", labelled=True)
        d = whole_number("Width d", "arch_d", 1, 8_192, 512, width=130)
        k = whole_number("Kernel k", "arch_k", 1, 64, 3, width=130)
        r = whole_number("Neighbourhood r", "arch_r", 1, 8_192, 64, width=130)
        h = whole_number("Heads h", "arch_heads", 1, 128, 8, width=130)
        longest = whole_number("Longest n", "arch_n", 16, MAX_LENGTH, 4_096, width=130)
    return quantity, Sizes(d=d, k=k, r=r, h=h), longest


def _by_formula(quantity: str, sizes: Sizes, longest: int) -> Any:
    at = crossings(sizes)
    n = lengths(longest, *at.values())
    formula = work if quantity == WORK else memory
    curves = {layer: (n, formula(layer, n, sizes)) for layer in LAYERS}
    met = {
        layer: (where, float(work(layer, where, sizes)))
        for layer, where in at.items()
        if quantity == WORK and n[0] <= where <= longest
    }
    title = "operations, to a factor" if quantity == WORK else "numbers held, to a factor"
    return growth_chart(curves, quantity=title, crossings=met)


def _crossing_words(sizes: Sizes) -> str:
    at = {layer: f"{where:,.0f}" for layer, where in crossings(sizes).items()}
    return (
        f"Self-attention does less work than recurrence up to n = d = {at['recurrent']}, less than "
        f"convolution up to n = k · d = {at['convolutional']}, and is the same as restricted "
        f"self-attention up to n = r = {at[RESTRICTED]}."
    )


def _shape(d: int, h: int, k: int) -> str:
    return f"d = {d:,}, h = {h}, k = {k}"


def _measured(quantity: str, sizes: Sizes) -> None:
    try:
        found = json.loads(MEASURED.read_text("utf-8"))
        field, factor, title = {
            WORK: ("seconds", 1e3, "ms for a forward pass"),
            MEMORY: ("bytes", 2**-20, "MiB held for the way back"),
        }[quantity]
        curves = {
            layer: ([row["n"] for row in rows], [row[field] * factor for row in rows])
            for layer, rows in found["layers"].items()
        }
        chart = growth_chart(curves, quantity=title, dots=True)
        d, h, k = (int(found[name]) for name in ("d", "h", "k"))
        caption = (
            f"One layer each, one sequence, median of {found['repeats']}, {found['threads']} "
            f"thread: {found['machine']}."
        )
    except (OSError, ValueError, KeyError, TypeError):
        st.subheader("Measured", anchor=False)
        st.text(
            "There is no measurement in assets/layers.json: run python -m benchmarks layers, then "
            "reload."
        )
        return
    st.subheader(f"Measured, {_shape(d, h, k)}", anchor=False)
    altair_chart(chart, alt=f"{title} over the length of the sequence, as measured.")
    st.text(caption)
    if (d, h, k) != (sizes.d, sizes.h, sizes.k):
        st.text("The two charts are of different sizes: compare their slopes, not their values.")
        st.button("Formula for the measured size", on_click=_take_size, args=(d, h, k))


def _take_size(d: int, h: int, k: int) -> None:
    """Let the fields hold what was measured."""
    for name, value in (("arch_d", d), ("arch_heads", h), ("arch_k", k)):
        st.session_state[name] = value


def _table(sizes: Sizes) -> None:
    """Table 1, and what the first column comes to for the sentence in the bar."""
    # without a translation nothing else is missing, so nothing is said of it here
    bar = sentence_bar.traced() if sentence_bar.current() else None
    n = None if bar is None else len(bar.trace.source_tokens)
    own = "" if n is None else f" n = {n} |"
    lines = [
        f"| layer | work | sequential operations | longest path |{own}",
        "|---|---|---|---|" + ("---:|" if own else ""),
    ]
    for layer, formulas in TABLE_1.items():
        cells = " | ".join(f"${formula}$" for formula in formulas)
        value = "" if n is None else f" {float(work(layer, n, sizes)):,.0f} |"
        name = f"{layer}, r" if layer == RESTRICTED else layer
        lines.append(f"| {name} | {cells} |{value}")
    with st.container(key="arch-table-1"):
        st.subheader(
            "Table 1" + ("" if n is None else f", with the work for this sentence of {n} tokens"),
            anchor=False,
        )
        st.markdown("\n".join(lines))
