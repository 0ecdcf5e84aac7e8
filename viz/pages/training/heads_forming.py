"""The view “Heads forming”: the attention that a run saved for a few sentences, step by step."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from training.run.journal import LOG, MAX_STEP, RunLogError
from transformer import KINDS, AttentionTrace, HeadlightError, Kind
from transformer.analysis import axes
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import MEASURES, measure
from transformer.analysis.heads.roles import ONE_TO_ONE, head_roles
from transformer.analysis.sinks import share_on_sinks
from transformer.files import installed
from viz.app.chrome import charts, explanations, fields, head_picker, mounts
from viz.app.links import address
from viz.app.sentence import worth_seeing
from viz.app.view import compute, controls, findings_row, list_result, part, view
from viz.draw import labels, palette, trace_message
from viz.draw.caption import Origin
from viz.draw.formatting import format_number, per_cent
from viz.draw.player import TrainingStep, encode_learning, learning_choice
from viz.figures import forms
from viz.figures.axes import GREY, named_color, step_axis
from viz.findings import training
from viz.pages.training import runs

RUN, SENTENCE, STEP, MEASURE = "forming_run", "sentence", "trained", "measure"
FORMING_HEAD = head_picker.UrlNames("forming_layer", "forming_head")
"""Names in the URL; another model has other layers than the one of the sentence bar."""
MAX_NAMED = 3  # unreadable files that are named one by one

LOG_STEPS = step_axis(alt.Scale(type="log", nice=False), values=[10**n for n in range(8)])

_OPENED = "forming_opened"  # in the session: the state in which the player was opened


@view("Heads forming", question="When did the heads form?", find="nothing")
def heads_forming() -> None:
    """Draw the saved steps, the menus of run and sentence in the row of the views."""
    folders = runs.offered_runs(RUN)
    # the first that saved attention: not the run of every model did
    saved = [runs.is_folder(folder / "probes") for folder in folders.values()]
    index = saved.index(True) if any(saved) else 0
    with controls():
        name = fields.menu(
            "Run", list(folders), RUN, width=290, index=index,
            on_change=runs.forget_unknown, help=runs.RUNS_HELP,
        )  # fmt: skip
    runs.report_missing(RUN)
    folder = folders.get(name, installed.BUNDLED)  # a deleted run is no longer in the menu
    sentences = runs.find(folder)
    # draws nothing: while a run continues, it checks every few seconds for new files
    live = runs.is_live(folder)
    st.fragment(_follow, run_every="3s" if live else None)(folder, sentences, live)
    if not sentences:
        st.text(
            f"{name} has saved no attention yet: a run saves it at its steps 1, 2, 3, 4, 6, 8, 11 "
            f"and so on, and at each validation, in its folder probes."
        )
        return
    with controls():
        names = {str(n): _name(n, probes) for n, probes in enumerate(sentences, start=1)}
        shown = names.__getitem__
        number = fields.menu("Sentence", list(names), SENTENCE, width=330, format_func=shown)
    # the menu's names in the URL, for a link
    here = {RUN: name, SENTENCE: names[number]}
    list_result("probes", sentences, runs.find, folder)
    _pictures(here, folder, part("files", sentences, int(number) - 1))


def _follow(folder: Path, drawn: list[runs.Probes], followed: bool) -> None:
    """Redraw the page when a run has saved more than is drawn, and when it has ended."""
    with suppress(HeadlightError):  # reported when the page is redrawn
        if runs.find(folder) == drawn and (runs.is_live(folder) or not followed):
            return
    st.rerun()


def _name(number: int, probes: runs.Probes) -> str:
    """Name a sentence by its source, or by its number where no file can be read."""
    for path in list(probes.values())[:MAX_NAMED]:
        with suppress(HeadlightError):
            return runs.load(path).source
    return f"sentence {number}"


class _Opened(NamedTuple):
    """State in which a link, or another sentence, has opened the player."""

    arrival: int
    subject: tuple[str, str]  # the run and the sentence
    kind: Kind
    heads: dict[Kind, Head]
    step: int | None  # None plays


def _pictures(here: Mapping[str, str], folder: Path, probes: runs.Probes) -> None:
    list_result("saved", saved := runs.load_all(probes), runs.load_all, probes)
    traces, written, problems = part("steps", saved, 0), *saved[1:]
    for sentence in problems[:MAX_NAMED]:
        st.text(sentence)
    if len(problems) > MAX_NAMED:
        st.text(f"{len(problems) - MAX_NAMED:,} more files of this sentence cannot be drawn.")
    if not traces:
        return
    cross = compute("cross_confidence", measures_by_step, traces, "cross", "confidence")
    confidence = dict(zip(traces, cross.mean((1, 2)).tolist(), strict=True))
    formed = training.heads_form(confidence, here)
    worth_seeing.link("training", findings_row(), [formed] if formed else [])
    losses = _losses(folder, traces)
    steps = [TrainingStep(n, x, written.get(n), losses.get(n, "")) for n, x in traces.items()]
    heads = compute("heads", formed_heads, part("last", traces, max(traces)))
    opened = _first_state((str(folder), here[SENTENCE]), traces, heads)
    kind, layer, head = _linked_head(traces[max(traces)], opened.heads)
    step = _linked_step([*traces]) or max(traces)
    drawn = part("trace", traces, step)
    data = encode_learning(
        steps,
        trace_message.about(drawn.languages, Origin("", "", here[RUN], checksum="").made_by),
        selected=opened.heads,
        kind=opened.kind,
        step=opened.step,
        arrival=opened.arrival,
    )
    mounts.mount_choice("forming-player", data, lambda sent: learning_choice(sent, steps), _choose)
    name = fields.menu(
        "Measure, step after step",
        list(MEASURES),
        MEASURE,
        width=200,
        index=list(MEASURES).index("confidence"),
        help="  \n".join(f"**{name}**: {text}" for name, text in MEASURES.items()),
    )
    left, right = st.columns(2, gap="medium")
    with left:
        charts.altair_chart(
            measure_chart(
                list(traces),
                compute("values", measures_by_step, traces, kind, name),
                kind=kind,
                selected=(layer, head),
                marked=step,
                unit=name,
            ),
            alt=f"The {name} of each {labels.SCREEN_NAMES[kind]} head over the steps of the run.",
        )
    with right:
        on_sinks = compute("on_sinks", sinks_table, traces)
        charts.altair_chart(
            sinks_chart(on_sinks, step),
            alt="The share of attention on sinks over the steps of the run, by kind.",
        )
        st.caption(explanations.as_markdown(sinks_text(on_sinks)))
    if len(traces) > 1:
        table = compute("table", forming_table, traces)
        st.table(table, border="horizontal", hide_index=True)
    explanations.explain(
        "You see every head on one sentence, at the steps at which the run saved its attention. "
        f"{compute('first', first_one_to_one, traces)}"
        + explanations.sources("§3.2.2", head_roles, share_on_sinks)
    )


def _first_state(
    subject: tuple[str, str], traces: Mapping[int, AttentionTrace], heads: Mapping[Kind, Head]
) -> _Opened:
    """Return the player's first state, the same until a link or a menu asks for another."""
    before: _Opened | None = st.session_state.get(_OPENED)
    if before and before.subject == subject and not address.has_arrived():
        return before
    linked = _linked_head(traces[max(traces)], heads)
    arrival = before.arrival + 1 if before else 1
    selected = {**heads, linked.kind: linked}
    opened = _Opened(arrival, subject, linked.kind, selected, _linked_step([*traces]))
    st.session_state[_OPENED] = opened
    return opened


