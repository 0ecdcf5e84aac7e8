"""Loss, perplexity, BLEU, learning rate and speed of any runs, while they go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from training import runlog
from training.runlog import LOG, Record, RunLogError
from training.schedule import learning_rate
from viz.app.charts import altair_chart
from viz.app.explanations import code_line, explain
from viz.app.problems import without_paths
from viz.draw.formatting import counted
from viz.figures.training import (
    COLORS,
    MAX_VALUES,
    PLAN,
    learning_rate_chart,
    run_chart,
    values_left_out,
)
from viz.pages.training import logs, run_menu
from viz.pages.training.runs import BUNDLED_NAME, is_live, known_runs

RUNS = "runs"
"""Name in the URL."""

VALIDATED = {"validation_loss", "validation_perplexity", "validation_bleu"}
"""What a validation measures."""


def curves(row: DeltaGenerator) -> None:
    """Choose runs, in the row of the views, then follow them."""
    found = run_menu.offered(RUNS, known_runs())
    names = row.multiselect(
        "Runs",
        list(found),
        default=[BUNDLED_NAME],
        key=RUNS,
        bind="query-params",
        on_change=run_menu.forget_unknown,
        max_selections=len(COLORS),
        placeholder="Choose runs",
        help=run_menu.HELP,
    )
    run_menu.say_what_is_missing(RUNS)
    folders = {name: found[name] for name in names if name in found}
    live = any(is_live(folder) for folder in folders.values())
    # only the pictures are drawn again while a run goes on; what is chosen above stays put
    st.fragment(_pictures, run_every="3s" if live else None)(folders, live)


def _pictures(folders: dict[str, Path], followed: bool) -> None:
    if followed and not any(map(is_live, folders.values())):
        st.rerun()  # only the whole page can end the following
    runs: dict[str, Sequence[Record]] = {}
    for name, folder in folders.items():
        records, wrong = _records(name, folder)
        if records:
            runs[name] = records
        if wrong:
            st.text(wrong)
    if not runs:
        return
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        st.subheader("Loss", anchor=False)
        altair_chart(
            run_chart(
                runs,
                {"loss": "training", "validation_loss": "validation"},
                unit="nats per piece",
                height=380,
            ),
            alt="Training and validation loss over the steps of each run.",
        )
    with beside:
        for name, records in runs.items():
            _summary(name, records, live=is_live(folders[name]))
        if values_left_out(runs):
            st.caption(f"Of each line evenly spaced values are drawn, {MAX_VALUES:,} of all.")
        explain(
            "The training loss is that of equation "
            "$-\\sum_v q(v)\\log p(v)$ with labels smoothed by the run's ε (§5.4; 0.1 in the "
            "paper); the validation loss has no smoothing, so the two cannot be compared number "
            "by number. A run with R-Drop adds its term to the training loss. The learning rate is "
            f"that of equation 3 of §5.3 times a factor, {code_line(learning_rate)}; a factor "
            "other than 1 and a rate that falls to 0 towards the end are not in the paper. The "
            "broad dashed line is what was planned, the thin one what was used."
        )
    _small(runs)


def _small(runs: dict[str, Sequence[Record]]) -> None:
    """The other quantities, smaller, two in a row."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Perplexity", anchor=False)
        altair_chart(
            run_chart(runs, {"validation_perplexity": "validation"}, unit="per piece", log=True),
            alt="Validation perplexity over the steps of each run.",
        )
        st.subheader("Learning rate", anchor=False)
        altair_chart(
            learning_rate_chart(runs),
            alt="Planned and used learning rate over the steps of each run.",
        )
    with right:
        st.subheader("BLEU", anchor=False)
        altair_chart(
            run_chart(runs, {"validation_bleu": "validation, greedy"}, unit="BLEU"),
            alt="Validation BLEU over the steps of each run.",
        )
        st.subheader("Speed", anchor=False)
        altair_chart(
            run_chart(runs, {"tokens_per_second": "speed"}, unit="target tokens / s", ticks="~s"),
            alt="Target tokens a second over the steps of each run.",
        )


def _records(name: str, folder: Path) -> tuple[Sequence[Record], str | None]:
    """What a run has logged, and one sentence where that is not all."""
    try:
        log = logs.load(folder / LOG)
    except RunLogError as error:
        return (), f"{name}: {without_paths(error)}"
    if not log.records and not log.wrong:
        # one that is live is read again by itself
        return (
            (),
            f"{name} has logged nothing yet{'' if is_live(folder) else ': reload when it has'}.",
        )
    return log.records, logs.complaint(name, log)


def _summary(name: str, records: Sequence[Record], *, live: bool) -> None:
    steps = [r for r in records if "loss" in r]
    measured = [r for r in records if r.keys() >= VALIDATED]
    with st.container(key=f"run-{name}", gap=None):
        st.text(f"{name}{' · going on' if live else ''}")
        lines = []
        if steps:
            hours = f" in {float(s) / 3600:,.1f} h" if (s := steps[-1].get("seconds")) else ""
            lines.append(f"{int(steps[-1]['step']):,} steps{hours}")
            lines += _schedule(runlog.plan(records))
        if measured:
            lines.append(
                f"validation loss {float(measured[-1]['validation_loss']):.3f}, perplexity "
                f"{float(measured[-1]['validation_perplexity']):.2f}, "
                f"BLEU {float(measured[-1]['validation_bleu']):.1f}"
            )
        st.caption("  \n".join(lines))


def _schedule(plan: Record) -> list[str]:
    """The learning rate that a run planned, in words; nothing where its log does not say it."""
    if not plan.keys() >= PLAN:
        return []
    factor, cooldown = float(plan["lr_factor"]), int(plan["cooldown"])
    times = f" × {factor:g}" if factor != 1 else ""
    falls = f", falling to 0 over the last {counted(cooldown, 'step')}" if cooldown else ""
    return [f"learning rate: equation 3{times}, warm-up of {int(plan['warmup']):,} steps{falls}"]
