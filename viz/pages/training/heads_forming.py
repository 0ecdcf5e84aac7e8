"""How heads form: the attention that a run saved of a few sentences, from its first step on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from training.runlog import LOG, MAX_STEP, RunLogError
from transformer import KINDS, AttentionTrace, HeadlightError, Kind
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES
from transformer.analysis.heads.roles import head_roles
from transformer.files import BUNDLED
from transformer.languages import Languages
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.head_picker import UrlNames, open_head, pick_kind, pick_layer_and_head
from viz.app.mounts import mount, mount_grid
from viz.app.problems import say
from viz.draw.attention_map import encode_map
from viz.draw.caption import Origin, head_caption
from viz.draw.formatting import counted
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.labels import SCREEN_NAMES
from viz.draw.open_head import OpenMap, heads_of_kind, open_map
from viz.pages.training import logs, run_menu
from viz.pages.training.forming_text import forming_said, measured, roles
from viz.pages.training.measure_chart import measure_chart
from viz.pages.training.probes import Probes, find, load, load_all, nearest
from viz.pages.training.runs import is_live, known_runs

RUN, SENTENCE, STEP, MEASURE = "forming_run", "sentence", "trained", "measure"
FORMING_HEAD = UrlNames("forming_layer", "forming_head")
"""Names in the URL; another model has other layers than the one of the sentence bar."""

WHOSE = (
    "On a sentence that the run traced as it trained: the weights of its early steps are gone, so "
    "the one in the bar cannot be shown."
)

_LAST = "forming_last"
"""The run that was drawn, and its last step then."""

MAX_NAMED = 3
"""Files that cannot be drawn and are named one by one."""


def heads_forming(row: DeltaGenerator) -> None:
    """Choose a run and a sentence, in the row of the views, then walk through the steps."""
    with row:
        name, folder = _run()
    run_menu.say_what_is_missing(RUN)
    try:
        sentences = find(folder)
        _show(name, folder, sentences, row)
    except HeadlightError as error:
        say(error)


def _show(name: str, folder: Path, sentences: list[Probes], row: DeltaGenerator) -> None:
    """What a run has saved, or a sentence where it has saved nothing."""
    # draws nothing: while a run goes on it looks every few seconds for what it has saved since
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
    _pictures(name, folder, probes)


def _run() -> tuple[str, Path]:
    """The name and the folder of one run."""
    found = run_menu.offered(RUN, known_runs())
    name = st.selectbox(
        "Run",
        list(found),
        key=RUN,
        bind="query-params",
        on_change=run_menu.forget_unknown,
        width=240,
        help=run_menu.HELP,
    )
    return name, found.get(name, BUNDLED)  # one that was deleted is no longer in the menu


def _follow(folder: Path, drawn: list[Probes], followed: bool) -> None:
    """Draw the page again when a run has saved more than what is drawn, and when it has ended."""
    with suppress(HeadlightError):  # said when the page is drawn again
        if find(folder) == drawn and (is_live(folder) or not followed):
            return
    st.rerun()


def _sentence(sentences: Sequence[Probes]) -> Probes:
    """One of the sentences, named by its source."""
    names = [_name(probes) or f"sentence {n}" for n, probes in enumerate(sentences, start=1)]
    number = st.selectbox(
        "Sentence",
        [str(n + 1) for n in range(len(names))],
        format_func=lambda n: names[int(n) - 1],
        key=SENTENCE,
        bind="query-params",
        width=330,
    )
    return sentences[int(number) - 1]


def _name(probes: Probes) -> str | None:
    """The source of the first file that can be read."""
    for path in list(probes.values())[:MAX_NAMED]:
        with suppress(HeadlightError):
            return load(path).source
    return None


def _pictures(run: str, folder: Path, probes: Probes) -> None:
    """The pictures of one sentence."""
    traces, wrong = load_all(probes)
    for sentence in wrong[:MAX_NAMED]:
        st.text(sentence)
    if len(wrong) > MAX_NAMED:
        st.text(f"{len(wrong) - MAX_NAMED:,} more files of this sentence cannot be drawn.")
    if not traces:
        return
    layers, count = next(iter(traces.values())).cross.shape[:2]
    with st.container(key="forming-controls", horizontal=True, gap="small"):
        kind = pick_kind()
        layer, head = pick_layer_and_head(FORMING_HEAD, layers, count)
        step = _step(folder, list(traces))
    _say(folder, step)
    drawn = traces[step]
    origin = Origin(drawn.source, drawn.target, f"{run} after step {step:,}", checksum="")
    grid, picture = st.columns([5, 7], gap="medium")
    with grid:
        # the kind of the open head comes first, beside its map
        kinds = sorted(KINDS, key=lambda each: each != kind)
        parts = [_part(traces[step], each) for each in kinds]
        data = encode_grid(parts, key="forming-grid", opens="forming-map", caption=origin.caption())
        mount_grid(
            "forming-grid",
            data,
            parts,
            selected=Head(kind, layer, head),
            on_pick=lambda picked: open_head(picked, FORMING_HEAD),
        )
    with picture:
        one = open_map(heads_of_kind(traces[step], kind, words=False, special=True), layer, head)
        _large(one, kind, drawn.languages, origin.caption(head_caption(kind, layer, head)))
        name = _measure_name()
        altair_chart(
            measure_chart(
                list(traces),
                np.stack([measured(trace, kind, name) for trace in traces.values()]),
                kind=kind,
                selected=(layer, head),
                at=step,
                unit=name,
            ),
            alt=f"The {name} of each {SCREEN_NAMES[kind]} head over the steps of the run.",
        )
    st.text(WHOSE)
    explain(
        "The weights of every head on one sentence pair, which is given, so that the words stay "
        "the same while the model learns (§3.2.2). The word under a map says what the head does "
        f"most: {code_line(head_roles)}. {forming_said(traces)}"
    )


def _measure_name() -> str:
    """What the chart draws of each head over the steps."""
    return st.selectbox(
        "Measure, step after step",
        list(MEASURES),
        index=list(MEASURES).index("confidence"),
        key=MEASURE,
        bind="query-params",
        width=200,
        help="  \n".join(f"**{name}**: {text}" for name, text in MEASURES.items()),
    )


def _step(folder: Path, steps: Sequence[int]) -> int:
    """One of the steps at which attention was saved, off a slider; at first the first.

    Whoever looks at the last step of a run that goes on is taken along to its next one.
    """
    wanted = st.session_state.get(STEP)
    if wanted is not None and st.session_state.get(_LAST) == (folder, wanted):
        st.session_state[STEP] = steps[-1]
    st.session_state[_LAST] = (folder, steps[-1])
    if len(steps) == 1:
        return steps[0]
    # a link, or the run before, may have saved others
    if wanted is not None and wanted not in steps:
        st.session_state[STEP] = nearest(steps, wanted)
    asked = st.query_params.get(STEP, "").replace(",", "")
    known = len(asked) <= len(str(MAX_STEP)) and asked.isascii() and asked.isdecimal()
    if wanted is None and known:
        # not as the slider's default, which the address leaves out
        st.session_state[STEP] = nearest(steps, int(asked))
    step: int = st.select_slider(
        "Step",
        steps,
        format_func=lambda n: f"{n:,}",
        key=STEP,
        bind="query-params",
        help="Of the training: those at which the run saved what its heads looked at.",
        width=290,
    )
    at = steps.index(step)
    _walk("Step before", steps[max(at - 1, 0)], ":material/arrow_back:", step)
    _walk("Next step", steps[min(at + 1, len(steps) - 1)], ":material/arrow_forward:", step)
    return step


def _walk(label: str, to: int, icon: str, step: int) -> None:
    """A button that leads to the step beside."""
    st.button(
        label, on_click=_go_to, args=(to,), icon=icon, disabled=to == step, key=f"forming-{label}"
    )


def _go_to(step: int) -> None:
    st.session_state[STEP] = step


def _say(folder: Path, step: int) -> None:
    after = f"After {counted(step, 'step')}{_loss(folder, step)}"
    st.text(f"{after}: what every head looks at in a sentence that the run traced.")


def _loss(folder: Path, step: int) -> str:
    """What the log says of the loss there: each of its lines is the mean over a few steps."""
    try:
        records = logs.load(folder / LOG).records
    except RunLogError:
        return ""
    logged = {int(r["step"]): r["loss"] for r in records if "loss" in r}
    last = min((at for at in logged if at >= step), default=None)
    if last is None:
        return ""
    first = max((at for at in logged if at < last), default=0) + 1
    return f" · training loss {float(logged[last]):.2f}, mean of steps {first:,} to {last:,}"


def _part(trace: AttentionTrace, kind: Kind) -> GridPart:
    axes = by_pieces(trace, kind)
    return GridPart(kind, axes.weights, axes.labels, roles(trace, kind))


def _large(one: OpenMap, kind: Kind, languages: Languages, caption: Sequence[str]) -> None:
    data = encode_map(
        one.weights,
        one.labels,
        kind,
        title=one.title,
        languages=languages,
        reads=one.reads,
        writes=one.writes,
        caption=caption,
    )
    mount("forming-map", data)
