"""The numbers behind one ribbon: its row of the map, and q·k, softmax and value of the row."""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.paper.arithmetic import arithmetic, sublayer_values
from transformer.attention import MultiHeadAttention, attention_scores
from viz.app.cache import cached_results, memory
from viz.app.chrome import head_picker, mounts
from viz.app.chrome.explanations import as_markdown, code_line
from viz.app.links import address, navigation
from viz.app.sentence.sentence_bar import origin_of
from viz.draw import attention_map, caption, player
from viz.draw.formatting import format_number, per_cent
from viz.draw.labels import display_tokens, named_head

NUMBERS = "numbers"
"""Name in the URL of the open ribbon: kind, layer, head, row and column, from 1."""


def open_numbers(place: dict[str, Any]) -> None:
    """Put the ribbon that was clicked into the address."""
    numbers = (str(place[name] + 1) for name in ("layer", "head", "query", "key"))
    address.choose(NUMBERS, "-".join([place["kind"], *numbers]))


def opened_numbers(trace: AttentionTrace) -> dict[str, Any] | None:
    """Return the ribbon that the address names, if the trace has it."""
    kind, *numbers = st.query_params.get(NUMBERS, "").split("-")
    if len(numbers) != 4 or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    names = ("layer", "head", "query", "key")
    given = {name: int(n[:6]) - 1 for name, n in zip(names, numbers, strict=True)}
    return player.head_of({"kind": kind, **given}, trace)


def show_numbers(translator: Translator, trace: AttentionTrace) -> None:
    """Draw the numbers of the open ribbon, if there is one."""
    if (place := opened_numbers(trace)) is None:
        return
    kind, layer, head, query, key = place.values()
    values = memory.memo_per_trace(
        trace,
        ("sublayer", cached_results.identity(translator), kind, layer),
        lambda: sublayer_values(translator.model, trace, kind, layer),
    )
    d_k = values.q.shape[-1]
    row = arithmetic(values, head, query, 1 / math.sqrt(d_k))
    labels = trace.labels(kind, "writes" if kind == "cross" else "reads")
    looked = display_tokens(labels.keys)
    added = np.linalg.norm(row.weighted, axis=-1)
    title = named_head(kind, layer, head)
    with st.container(key="numbers"):
        heading, close = st.columns([9, 1])
        heading.subheader(f"Why {title} looks at “{looked[key]}”: the numbers", anchor=False)
        close.button("Close", key="numbers-close", on_click=address.choose, args=(NUMBERS, None))
        st.markdown(
            as_markdown(
                f"q · k is {format_number(row.dots[key])}. Divided by √{d_k} it is the score "
                f"{format_number(row.scaled[key])}. The softmax over the row makes it "
                f"{per_cent(float(row.weights[key]))}. That share of the value vector of "
                f"“{looked[key]}” goes into the output. Its length is "
                f"{format_number(float(added[key]))}; the whole output has length "
                f"{format_number(float(np.linalg.norm(row.z)))}."
            )
        )
        picture, table = st.columns([5, 4], gap="large")
        with picture:
            data = attention_map.encode_map(
                trace.weights(kind)[layer, head],
                labels,
                kind,
                title=title,
                languages=trace.languages,
                reads=trace.decoder_tokens if kind == "cross" else None,
                pinned=query,
                caption=origin_of(trace).caption(caption.head_caption(kind, layer, head)),
            )
            mounts.mount("numbers-map", data)
        with table:
            frame = pd.DataFrame(
                {
                    "looks at": looked,
                    "q · k": row.dots,
                    f"÷ √{d_k}": np.where(row.seen, row.scaled, np.nan),
                    "weight": row.weights,
                    "length of weight × value": added,
                }
            ).iloc[: len(row.dots)]
            st.dataframe(
                frame.style.format(precision=3).apply(
                    lambda cells: ["font-weight: 700" if cells.name == key else ""] * len(cells),
                    axis=1,
                ),
                hide_index=True,
                height=min(38 * (len(frame) + 1), 420),
            )
            choices = {**head_picker.link_parameters(kind, layer, head), "word": str(query + 1)}
            navigation.plain_link("inside", "See every step of this row", choices)
            navigation.plain_link(
                "heads", "Compare with all heads", head_picker.link_parameters(kind, layer, head)
            )
            st.caption(f"{code_line(attention_scores)}, {code_line(MultiHeadAttention.attend)}")
