"""The view “Heads forming”: the attention that a run saved for a few sentences, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from training.run.journal import LOG, MAX_STEP, RunLogError
from transformer import KINDS, AttentionTrace, HeadlightError, Kind
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES, measure
from transformer.analysis.heads.roles import head_roles
from transformer.files.installed import BUNDLED
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import explain, sources
from viz.app.chrome.fields import menu
from viz.app.chrome.head_picker import UrlNames, open_head, pick_kind, pick_layer_and_head
from viz.app.chrome.mounts import mount_grid, mount_map
from viz.app.chrome.play import play_button
from viz.app.chrome.problems import say
from viz.app.sentence import worth_seeing
from viz.app.sentence.python_code import show_code
from viz.draw.attention_map import encode_map
from viz.draw.caption import Origin, grid_caption, head_caption
from viz.draw.formatting import counted, format_number
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.labels import SCREEN_NAMES, head_name, role_name
from viz.draw.open_head import heads_of_kind, open_map
from viz.draw.palette import COLOR
from viz.figures.axes import step_axis
from viz.figures.colors import GREY
from viz.findings.training import heads_form, steepest_rise
from viz.pages.training.runs import (
    RUNS_HELP,
    Probes,
    find,
    folder_code,
    forget_unknown,
    has_probes,
    is_live,
    known_runs,
    load,
    load_all,
    load_log,
    nearest,
    offered_runs,
    report_missing,
)

RUN, SENTENCE, STEP, MEASURE = "forming_run", "sentence", "trained", "measure"
FORMING_HEAD = UrlNames("forming_layer", "forming_head")
"""Names in the URL; another model has other layers than the one of the sentence bar."""

_LAST = "forming_last"
"""Name in the session state of the drawn run and its last step."""

MAX_NAMED = 3
"""Unreadable files that are named one by one."""


def show(question: DeltaGenerator, row: DeltaGenerator) -> None:
    """Draw the saved steps, the menus of run and sentence in the row of the views.

    What is worth seeing stands beside the question of the page.
    """
    runs = offered_runs(RUN, known_runs())
    # the first that saved attention: not the run of every model did
    index = next((n for n, folder in enumerate(runs.values()) if has_probes(folder)), 0)
    with row:
        name = menu(
            "Run", list(runs), RUN, width=240, index=index,
            on_change=forget_unknown, help=RUNS_HELP,
        )  # fmt: skip
    report_missing(RUN)
    try:
        # a deleted run is no longer in the menu
        _attention(name, runs.get(name, BUNDLED), question, row)
    except HeadlightError as error:
        say(error)


def _attention(name: str, folder: Path, question: DeltaGenerator, row: DeltaGenerator) -> None:
    """Draw the saved attention of a run, or a message where there is none."""
    sentences = find(folder)
    # draws nothing: while a run continues, it checks every few seconds for new files
    live = is_live(folder)
    st.fragment(_follow, run_every="3s" if live else None)(folder, sentences, live)
    if not sentences:
        st.text(
            f"{name} has saved no attention yet: a run saves it at its steps 1, 2, 4, 8 and so on "
            f"and at each validation, in its folder probes."
        )
        return
    with row:
        probes = _sentence(sentences)
    _pictures(name, folder, probes, question, row)


def _follow(folder: Path, drawn: list[Probes], followed: bool) -> None:
    """Redraw the page when a run has saved more than is drawn, and when it has ended."""
    with suppress(HeadlightError):  # reported when the page is redrawn
        if find(folder) == drawn and (is_live(folder) or not followed):
            return
    st.rerun()


def _sentence(sentences: Sequence[Probes]) -> Probes:
    """Draw the menu of sentences, named by their source; return one."""
    numbers = [str(n + 1) for n in range(len(sentences))]
    names = {
        n: _name(probes) or f"sentence {n}" for n, probes in zip(numbers, sentences, strict=True)
    }
    number = menu("Sentence", numbers, SENTENCE, width=330, format_func=names.__getitem__)
    return sentences[int(number) - 1]


def _name(probes: Probes) -> str | None:
    for path in list(probes.values())[:MAX_NAMED]:
        with suppress(HeadlightError):
            return load(path).source
    return None


def _pictures(
    run: str, folder: Path, probes: Probes, question: DeltaGenerator, row: DeltaGenerator
) -> None:
    traces, problems = load_all(probes)
    for sentence in problems[:MAX_NAMED]:
        st.text(sentence)
    if len(problems) > MAX_NAMED:
        st.text(f"{len(problems) - MAX_NAMED:,} more files of this sentence cannot be drawn.")
    if not traces:
        return
    first, last = traces[min(traces)], traces[max(traces)]
    confidence = {
        step: float(measured(trace, "cross", "confidence").mean()) for step, trace in traces.items()
    }
    here = {RUN: run, SENTENCE: st.session_state.get(SENTENCE, "1")}
    formed = heads_form(confidence, here)
    worth_seeing.link("training", question, [formed] if formed else [])
    with st.container(key="forming-controls", horizontal=True, gap="small"):
        kind = pick_kind()
        layers, heads = first.weights(kind).shape[:2]
        # the head that comes to be the most confident
        formed_last = int(np.nan_to_num(measured(last, kind, "confidence")).argmax())
        layer, head = pick_layer_and_head(FORMING_HEAD, layers, heads, divmod(formed_last, heads))
        before, _ = steepest_rise(confidence) or (next(iter(traces)), None)
        step = _step(folder, list(traces), before)
    if loss := _loss(folder, step):
        row.text(loss, width="content")
    drawn = traces[step]
    origin = Origin(drawn.source, drawn.target, f"{run} after step {step:,}", checksum="")
    grid, picture = st.columns([5, 7], gap="medium")
    with grid:
        # the kind of the open head comes first, beside its map
        kinds = sorted(KINDS, key=lambda other: other != kind)
        parts = [
            GridPart(other, drawn.weights(other), drawn.labels(other), roles(drawn, other))
            for other in kinds
        ]
        data = encode_grid(
            parts,
            key="forming-grid",
            opens="forming-map",
            caption=origin.caption(grid_caption()),
        )
        mount_grid(
            "forming-grid",
            data,
            parts,
            selected=Head(kind, layer, head),
            on_pick=lambda clicked: open_head(clicked, FORMING_HEAD),
        )
    with picture:
        opened = open_map(heads_of_kind(drawn, kind, words=False, special=True), layer, head)
        encode = partial(
            encode_map,
            opened.weights,
            opened.labels,
            kind,
            title=opened.title,
            languages=drawn.languages,
            reads=opened.reads,
            writes=opened.writes,
            caption=origin.caption(head_caption(kind, layer, head)),
        )
        mount_map("forming-map", opened.labels, encode)
        name = menu(
            "Measure, step after step",
            list(MEASURES),
            MEASURE,
            width=200,
            index=list(MEASURES).index("confidence"),
            help="  \n".join(f"**{name}**: {text}" for name, text in MEASURES.items()),
        )
        altair_chart(
            measure_chart(
                list(traces),
                np.stack([measured(trace, kind, name) for trace in traces.values()]),
                kind=kind,
                selected=(layer, head),
                marked=step,
                unit=name,
            ),
            alt=f"The {name} of each {SCREEN_NAMES[kind]} head over the steps of the run.",
        )
    explain(
        "Move the slider, or press Play: every head on one sentence that the run saved with its "
        f"translation, while the model learns. The word under a map says what the head does most. "
        f"{describe_forming(traces)}" + sources("§3.2.2", head_roles)
    )
    probe = probes[step].name
    files = f"step-*-sentence-{probe.rpartition('-')[2]}"
    show_code(f"""
        folder = {folder_code(folder)} / "probes"
        saved = AttentionTrace.load(folder / {probe!r})
        # All heads
        figure = explore(saved, selected={(kind, layer, head)})
        # {opened.title}
        weights = saved.weights({kind!r})[{layer}, {head}]
        figure = head_map(weights, *saved.labels({kind!r}), kind={kind!r})
        # {name}, step after step
        steps = map(AttentionTrace.load, sorted(folder.glob({files!r})))
        result = [measure(by_pieces(x, {kind!r}), {kind!r}, {name!r}) for x in steps]
    """)


def _step(folder: Path, steps: Sequence[int], first: int) -> int:
    """Draw the slider of the saved steps; return one, at first that before which few heads formed.

    A reader who looks at the last step of a live run moves on to its next one.
    """
    requested = st.session_state.get(STEP)
    if requested is not None and st.session_state.get(_LAST) == (folder, requested):
        st.session_state[STEP] = steps[-1]
    st.session_state[_LAST] = (folder, steps[-1])
    if len(steps) == 1:
        return steps[0]
    # a link, or the previous run, may have other steps
    if requested is not None and requested not in steps:
        st.session_state[STEP] = nearest(steps, requested)
    text = st.query_params.get(STEP, "").replace(",", "")
    valid = len(text) <= len(str(MAX_STEP)) and text.isascii() and text.isdecimal()
    if requested is None and valid:
        # set here and not as the slider's default, which Streamlit leaves out of the address
        st.session_state[STEP] = nearest(steps, int(text))
    step: int = st.select_slider(
        "Step",
        steps,
        value=first,
        format_func=lambda n: f"{n:,}",
        key=STEP,
        bind="query-params",
        help="Of the training: those at which the run saved what its heads looked at.",
        width=290,
    )
    index = steps.index(step)

    def go_to(step: int) -> None:
        st.session_state[STEP] = step

    before, after = steps[max(index - 1, 0)], steps[min(index + 1, len(steps) - 1)]
    for label, target, direction in (
        ("Step before", before, "back"),
        ("Next step", after, "forward"),
    ):
        st.button(
            label,
            on_click=go_to,
            args=(target,),
            icon=f":material/arrow_{direction}:",
            disabled=target == step,
            key=f"forming-{label}",
        )
    play_button(STEP, steps, index)
    return step


def _loss(folder: Path, step: int) -> str:
    """Describe the logged loss at a step; each line of the log is a mean over a few steps."""
    try:
        records = load_log(folder / LOG).records
    except RunLogError:
        return ""
    losses = {int(r["step"]): r["loss"] for r in records if "loss" in r}
    last = min((logged_step for logged_step in losses if logged_step >= step), default=None)
    if last is None:
        return ""
    first = max((logged_step for logged_step in losses if logged_step < last), default=0) + 1
    return f"Training loss {float(losses[last]):.2f} (mean of steps {first:,} to {last:,})"


def measured(trace: AttentionTrace, kind: Kind, name: str) -> NDArray[np.float64]:
    """Compute a measure of every head of one kind, `[layer, head]`, cached for each trace."""
    return memo_per_trace(
        trace, ("measure", kind, name), lambda: measure(by_pieces(trace, kind), kind, name)
    )


def roles(trace: AttentionTrace, kind: Kind) -> list[list[str]]:
    """Find the role of every head of one kind."""

    def compute() -> list[list[str]]:
        names = head_roles(by_pieces(trace, kind), kind)
        return [[role_name(role, kind) for role in layer] for layer in names]

    return memo_per_trace(trace, ("roles", kind), compute)


def describe_forming(traces: Mapping[int, AttentionTrace]) -> str:
    """Describe the course of each kind's confidence, and name the first one-to-one head's step.

    The traces are of one sentence and model, by step, in order; of fewer than two, "" is returned.
    """
    if len(traces) < 2:
        return ""
    first, *_, last = traces
    courses = "; that ".join(_course(traces, kind) for kind in KINDS)
    alignment = "No cross-attention head is one-to-one at any step on the slider."
    for step, trace in traces.items():
        if any("one-to-one" in layer for layer in roles(trace, "cross")):
            alignment = (
                f"Of the steps on the slider, {step:,} is the first at which a "
                f"cross-attention head is one-to-one."
            )
            break
    return f"From step {first:,} to step {last:,}, the mean confidence {courses}. {alignment}"


def _course(traces: Mapping[int, AttentionTrace], kind: Kind) -> str:
    """Describe one kind's confidence: its rise and the middle of it, or what lies outside."""
    values = {step: float(measured(t, kind, "confidence").mean()) for step, t in traces.items()}
    first, *_, last = values.values()
    heads = measured(next(iter(traces.values())), kind, "confidence").size
    heads_text = f"of the {counted(heads, f'{SCREEN_NAMES[kind]} head')}"
    start, end = format_number(first), format_number(last)
    beyond = ""
    for word, extreme in (("least", min), ("most", max)):
        step = extreme(values, key=values.__getitem__)
        if (shown := format_number(values[step])) not in (start, end):
            beyond += f", at {word} {shown} (step {step:,})"
    if beyond:
        return f"{heads_text} goes from {start} to {end}{beyond}"
    if first >= last or start == end:
        return f"{heads_text} does not rise ({start}, {end})"
    halfway = next(step for step, value in values.items() if value - first >= (last - first) / 2)
    return f"{heads_text} rises from {start} to {end}, halfway by step {halfway:,}"


