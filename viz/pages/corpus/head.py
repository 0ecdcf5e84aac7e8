"""The view “One head”: its sentences by tenths of a measure, how far it looks, and at what."""

import pandas as pd
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.heads.head import Head
from transformer.corpus import search
from transformer.corpus.head_tokens import head_tokens
from transformer.corpus.measured import COST, HEAD_MEASURES, LinePair, MeasuredLines, head_means
from transformer.corpus.measuring import measure_lines, trace_lines
from viz.app.chrome import charts, explanations
from viz.app.chrome.fields import controls_row, menu
from viz.app.chrome.head_picker import head_heading, link_parameters, pick_head
from viz.app.links import navigation
from viz.app.sentence import search_request
from viz.app.view import Offer, compute, compute_on_request, figure, list_result, part, view
from viz.draw import palette
from viz.draw.formatting import counted, format_number
from viz.draw.labels import display_tokens, measure_name, role_name
from viz.figures import changes, head_scatter
from viz.pages.corpus.lines import choose_lines
from viz.pages.corpus.measurements import first_head

MEASURE = "corpus_measure"  # name in the URL
LONGEST = 64  # subwords of a side up to which a sentence has a small map
AT_ONCE = 300  # lines up to which tokens are counted automatically, at some 8 ms a line

_IN_ROW = 5


@view(navigation.ONE_HEAD, needs="model", question="On which lines does a head do most, and least?")
def one_head(translator: Translator) -> None:
    """Draw one head over all lines."""
    lines = choose_lines(translator)
    with controls_row("corpus-head-controls"):
        head = pick_head(translator, link_parameters(*first_head(lines)))
        names = lines.measures_of([head])
        first = names.index(COST if COST in names else "confidence")
        name = menu("Measure", names, MEASURE, index=first, width=220, format_func=measure_name)
    column, means = lines.places[head], compute("means", head_means, lines)
    mean = [format_number(float(values[column]), 3) for values in means.values[name]]
    with st.container(key="corpus-head", horizontal=True, vertical_alignment="center"):
        role = role_name(means.roles[column], head.kind) or head_scatter.MIXED
        head_heading(head, f"over {counted(len(lines), 'line')}: {role}")
        navigation.link("heads", "See where it looks in your sentence", link_parameters(*head))
    st.text(f"{measure_name(name)} {mean[0]} ({mean[1]} to {mean[2]}): {HEAD_MEASURES[name]}.")
    values = lines.values_of(head, name)
    list_result("values", values, lines.values_of, head, name)
    tenths = compute("tenths", search.deciles, values)
    rows = [int(tenth[0]) for tenth in tenths]
    drawn = [row for row in rows if _length(lines.pairs[row]) <= LONGEST]
    traces = dict(zip(drawn, compute("traces", trace_lines, translator, lines, drawn), strict=True))
    with st.container(key="corpus-tenths"):
        for start in range(0, len(rows), _IN_ROW):
            cells = st.columns(_IN_ROW, gap="small")
            for number, cell in enumerate(cells[: len(rows) - start], start=start):
                pair, value = lines.pairs[row := rows[number]], format_number(values[row], 3)
                with cell:
                    st.caption(
                        f"{number + 1} of {len(rows)} · {measure_name(name)} {value} · line "
                        f"{pair.number:,}"
                    )
                    _sentence(pair, traces.get(row), head, number)
    left, middle, right = st.columns([4, 3, 4], gap="medium")
    with left:
        _distances(lines, head)
    with middle:
        label = "Count this head's tokens" if len(lines) > AT_ONCE else ""
        offer = Offer("corpus-tokens", f"Counting the tokens of {head.title}", label)
        tokens = compute_on_request("tokens", offer, head_tokens, translator, lines, head)
        if tokens is not None:
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


def _length(pair: LinePair) -> int:
    return max(len(pair.source_ids), len(pair.target_ids))


def _sentence(pair: LinePair, trace: AttentionTrace | None, head: Head, number: int) -> None:
    if trace is None:
        st.caption("Too long for a small map.")
    else:
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
    counts = part("counts", lines.offset_counts, lines.places[head])
    st.subheader("How far it looks", anchor=False)
    charts.altair_chart(
        figure("distances", changes.offset_histogram, counts, palette.COLOR[head.kind]),
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
