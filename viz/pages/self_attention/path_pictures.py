"""Paths between two words of the sentence: attention, recurrence and convolution, playing."""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.sinks import are_sinks
from transformer.paper import costs, paths
from viz.app.chrome import fields
from viz.app.links import address
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import compute
from viz.draw.formatting import counted, format_number
from viz.draw.labels import display_tokens, head_title, quoted
from viz.figures.axes import CURVE_COLORS
from viz.figures.paths import path_picture

PICTURE = "paths-picture"  # key of the pictures
TITLES = {
    costs.SELF_ATTENTION: "Self-attention",
    costs.RECURRENT: "Recurrent",
    costs.CONVOLUTIONAL: "Convolutional, dilated",
}
LAYERS = (*TITLES, paths.CONTIGUOUS)


class Shown(NamedTuple):
    """Sizes and text for the rest of the page."""

    sizes: costs.Sizes
    tokens: int = 0  # of the sentence, if there is one
    text: str = ""


def show(bar: BarTranslation | None, *, d: int, r: int, h: int) -> Shown:
    """Draw the kernel's field, the two words and the pictures."""
    row = fields.controls_row("paths-controls")
    with row:
        k = fields.whole_number("Kernel k", "arch_k", 1, 64, 3, width=170)
    sizes = costs.Sizes(d=d, k=k, r=r, h=h)
    if bar is None or not sentence_bar.is_traced(bar):
        return Shown(sizes)
    trace, names = bar.trace, display_tokens(bar.trace.source_tokens)
    n = len(names)
    words = [*np.flatnonzero(~are_sinks(trace.source_tokens, trace.special))] or [0]
    with row:
        ends = _word("From", "path_from", names, words[0]), _word("to", "path_to", names, words[-1])
    start, end = sorted(ends)  # recurrence and kernels read from left to right
    ways = compute("ways", costs.by_layer, paths.shortest_path, n, start, end, sizes, layers=LAYERS)
    longest = max(len(way) - 1 for way in ways.values() if way)
    columns = st.container(key=PICTURE).columns(3, gap="large")
    for column, color, (layer, title) in zip(columns, CURVE_COLORS, TITLES.items(), strict=False):
        way, recurs = ways[layer], layer == costs.RECURRENT
        with column, st.container(gap=None):
            if way is None:
                st.markdown(f"**{title}**: no path")
                st.text("A kernel of 1 sees one word: no stack connects two.")
                continue
            steps = counted(len(way) - 1, "step" if recurs else "layer")
            st.markdown(f"**{title}**: {steps}")
            st.html(
                path_picture(
                    trace.source_tokens,
                    way,
                    partial(paths.connections, layer, n=n, sizes=sizes),
                    longest=longest,
                    color=color,
                    alt=f"{title}: {steps} from {names[start]} to {names[end]}.",
                    rows=1 if recurs else len(way) - 1,
                )
            )
    stack = ways[paths.CONTIGUOUS]
    layers = counted(len(stack) - 1, "layer") if stack else "no stack is enough"
    text = (
        f"Each step takes the same time in all three pictures. With contiguous kernels in place "
        f"of dilated ones: {layers}. {_farthest(trace, names)}"
    )
    return Shown(sizes, n, text)


def _word(label: str, key: str, names: list[str], first: int) -> int:
    named, places = [f"{n} {name}" for n, name in enumerate(names, start=1)], range(len(names))
    if not fields.clamp_choice(key, len(names)):  # another sentence may have fewer words
        address.choose_by_number(key, named)
    shown = named.__getitem__
    return fields.menu(label, places, key, width=200, index=int(first), format_func=shown)


def _farthest(trace: AttentionTrace, names: list[str]) -> str:
    look = compute("look", paths.farthest_look, trace)
    if look is None:
        return "No head of the encoder gives half of its weight to another word of this sentence."
    layer, head, query, key = look
    far, weight = counted(abs(query - key), "token"), format_number(float(trace.encoder_self[look]))
    return (
        f"{head_title('encoder_self', layer, head)} bridges {far} in one step: "
        f"{quoted(names[query])} gives {weight} of its weight to {quoted(names[key])}."
    )
