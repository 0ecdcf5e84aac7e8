"""The view “One head”: its sentences by tenths of a measure, how far it looks, and at what."""

import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.corpus import search
from transformer.corpus.head_tokens import HeadTokens, head_tokens
from transformer.corpus.measured import COST, HEAD_MEASURES, MeasuredLines
from transformer.corpus.measuring import measure_lines, trace_of
from viz.app import jobs
from viz.app.cache import cached_results, memory
from viz.app.chrome import charts, explanations
from viz.app.chrome.fields import controls_row, menu
from viz.app.chrome.head_picker import head_heading, link_parameters, pick_head
from viz.app.links import navigation
from viz.app.sentence import python_code, search_request
from viz.draw import palette
from viz.draw.formatting import counted, format_number
from viz.draw.labels import display_tokens, measure_name, role_name
from viz.figures import changes, head_scatter
from viz.pages.corpus.measurements import Measured, first_head, means_of

MEASURE = "corpus_measure"  # name in the URL
LONGEST = 64  # subwords of a side up to which a sentence has a small map
AT_ONCE = 300  # lines up to which tokens are counted automatically, at some 8 ms a line

_IN_ROW = 5


def show(translator: Translator, measured: Measured) -> str:
    """Draw one head over all lines."""
    lines = measured.lines
    with controls_row("corpus-head-controls"):
        head = pick_head(translator, link_parameters(*first_head(measured)))
        names = lines.measures_of([head])
        first = names.index(COST if COST in names else "confidence")
        name = menu("Measure", names, MEASURE, index=first, width=220, format_func=measure_name)
    column, means = lines.places[head], means_of(measured)
    mean = [format_number(float(values[column]), 3) for values in means.values[name]]
    with st.container(key="corpus-head", horizontal=True, vertical_alignment="center"):
        role = role_name(means.roles[column], head.kind) or head_scatter.MIXED
        head_heading(head, f"over {counted(len(lines), 'line')}: {role}")
        navigation.link("heads", "See where it looks in your sentence", link_parameters(*head))
    st.text(f"{measure_name(name)} {mean[0]} ({mean[1]} to {mean[2]}): {HEAD_MEASURES[name]}.")
    _sentences(translator, measured, head, name)
    left, middle, right = st.columns([4, 3, 4], gap="medium")
    with left:
        _distances(lines, head)
    with middle:
        if (tokens := _tokens(translator, measured, head)) is not None:
            _token_table("Tokens with the most weight", tokens.keys, ["key"])
    if tokens is not None:
        with right:
            _token_table("Pairs with the most weight", tokens.pairs, ["query", "key"])
    explanations.explain(
        "The page sorts the lines by the measure, cuts them into tenths, and draws the middle line "
        "of each tenth: you see typical lines, not only the best. Weights say where the head "
        "looked, never why the model decided (Jain & Wallace 2019, Wiegreffe & Pinter 2019)."
        + explanations.sources("§3.2.1, equation 1", measure_lines, search.deciles, head_tokens)
    )
    return f"""
        head = {python_code.head_code(head)}
        rows = [group[0] for group in deciles(lines.values_of(head, {name!r}))]
        # A line of each tenth of {name}
        result = [(lines.pairs[row], lines.values_of(head, {name!r})[row]) for row in rows]
        # Small maps of these lines
        traces = [trace_of(translator, lines.pairs[row]) for row in rows]
        result = [trace.weights(head.kind)[head.layer, head.head] for trace in traces]
        # How far it looks
        figure = offset_histogram(lines.offset_counts[lines.places[head]], COLOR[head.kind])
        # Tokens and pairs with the most weight
        result = head_tokens(translator, lines, head)
    """


def _sentences(translator: Translator, measured: Measured, head: Head, name: str) -> None:
    lines = measured.lines
    values = lines.values_of(head, name)
    groups = search.deciles(values)
    with st.container(key="corpus-tenths"):
        for start in range(0, len(groups), _IN_ROW):
            cells = st.columns(_IN_ROW, gap="small")
            for number, cell in enumerate(cells[: len(groups) - start], start=start):
                row = int(groups[number][0])
                with cell:
                    st.caption(
                        f"{number + 1} of {len(groups)} · {measure_name(name)} "
                        f"{format_number(values[row], 3)} · line {lines.pairs[row].number:,}"
                    )
                    _sentence(translator, measured, head, row, number)


def _sentence(
    translator: Translator, measured: Measured, head: Head, row: int, number: int
) -> None:
    pair = measured.lines.pairs[row]
    if max(len(pair.source_ids), len(pair.target_ids)) > LONGEST:
        st.caption("Too long for a small map.")
    else:
        trace = memory.memo(("line", measured.key, row), lambda: trace_of(translator, pair))
        charts.draw_small_map(
            trace,
            head,
            key=f"corpus-tenth-{number}",
            alt=f"Where {head.title} looks in line {pair.number}.",
        )
    st.text(pair.source)
    st.button(
        f"Use line {pair.number}",
        key=f"corpus-use-{number}",
        on_click=search_request.put_text,
        args=(pair.source,),
    )


def _distances(lines: MeasuredLines, head: Head) -> None:
    counts = lines.offset_counts[lines.places[head]]
    st.subheader("How far it looks", anchor=False)
    charts.altair_chart(
        changes.offset_histogram(counts, palette.COLOR[head.kind]),
        key="corpus-distances",
        title=head.title,
        alt=f"Rows of {head.title} by the distance to their largest weight.",
    )
    rows = int(lines.rows[head.kind].sum())
    if absent := rows - int(counts.sum()):
        st.caption(
            f"{counted(rows, 'row')}. Not drawn: {absent:,} with no single largest weight, or one "
            f"more than {len(counts) // 2} subwords away."
        )


def _tokens(translator: Translator, measured: Measured, head: Head) -> HeadTokens | None:
    """Return the tokens with the largest shares; None until the user asks for them."""
    key, lines = measured
    name = "head tokens", key, head
    if len(lines) > AT_ONCE:
        tokens: HeadTokens | None = jobs.get_or_offer(
            "corpus-tokens",
            name,
            f"Counting the tokens of {head.title}",
            translator.folder,
            lambda model, report: head_tokens(model, lines, head, progress=report),
            "Count this head's tokens",
        )
        return tokens

    def compute() -> HeadTokens:
        with cached_results.progress_bar("Counting tokens") as report:
            return head_tokens(translator, lines, head, progress=report)

    return memory.memo(name, compute)


def _token_table(title: str, table: pd.DataFrame, sides: list[str]) -> None:
    st.subheader(title, anchor=False)
    names = {
        "query": "row",
        "key": "looks at",
        "share": "share of all weight",
        "mean": "mean weight",
    }
    shown = table[[*sides, "mean", "count", "share"]].assign(
        **{side: display_tokens(list(table[side])) for side in sides}
    )
    st.dataframe(
        shown.rename(columns={**names, "count": "times"}),
        hide_index=True,
        height=250,
        column_config={
            "mean weight": st.column_config.NumberColumn(format="%.3f"),
            "share of all weight": st.column_config.NumberColumn(format="percent"),
        },
        key=f"corpus-tokens-{len(sides)}",
    )