def formed_heads(trace: AttentionTrace) -> dict[Kind, Head]:
    """Choose the head of each kind that is open first: the most confident one.

    In cross-attention the most confident head often looks from the word before. So it is the one
    that links words one to one and where most heads look.
    """
    mean = trace.cross.mean((0, 1))
    columns = np.maximum(trace.cross.sum(-2, keepdims=True), 1e-9)
    values = {kind: np.nan_to_num(measure_heads(trace, kind, "confidence")) for kind in KINDS}
    values["cross"] = (trace.cross * (trace.cross / columns) * mean).sum((-2, -1))
    return {
        kind: Head(kind, *divmod(int(scores.argmax()), scores.shape[1]))
        for kind, scores in values.items()
    }


def _linked_head(trace: AttentionTrace, firsts: Mapping[Kind, Head]) -> Head:
    """Return the head that the address names, else the first one of its kind."""
    kind = labels.KINDS_BY_NAME.get(st.query_params.get(head_picker.KIND, ""), "cross")
    layer, head = (_number(st.query_params.get(name, "")) for name in FORMING_HEAD)
    layers, heads = trace.weights(kind).shape[:2]
    if 1 <= layer <= layers and 1 <= head <= heads:
        return Head(kind, layer - 1, head - 1)
    return firsts[kind]


