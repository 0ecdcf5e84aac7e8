"""Table 1 as formulas, as curves, and as measured on a machine, below the paths."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import attention
from transformer.files import installed
from transformer.paper import costs, paths
from viz.app.chrome import charts, explanations, fields
from viz.app.sentence import python_code, sentence_bar
from viz.figures.growth import growth_chart
from viz.pages.self_attention import path_pictures

MEASURED = installed.ASSETS / "layers.json"  # measurements written by `python -m benchmarks layers`
MAX_LENGTH = 65_536
WORK, SEQUENTIAL, PATH, MEMORY = "computation", "sequential operations", "longest path", "memory"
QUANTITIES: dict[str, tuple[str, Callable[..., npt.NDArray[np.float64]]]] = {
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


def show() -> None:
    """Draw the page: the paths, the table, then its columns as curves."""
    top, table, below = st.container(), st.container(), st.container()
    with below, fields.controls_row("growth-controls"):
        quantity = fields.choose_one("Quantity", QUANTITIES, "arch_quantity")
        d = fields.whole_number("Width d", "arch_d", 1, 8_192, 512, width=160)
        r = fields.whole_number("Neighbourhood r", "arch_r", 1, 8_192, 64, width=220)
        h = fields.whole_number("Heads h", "arch_heads", 1, 128, 8, width=160)
        longest = fields.whole_number("Longest n", "arch_n", 16, MAX_LENGTH, 4_096, width=190)
    with top:
        pictures = path_pictures.show(d=d, r=r, h=h)
    sizes = pictures.sizes
    with table:
        tokens = _table(sizes, pictures.text)
    with below:
        n = np.geomspace(SHORTEST, longest, POINTS)
        title, function = QUANTITIES[quantity]
        curves = {layer: (n, function(layer, n, sizes)) for layer in costs.LAYERS}
        left, right = st.columns(2, gap="large")
        with left:
            st.subheader(f"By formula, {_shape(sizes)}", anchor=False)
            charts.altair_chart(
                growth_chart(curves, quantity=title),
                alt=f"{quantity} of one layer of each sort over the length of the sequence.",
            )
            st.text(_explain_formula(quantity, sizes, longest))
        with right:
            _measured(quantity, sizes)
    explanations.explain(
        "**Path**: how many steps lie between two words, whatever their distance. Self-attention "
        "connects all words in one layer; a convolution needs a stack, O(n/k) with contiguous "
        "kernels and O(log_k n) with dilated ones. In the pictures a kernel covers k words, "
        "the last of them its own.\n\n"
        "**Sequential operations**: in the recurrent models before, the state of each word is "
        "computed from the state before it, h_t = f(h_{t-1}, x_t). The last of n words waits for "
        "n − 1 others, in training too, however many processors there are. Attention computes all "
        "rows as one product of matrices, and the order of the words has to come from positions. "
        "\n\n**Computation**: attention compares all tokens with all, so it grows with n². "
        "**Memory** is not in the paper's table: each head keeps a weight for each two tokens."
        + explanations.sources(
            "§1, §2, §4, Table 1",
            paths.shortest_path,
            costs.multiplications,
            attention.MultiHeadAttention.attend,
        )
    )
    name = ".".join([function.__module__.rpartition(".")[2], function.__name__])
    field = "bytes" if quantity == MEMORY else "seconds"
    measured = f"""
        # Measured
        layers = loads((ASSETS / "layers.json").read_text("utf-8"))["layers"]
        result = {{layer: [row[{field!r}] for row in rows] for layer, rows in layers.items()}}
    """
    own = f"""
        # Table 1
        result = {{
            layer: (costs.work(layer, {tokens}, sizes), paths.longest_path(layer, {tokens}, sizes))
            for layer in costs.LAYERS
        }}
    """
    python_code.show_code(
        f"""
        sizes = costs.{sizes}
        # By formula
        n = np.geomspace({SHORTEST}, {longest}, {POINTS})
        result = {{layer: {name}(layer, n, sizes) for layer in costs.LAYERS}}
        """,
        measured,
        "" if tokens is None else own,
        pictures.code,
    )


def _explain_formula(quantity: str, sizes: costs.Sizes, longest: int) -> str:
    at = {layer: f"{length:,.0f}" for layer, length in costs.crossings(sizes).items()}
    if quantity == WORK:
        return (
            f"Self-attention takes less computation than recurrence up to n = d = "
            f"{at[costs.RECURRENT]}, less than convolution up to n = k · d = "
            f"{at[costs.CONVOLUTIONAL]}, and as much as restricted self-attention up to "
            f"n = r = {at[costs.RESTRICTED]}."
        )
    if quantity == SEQUENTIAL:
        return "A recurrence takes n operations in turn. The other three take one, on one line."
    if quantity == MEMORY:
        return (
            f"Above n = d / h = {sizes.d / sizes.h:,.0f}, the weights of self-attention take more "
            "than the tokens that it reads."
        )
    steps = (
        f"{layer} {format_count(float(paths.longest_path(layer, longest, sizes)))}"
        for layer in (*costs.LAYERS, paths.CONTIGUOUS)
    )
    return f"From the first of {longest:,} tokens to the last: {', '.join(steps)}."


def _measured(quantity: str, sizes: costs.Sizes) -> None:
    field, factor, title = "seconds", 1e3, "ms for a forward pass"
    if quantity == MEMORY:
        field, factor, title = "bytes", 2**-20, "MiB held for the way back"
    try:
        measurement = json.loads(MEASURED.read_text("utf-8"))
        curves = {
            layer: ([row["n"] for row in rows], [row[field] * factor for row in rows])
            for layer, rows in measurement["layers"].items()
        }
        chart = growth_chart(curves, quantity=title, dots=True)
        d, h, k = (int(measurement[name]) for name in ("d", "h", "k"))
        measured = costs.Sizes(d=d, h=h, k=k, r=sizes.r)
        caption = (
            f"One layer each, one sequence, median of {measurement['repeats']}, "
            f"{measurement['threads']} thread: {measurement['machine']}."
        )
        difference = "" if quantity == MEMORY else explain_difference(curves, measured)
    except (OSError, ValueError, KeyError, TypeError):
        st.subheader("Measured", anchor=False)
        st.text(
            "There is no measurement in assets/layers.json: run python -m benchmarks layers, then "
            "reload this page."
        )
        return
    st.subheader(f"Measured, {_shape(measured)}", anchor=False)
    charts.altair_chart(chart, alt=f"{title} over the length of the sequence, as measured.")
    st.text(caption)
    if difference:
        st.text(difference)
    if (d, h, k) != (sizes.d, sizes.h, sizes.k):
        st.text("Compare the slopes, not the values: the two charts are of different sizes.")
        take_size = partial(st.session_state.update, arch_d=d, arch_heads=h, arch_k=k)
        st.button("Formula for the measured size", on_click=take_size)


def explain_difference(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], sizes: costs.Sizes
) -> str:
    """Say how often convolution is the fastest as measured, by Table 1, and with all factors."""
    n = np.array(curves[costs.CONVOLUTIONAL][0])
    orders = (
        {layer: np.array(seconds) for layer, (_, seconds) in curves.items()},
        {layer: costs.work(layer, n, sizes) for layer in curves},
        {layer: costs.multiplications(layer, n, sizes) for layer in curves},
    )
    fastest, least, fewest = (
        int((values[costs.CONVOLUTIONAL] <= np.min([*values.values()], axis=0)).sum())
        for values in orders
    )
    dearest = costs.crossings(sizes)[costs.CONVOLUTIONAL]
    return (
        f"Convolution is the fastest at {fastest} of these {len(n)} lengths, and the cheapest by "
        f"Table 1 at {least}: there it is the dearest up to n = k · d = {dearest:,.0f}. The table "
        f"says how the cost grows and leaves out factors: attention also multiplies by four d × d "
        f"matrices (W_Q, W_K, W_V, W_O), an LSTM by eight, a convolution by k = {sizes.k}. With "
        f"these, 4nd² + 2n²d, 8nd² and knd², convolution takes the fewest multiplications at "
        f"{fewest} of {len(n)}. It is also one product for all positions; the LSTM takes n in turn."
    )


def _shape(sizes: costs.Sizes) -> str:
    return f"d = {sizes.d:,}, h = {sizes.h}, k = {sizes.k}"


def _table(sizes: costs.Sizes, text: str) -> int | None:
    """Draw Table 1 with work and path for the sentence in the bar; return its tokens' number."""
    # the table needs no translation, so a missing one is not reported here
    bar = sentence_bar.traced() if sentence_bar.current() else None
    n = None if bar is None else len(bar.trace.source_tokens)
    lines = ["| layer | computation | sequential operations | longest path |", "|---|---|---|---|"]
    if n is not None:
        lines = [f"{lines[0]} computation, n = {n} | path |", f"{lines[1]}---:|---:|"]
    for layer, formulas in TABLE_1.items():
        cells = " | ".join(f"${formula}$" for formula in formulas)
        if n is not None:
            path = format_count(float(paths.longest_path(layer, n, sizes)))
            cells += f" | {float(costs.work(layer, n, sizes)):,.0f} | {path}"
        name = f"{layer}, r" if layer == costs.RESTRICTED else layer
        lines.append(f"| {name} | {cells} |")
    with st.container(key="arch-table-1"):
        left, right = st.columns([5, 2], gap="medium")
        with left:
            own = "" if n is None else f", and its numbers for your {n} tokens"
            st.subheader(f"Table 1{own}", anchor=False)
            st.markdown("\n".join(lines))
        right.text(text)
    return n


def format_count(steps: float) -> str:
    """Format a number of steps; ∞ where no number is enough."""
    return f"{steps:,.0f}" if np.isfinite(steps) else "∞"
