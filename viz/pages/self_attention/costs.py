"""Table 1 for the sentence, its columns as curves, and the same layers as measured."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import attention
from transformer.paper import costs, paths
from viz.app import measurements
from viz.app.chrome import charts, explanations, fields
from viz.app.measurements import Measurement
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import compute, view
from viz.figures.growth import growth_chart
from viz.pages.self_attention import path_pictures

MAX_LENGTH = 65_536
WORK, SEQUENTIAL, PATH, MEMORY = "computation", "sequential operations", "longest path", "memory"
QUANTITIES: Mapping[str, tuple[str, Callable[..., npt.NDArray[np.float64]]]] = {
    WORK: ("operations, to a factor", costs.work),
    SEQUENTIAL: ("operations in turn", costs.sequential),
    PATH: ("steps from the first token to the last", paths.longest_path),
    MEMORY: ("numbers held, to a factor", costs.memory),
}
"""Title and function of what is drawn over n: the columns of Table 1, and memory."""
SHORTEST, POINTS = 4, 80

TABLE_1 = {
    costs.SELF_ATTENTION: ("O(n^2 d)", "O(1)", "O(1)"),
    costs.RECURRENT: ("O(n d^2)", "O(n)", "O(n)"),
    costs.CONVOLUTIONAL: ("O(k n d^2)", "O(1)", r"O(\log_k n)"),
    costs.RESTRICTED: ("O(r n d)", "O(1)", "O(n / r)"),
}
"""Work, sequential operations and longest path between two positions, from the paper."""


@view(needs="sentence")
def why_self_attention(bar: BarTranslation | None) -> None:
    """Draw the paths in the sentence, if there is one, the table, and its columns as curves."""
    above, below = st.container(), st.container()
    with below, fields.controls_row("growth-controls"):
        quantity = fields.choose_one("Quantity", QUANTITIES, "arch_quantity")
        longest = fields.whole_number("Longest n", "arch_n", 16, MAX_LENGTH, 4_096, width=190)
        options = st.popover("Sizes", width="content")
    with options:
        d = fields.whole_number("Width d", "arch_d", 1, 8_192, 512)
        r = fields.whole_number("Neighbourhood r", "arch_r", 1, 8_192, 64)
        h = fields.whole_number("Heads h", "arch_heads", 1, 128, 8)
    with above:
        sizes, tokens, text = path_pictures.show(bar, d=d, r=r, h=h)
        _table(sizes, tokens, text)
    title, function = QUANTITIES[quantity]
    n = compute("n", np.geomspace, SHORTEST, longest, POINTS)
    values = compute("values", costs.by_layer, function, n, sizes)
    left, right = below.columns(2, gap="large")
    with left:
        st.subheader(f"By formula, {_shape(sizes)}", anchor=False)
        charts.altair_chart(
            growth_chart({layer: (n, x) for layer, x in values.items()}, quantity=title),
            alt=f"{quantity} of one layer of each sort over the length of the sequence.",
        )
        st.text(_explain_formula(quantity, sizes, longest))
    if quantity != PATH:  # a path takes no time of its own
        with right:
            _measured("bytes" if quantity == MEMORY else "seconds", sizes)
    explanations.explain(
        "**Path**: how many steps lie between two words. Self-attention connects all words in one "
        "layer, however far apart they are; convolutions need a stack, O(n/k) with contiguous "
        "kernels and O(log_k n) with dilated ones. Here a kernel covers a word and those before it."
        "\n\n**Sequential operations**: in the recurrent models before, the state of a word is "
        "computed from the state before it, h_t = f(h_{t−1}, x_t), so n words wait for one "
        "another, in training too, on any number of processors. In attention no word waits: "
        "all rows are one product of matrices.\n\n"
        "**Computation**: attention compares all tokens with all, so it grows with n². **Memory** "
        "is not in the paper’s table: each head keeps a weight for each two tokens."
        + explanations.sources(
            "§1, §2, §4, Table 1", paths.shortest_path, attention.MultiHeadAttention.attend
        )
    )


def _explain_formula(quantity: str, sizes: costs.Sizes, longest: int) -> str:
    at = {layer: f"{length:,.0f}" for layer, length in costs.crossings(sizes).items()}
    steps = (
        f"{layer} {_count(float(paths.longest_path(layer, longest, sizes)))}"
        for layer in (*costs.LAYERS, paths.CONTIGUOUS)
    )
    return {
        WORK: f"Self-attention takes less computation than recurrence up to n = d = "
        f"{at[costs.RECURRENT]}, less than convolution up to n = k · d = "
        f"{at[costs.CONVOLUTIONAL]}, and as much as restricted self-attention "
        f"up to n = r = {at[costs.RESTRICTED]}.",
        SEQUENTIAL: "Recurrence takes n operations in turn; the other three take one, on one line.",
        PATH: f"From the first of {longest:,} tokens to the last: {', '.join(steps)}.",
        MEMORY: f"Above n = d / h = {sizes.d / sizes.h:,.0f}, the weights of self-attention take "
        "more than the tokens that it reads.",
    }[quantity]


def _measured(field: str, sizes: costs.Sizes) -> None:
    heading = st.empty()
    if (measurement := measurements.read_or_say_missing("layers", "d", "h", "k")) is None:
        return
    d, h, k = measurement.sizes
    measured = costs.Sizes(d=d, h=h, k=k, r=sizes.r)
    heading.subheader(f"Measured, {_shape(measured)}", anchor=False)
    measurements.draw(measurement, field)
    st.text(f"One layer each, {measurement.about}")
    if field == "seconds":
        st.text(explain_difference(measurement, measured))
    if (d, h, k) != (sizes.d, sizes.h, sizes.k):
        st.text("Compare the slopes, not the values: the two charts are of different sizes.")


def explain_difference(measurement: Measurement, sizes: costs.Sizes) -> str:
    """Say how often convolution is the fastest as measured, by Table 1, and with all factors."""
    curves = measurement.curves["seconds"]
    n = np.array(curves[costs.CONVOLUTIONAL][0])
    fastest, least, fewest = (
        int((values[costs.CONVOLUTIONAL] <= np.min([*values.values()], axis=0)).sum())
        for values in (
            {layer: np.array(seconds) for layer, (_, seconds) in curves.items()},
            {layer: costs.work(layer, n, sizes) for layer in curves},
            {layer: costs.multiplications(layer, n, sizes) for layer in curves},
        )
    )
    return (
        f"Convolution is the fastest at {fastest} of these {len(n)} lengths, and the cheapest by "
        f"Table 1 at {least}, where it is the dearest up to n = k · d = "
        f"{costs.crossings(sizes)[costs.CONVOLUTIONAL]:,.0f}. The table says how a cost grows and "
        f"leaves out factors: attention also multiplies by four d × d matrices (W_Q, W_K, W_V, "
        f"W_O), an LSTM by eight, a convolution by k = {sizes.k}. With these, 4nd² + 2n²d, 8nd² "
        f"and knd², convolution takes the fewest multiplications at {fewest} of {len(n)}. It is "
        f"also one product for all positions; the LSTM takes n in turn."
    )


def _shape(sizes: costs.Sizes) -> str:
    return f"d = {sizes.d:,}, h = {sizes.h}, k = {sizes.k}"


def _table(sizes: costs.Sizes, n: int, text: str) -> None:
    """Draw Table 1, with work and path for a sentence of n tokens, if there is one."""
    lines = ["| layer | computation | sequential operations | longest path |", "|---|---|---|---|"]
    if n:
        lines = [f"{lines[0]} computation, n = {n} | path |", f"{lines[1]}---:|---:|"]
        work = compute("work_of_sentence", costs.by_layer, costs.work, n, sizes)
        path = compute("path_of_sentence", costs.by_layer, paths.longest_path, n, sizes)
    for layer, formulas in TABLE_1.items():
        cells = [f"${formula}$" for formula in formulas]
        if n:
            cells += [f"{float(work[layer]):,.0f}", _count(float(path[layer]))]
        name = f"{layer}, r" if layer == costs.RESTRICTED else layer
        lines.append(f"| {name} | {' | '.join(cells)} |")
    with st.container(key="arch-table-1"):
        left, right = st.columns([5, 2], gap="medium")
        own = f", and its numbers for your {n} tokens" if n else ""
        left.subheader(f"Table 1{own}", anchor=False)
        left.markdown("\n".join(lines))
        right.text(text)


def _count(steps: float) -> str:
    return f"{steps:,.0f}" if np.isfinite(steps) else "∞"
