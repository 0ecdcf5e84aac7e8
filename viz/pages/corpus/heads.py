"""The view “Heads”: every head as a point, one measure against another, and as a row of a table."""

from functools import partial

import pandas as pd
import streamlit as st

from transformer import Translator, kinds
from transformer.corpus.measured import COST, HEAD_MEASURES, head_means, heads_table
from transformer.corpus.resampling import holm, permutation_p
from viz.app.chrome import charts, explanations, fields, head_picker
from viz.app.links import navigation
from viz.app.view import compute, figure, view
from viz.draw.formatting import counted
from viz.draw.labels import measure_name, role_name
from viz.figures.head_scatter import KIND, MIXED, ROLE, furthest, head_scatter
from viz.pages.corpus.lines import choose_lines
from viz.pages.corpus.removal import open_removal

X, Y, COLOR = "corpus_x", "corpus_y", "corpus_color"  # names in the URL


@view("Heads", needs="model", question="What does each head do over many lines?")
def all_heads(translator: Translator) -> None:
    """Draw the scatter of all heads, then their table."""
    lines = choose_lines(translator)
    means = compute("means", head_means, lines)
    table = compute("table", heads_table, lines, means)
    names = list(lines.head_values)
    with fields.controls_row("corpus-heads-controls"):
        draw = partial(fields.menu, width=190, format_func=measure_name)
        x = draw("x", names, X, index=names.index("confidence"))
        y = draw("y", names, Y, index=names.index(COST if COST in names else "sink"))
        color = draw("Colour", [KIND, ROLE, *names], COLOR)
        first = lines.heads[next(iter(furthest(table, x, y)), 0)]
        with st.popover("Choose a head", key="corpus-choose-head"):
            opened = head_picker.pick_head(translator, head_picker.link_parameters(*first))
    with st.container(key="corpus-scatter"):
        charts.draw_clickable(
            figure("chart", head_scatter, table, x, y, color, opened),
            f"corpus-scatter-{opened.kind}-{opened.layer}-{opened.head}",
            lines.heads,
            f"{measure_name(y)} of every head against its {measure_name(x)}: the table below has "
            f"the same numbers, and the menus above open a head.",
        )
    drawn = int(table[[x, y]].notna().all(axis=1).sum())
    notes = [f"{measure_name(name)}: {HEAD_MEASURES[name]}." for name in dict.fromkeys((x, y))]
    if drawn < len(table):
        notes.append(f"Not drawn: {counted(len(table) - drawn, 'head')} without such a measure.")
    bars = f"Bars: 95 % intervals over {counted(len(lines), 'line')}."
    st.caption(" ".join(["Click a head to open it.", bars, *notes]))
    row = lines.places[opened]
    with st.container(key="corpus-opened", horizontal=True, vertical_alignment="center"):
        role = role_name(table["role"][row], opened.kind) or MIXED
        head_picker.head_heading(opened, f"over {counted(len(lines), 'line')}: {role}")
        st.button(
            "See its sentences",
            key="corpus-open",
            on_click=lambda: st.session_state.update({navigation.CORPUS_VIEW: navigation.ONE_HEAD}),
        )
        st.button("Remove this head", key="corpus-remove", on_click=open_removal, args=(opened,))
    _table(table, [x, y])
    explanations.explain(
        "Each measure is averaged over the rows of a head, loss increase over the subwords; its "
        "interval is a bootstrap over the lines (Efron 1979). p: from a sign-flip permutation test "
        "over the lines, corrected for all heads (Holm). The page shows where a head looked and "
        "what changed without it, never why the model decided."
        + explanations.sources("§3.2.2", head_means, heads_table, permutation_p, holm)
    )


def _table(table: pd.DataFrame, axes: list[str]) -> None:
    columns, cost = [str(name) for name in table], f"{COST} p"
    ends = ("", " low", " high", " p")
    first = [f"{axis}{end}" for axis in dict.fromkeys(axes) for end in ends]
    first = [name for name in first if name in columns]
    hidden = {f"{name}{end}" for name in HEAD_MEASURES for end in (" low", " high")} - {*first}
    order = [*columns[:4], *first]
    order += [name for name in columns if name not in {*order, *hidden}]
    shown = table[order].assign(kind=table["kind"].map(kinds.KIND_NAMES))
    shown = shown.sort_values(axes[-1], ascending=False, kind="stable")
    floats = [name for name in order if table[name].dtype.kind == "f"]
    titles = {
        **{name: measure_name(name) for name in floats},
        cost: f"{measure_name(COST)} p (Holm)",
    }
    formats = {**dict.fromkeys(floats, "%.3f"), cost: "%.4f"}
    charts.data_table(shown, "heads", formats, titles=titles, saved=table)