def _linked_step(steps: Sequence[int]) -> int | None:
    """Return the saved step nearest to that of the address, if it names one."""
    number = _number(st.query_params.get(STEP, ""))
    return min(steps, key=lambda step: abs(step - number)) if number else None


def _number(text: str) -> int:
    """Read a whole number of the address, which may have commas; 0 for anything else."""
    digits = text.replace(",", "")
    valid = len(digits) <= len(str(MAX_STEP)) and digits.isascii() and digits.isdecimal()
    return int(digits) if valid else 0


def _choose(choice: tuple[Head, int | None]) -> None:
    (kind, layer, head), step = choice
    address.choose(head_picker.KIND, labels.SCREEN_NAMES[kind])
    address.choose(FORMING_HEAD.layer, str(layer + 1))
    address.choose(FORMING_HEAD.head, str(head + 1))
    address.choose(STEP, None if step is None else f"{step:,}")


def _losses(folder: Path, steps: Iterable[int]) -> dict[int, str]:
    try:
        records = runs.load_log(folder / LOG).records
    except RunLogError:
        return {}
    losses = {int(record["step"]): float(record["loss"]) for record in records if "loss" in record}
    logged = sorted(losses)
    texts = {}
    for step in steps:
        if (n := bisect_left(logged, step)) < len(logged):
            first, last = logged[n - 1] + 1 if n else 1, logged[n]
            texts[step] = f"Training loss {losses[last]:.2f} (mean of steps {first:,} to {last:,})."
    return texts


def measures_by_step(
    traces: Mapping[int, AttentionTrace], kind: Kind, name: str
) -> NDArray[np.float64]:
    """Compute a measure of every head of one kind, `[step, layer, head]`."""
    return np.stack([measure_heads(trace, kind, name) for trace in traces.values()])


def measure_heads(trace: AttentionTrace, kind: Kind, name: str) -> NDArray[np.float64]:
    """Compute a measure of every head of one kind, `[layer, head]`."""
    return measure(axes.by_pieces(trace, kind), kind, name)


def forming_table(traces: Mapping[int, AttentionTrace]) -> pd.DataFrame:
    """Build a table of each kind's mean confidence: its ends, its extremes and half its rise."""
    first, last = min(traces), max(traces)
    rows = []
    for kind in KINDS:
        values = {n: float(measure_heads(traces[n], kind, "confidence").mean()) for n in traces}
        rise = values[last] - values[first]
        half = [f"{n:,}" for n in values if rise > 0 and values[n] - values[first] >= rise / 2]
        lowest, highest = (choose(values, key=values.__getitem__) for choose in (min, max))
        ends = [format_number(values[n]) for n in (first, last)]
        extremes = [f"{format_number(values[n])} (step {n:,})" for n in (lowest, highest)]
        rows.append((labels.SCREEN_NAMES[kind], *ends, *extremes, *(half[:1] or ["does not rise"])))
    columns = (f"step {first:,}", f"step {last:,}", "lowest", "highest", "half of its rise by step")
    return pd.DataFrame(rows, columns=["mean confidence", *columns])