HEIGHT = 260  # CSS pixels


def measure_chart(
    steps: Sequence[int],
    values: NDArray[np.float64],
    *,
    kind: Kind,
    selected: tuple[int, int],
    marked: int,
    unit: str,
) -> alt.LayerChart:
    """Draw one line for each head, the selected one in the colour of its kind.

    The values are `[step, layer, head]`; the steps, of which one is marked, count from 1 on a
    logarithmic axis, as heads form early.
    """
    step, layer, head = (axis.ravel() for axis in np.indices(values.shape))
    frame = pd.DataFrame(
        {
            "step": np.asarray(steps)[step],
            "head": [head_name(int(n), int(m)) for n, m in zip(layer, head, strict=True)],
            "value": values.ravel(),
            "selected": (layer == selected[0]) & (head == selected[1]),
        }
    )
    x = step_axis(alt.Scale(type="log", nice=False), values=[10**n for n in range(8)])
    base = alt.Chart(frame, height=HEIGHT).encode(
        x,
        alt.Y("value:Q", title=unit, axis=alt.Axis(tickCount=5, format="~g")),
        detail="head:N",
        tooltip=[
            alt.Tooltip("head:N"),
            alt.Tooltip("step:Q", format=","),
            alt.Tooltip("value:Q", title=unit, format=".3f"),
        ],
    )
    others = base.transform_filter("!datum.selected").mark_line(
        color=GREY, strokeWidth=1, opacity=0.6
    )
    opened = base.transform_filter("datum.selected").mark_line(
        color=COLOR[kind],
        strokeWidth=3,
        point=alt.OverlayMarkDef(size=30, filled=True, color=COLOR[kind]),
    )
    here = alt.Chart(pd.DataFrame({"step": [marked]}))
    rule = here.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.5).encode(x)
    return others + rule + opened
