"""Paths between two words of the sentence: attention, recurrence and convolution, playing."""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace
from transformer.analysis.heads.head import Head
from transformer.analysis.sinks import are_sinks
from transformer.paper import costs, paths
from viz.app.cache import memory
from viz.app.chrome import fields
from viz.app.sentence import sentence_bar
from viz.draw.formatting import counted, format_number
from viz.draw.labels import display_tokens, quoted
from viz.figures.axes import CURVE_COLORS
from viz.figures.paths import path_picture

PICTURE = "paths-picture"  # key of the pictures
TITLES = {
    costs.SELF_ATTENTION: "Self-attention",
    costs.RECURRENT: "Recurrent",
    costs.CONVOLUTIONAL: "Convolutional, dilated",
}
LAYER_COLORS = dict(zip(costs.LAYERS, CURVE_COLORS, strict=False))
"""Colours of the layers of Table 1, different from those of the kinds of attention."""


class Shown(NamedTuple):
    """What the rest of the page says of the pictures."""

    sizes: costs.Sizes
    text: str = ""
    code: str = ""


def show(*, d: int, r: int, h: int) -> Shown:
    """Draw the kernel's field, the two words and the pictures."""
    row = fields.controls_row("paths-controls")
    with row:
        k = fields.whole_number("Kernel k", "arch_k", 1, 64, 3, width=170)
    sizes = costs.Sizes(d=d, k=k, r=r, h=h)
    if (bar := sentence_bar.traced()) is None:
        return Shown(sizes)
    return _pictures(bar.trace, sizes, row)


def _pictures(trace: AttentionTrace, sizes: costs.Sizes, row: DeltaGenerator) -> Shown:
    names = display_tokens(trace.source_tokens)
    n = len(names)
    with row:
        words = [*np.flatnonzero(~are_sinks(trace.source_tokens, trace.special))] or [0]
        ends = [
            _word(label, key, names, int(first))
            for label, key, first in (
                ("From", "path_from", words[0]),
                ("to", "path_to", words[-1]),
            )
        ]
    start, end = sorted(ends)  # recurrence and kernels read from left to right
    ways = {}
    for layer in (*TITLES, paths.CONTIGUOUS):
        search = partial(paths.shortest_path, layer, n, start, end, sizes)
        ways[layer] = memory.memo(("path", layer, n, start, end, sizes), search)
    longest = max(len(way) - 1 for way in ways.values() if way)
    with st.container(key=PICTURE):
        for column, (layer, title) in zip(st.columns(3, gap="large"), TITLES.items(), strict=True):
            with column, st.container(gap=None):
                recurs, way = layer == costs.RECURRENT, ways[layer]
                if way is None:
                    st.markdown(f"**{title}**: no path")
                    st.text("A kernel of 1 sees one word: no stack connects two.")
                    continue
                steps = counted(len(way) - 1, "step" if recurs else "layer")
                st.markdown(f"**{title}**: {steps}")
                picture = path_picture(
                    trace.source_tokens,
                    way,
                    partial(paths.connections, layer, n=n, sizes=sizes),
                    longest=longest,
                    color=LAYER_COLORS[layer],
                    alt=f"{title}: {steps} from {names[start]} to {names[end]}.",
                    rows=1 if recurs else None,
                )
                st.html(picture)
    stack = ways[paths.CONTIGUOUS]
    layers = "no stack is enough" if stack is None else counted(len(stack) - 1, "layer")
    text = (
        f"Each step takes the same time in all three pictures. With contiguous kernels in place "
        f"of dilated ones: {layers}. {_farthest(trace)}"
    )
    code = f"""
        # Paths
        result = {{}}
        for layer in {(*TITLES, paths.CONTIGUOUS)}:
            result[layer] = paths.shortest_path(layer, {n}, {start}, {end}, sizes)
        # The farthest look
        sinks = are_sinks(trace.source_tokens, trace.special)
        result = paths.farthest_look(trace.encoder_self, sinks)
    """
    return Shown(sizes, text, code)


def _word(label: str, key: str, names: list[str], first: int) -> int:
    fields.clamp_choice(key, len(names))
    named = [f"{n} {name}" for n, name in enumerate(names, start=1)].__getitem__
    places = range(len(names))
    return fields.menu(label, places, key, width=200, index=first, format_func=named)


def _farthest(trace: AttentionTrace) -> str:
    sinks = are_sinks(trace.source_tokens, trace.special)
    if (look := paths.farthest_look(trace.encoder_self, sinks)) is None:
        return "No head of the encoder gives half of its weight to another word of this sentence."
    names = display_tokens(trace.source_tokens)
    head = Head("encoder_self", look.layer, look.head)
    far = counted(abs(look.query - look.key), "token")
    return (
        f"For {head.title}, {far} are one step: {quoted(names[look.query])} gives "
        f"{format_number(look.weight)} of its weight to {quoted(names[look.key])}."
    )