def first_one_to_one(traces: Mapping[int, AttentionTrace]) -> str:
    """Name the first step at which a head of cross-attention is one-to-one."""
    for step, trace in traces.items():
        roles = head_roles(axes.by_pieces(trace, "cross"), "cross")
        if any(ONE_TO_ONE in layer for layer in roles):
            return f"The first saved step with a one-to-one cross-attention head is {step:,}."
    return "No cross-attention head is one-to-one at any saved step."


def sinks_table(traces: Mapping[int, AttentionTrace]) -> pd.DataFrame:
    """Return the mean share on sinks of each kind's heads at each step, in long form."""
    shares = {
        labels.SCREEN_NAMES[kind]: [
            float(share_on_sinks(trace, kind).mean()) for trace in traces.values()
        ]
        for kind in KINDS
    }
    return forms.long_form("kind", "share", shares, step=list(traces))


def sinks_chart(table: pd.DataFrame, marked: int) -> alt.LayerChart:
    """Draw a line for each kind over the steps."""
    colors = {labels.SCREEN_NAMES[kind]: palette.COLOR[kind] for kind in KINDS}
    axis = alt.Axis(format="%", tickCount=5)
    lines = forms.curves(
        table,
        LOG_STEPS,
        alt.Y("share:Q", title="attention on sinks", scale=alt.Scale(zero=True), axis=axis),
        named_color("kind", colors),
        dots=30,
        height=260,
        tooltip=forms.tips("kind", step=("", ","), share=("on sinks", ".1%")),
    )
    return forms.rule("step", marked, strokeDash=[4, 3], strokeWidth=1.5) + lines


def sinks_text(table: pd.DataFrame) -> str:
    """Say for each kind what goes to sinks at the first and at the last step."""
    ends = table.groupby("kind", sort=False)["share"].agg(["first", "last"])
    parts = (f"{row[0]} from {per_cent(row[1])} to {per_cent(row[2])}" for row in ends.itertuples())
    return (
        f"Attention on special tokens and punctuation, mean over heads, from step "
        f"{table['step'].min():,} to {table['step'].max():,}: {'; '.join(parts)}."
    )


def measure_chart(
    steps: Sequence[int],
    values: NDArray[np.float64],
    *,
    kind: Kind,
    selected: tuple[int, int],
    marked: int,
    unit: str,
) -> alt.LayerChart:
    """Draw a line for each head, `[step, layer, head]`, the selected one in its kind's colour."""
    step, layer, head = (axis.ravel() for axis in np.indices(values.shape))
    frame = pd.DataFrame(
        {
            "step": np.asarray(steps)[step],
            "head": [labels.head_name(int(n), int(m)) for n, m in zip(layer, head, strict=True)],
            "value": values.ravel(),
            "selected": (layer == selected[0]) & (head == selected[1]),
        }
    )
    base = alt.Chart(frame, height=260).encode(
        LOG_STEPS,
        alt.Y("value:Q", title=unit, axis=alt.Axis(tickCount=5, format="~g")),
        detail=alt.Detail("head:N"),
        tooltip=forms.tips("head", step=("", ","), value=(unit, ".3f")),
    )
    others, opened = map(base.transform_filter, ("!datum.selected", "datum.selected"))
    others = others.mark_line(color=GREY, strokeWidth=1, opacity=0.6)
    dots = alt.OverlayMarkDef(size=30, filled=True, color=palette.COLOR[kind])
    opened = opened.mark_line(color=palette.COLOR[kind], strokeWidth=3, point=dots)
    return others + forms.rule("step", marked, strokeDash=[4, 3], strokeWidth=1.5) + opened
