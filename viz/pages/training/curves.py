"""The view “Curves”: loss, perplexity, BLEU, learning rate and speed of runs, finished or not."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import streamlit as st

from training.run import journal
from training.run.journal import LOG, Record, RunLogError, read_foreign
from training.schedule import learning_rate
from transformer.files.installed import FORMING
from viz.app.chrome import charts, explanations, problems
from viz.app.view import compute, controls, figure, program, view
from viz.draw.formatting import listing
from viz.figures.training import (
    COLORS,
    MAX_VALUES,
    PLAN,
    learning_rate_chart,
    run_chart,
    values_left_out,
)
from viz.pages.training import runs

RUNS = "runs"  # name in the URL
VALIDATED = ("validation_loss", "validation_perplexity", "validation_bleu")
"""Fields of a validation."""


@view("Curves", question="How did the loss fall?", find="nothing")
def curves() -> None:
    """Draw the menu of runs, in the row of the views, and their curves."""
    offered = runs.offered_runs(RUNS)
    names = controls().multiselect(
        "Runs",
        list(offered),
        default=[next(name for name, folder in offered.items() if folder != FORMING)],
        key=RUNS,
        bind="query-params",
        on_change=runs.forget_unknown,
        max_selections=len(COLORS),
        placeholder="Choose runs",
        help=runs.RUNS_HELP,
    )
    runs.report_missing(RUNS)
    folders = {name: offered[name] for name in names if name in offered}
    live = any(runs.is_live(folder) for folder in folders.values())
    # while a run continues, only the pictures are redrawn
    st.fragment(_fragment, run_every="3s" if live else None)(folders, live)


def _fragment(folders: dict[str, Path], followed: bool) -> None:
    if followed and not any(map(runs.is_live, folders.values())):
        st.rerun()  # only a run of the whole page ends the fragment's repetition
    with program():
        _pictures(folders)


def _pictures(folders: dict[str, Path]) -> None:
    shown: dict[str, Sequence[Record]] = {}
    for n, (name, folder) in enumerate(folders.items(), start=1):
        records, problem = _records(n, name, folder)
        if records:
            shown[name] = records
        if problem:
            st.text(problem)
    if not shown:
        return
    picture, summaries = st.columns([2, 1], gap="large")
    with picture, st.container(key="loss-picture"):
        st.subheader("Loss", anchor=False)
        fields = {"loss": "training", "validation_loss": "validation"}
        charts.altair_chart(
            figure("loss", run_chart, shown, fields, unit="nats per subword", height=380),
            alt="Training and validation loss over the steps of each run.",
        )
    with summaries:
        for name, records in shown.items():
            _summary(name, records, live=runs.is_live(folders[name]))
        if values_left_out(shown):
            st.caption(f"You see {MAX_VALUES:,} evenly spaced values of each line.")
        explanations.explain(
            "Compare each curve only with itself. The training loss, $-\\sum_v q(v)\\log p(v)$, "
            "includes label smoothing (the run's ε; 0.1 in the paper) and R-Drop, if any; the "
            "validation loss includes neither. Learning rate: the broad dashed line is the plan, "
            "the thin one is used. The paper has no other factor and no fall to 0 at the end."
            + explanations.sources("§5.3, equation 3, §5.4", learning_rate)
        )
    left, right = st.columns(2, gap="large")
    fields = {"validation_perplexity": "validation"}
    perplexity = figure("perplexity", run_chart, shown, fields, unit="per subword", log=True)
    rate = figure("rate", learning_rate_chart, shown)
    fields = {"validation_bleu": "validation, greedy"}
    bleu = figure("bleu", run_chart, shown, fields, unit="BLEU")
    fields = {"tokens_per_second": "speed"}
    speed = figure("speed", run_chart, shown, fields, unit="target tokens / s", ticks="~s")
    for column, title, chart, alt in (
        (left, "Perplexity", perplexity, "Validation perplexity"),
        (left, "Learning rate", rate, "Planned and used learning rate"),
        (right, "BLEU", bleu, "Validation BLEU"),
        (right, "Speed", speed, "Target tokens a second"),
    ):
        with column, st.container(key=f"{title.lower().replace(' ', '-')}-picture"):
            st.subheader(title, anchor=False)
            charts.altair_chart(chart, alt=f"{alt} over the steps of each run.")


def _records(n: int, name: str, folder: Path) -> tuple[Sequence[Record], str | None]:
    """Read the records of the nth run, and name a problem, if any."""
    try:
        log = compute(f"log_{n}", read_foreign, folder / LOG, **runs.LIMITS)
    except RunLogError as error:
        return (), f"{name}: {problems.without_paths(error)}"
    if not log.records and not log.wrong:
        advice = "" if runs.is_live(folder) else ": reload when it has"  # a live one is read again
        return (), f"{name} has logged nothing yet{advice}."
    return log.records, runs.log_problem(name, log)


def _summary(name: str, records: Sequence[Record], *, live: bool) -> None:
    steps = [r for r in records if "loss" in r]
    validations = [r for r in records if r.keys() >= {*VALIDATED}]
    lines = []
    if steps:
        hours = f" in {float(s) / 3600:,.1f} h" if (s := steps[-1].get("seconds")) else ""
        lines.append(f"{int(steps[-1]['step']):,} steps{hours}")
        if journal.plan(records).keys() >= PLAN:
            lines.append(_schedule(records))
    if validations:
        step, *values = (validations[-1][field] for field in ("step", *VALIDATED))
        result = "loss {:.3f}, perplexity {:.2f}, BLEU {:.1f}".format(*map(float, values))
        lines.append(f"validation at step {int(step):,}: {result}")
    with st.container(key=f"run-{name}", gap=None):
        st.text(f"{name}{' · running' if live else ''}")
        st.caption("  \n".join(lines))


def _schedule(records: Sequence[Record]) -> str:
    """Describe the planned learning rate; a resumed run may have more than one cooldown."""
    plan = journal.plan(records)
    factor = float(plan["lr_factor"])
    times = f" × {factor:g}" if factor != 1 else ""
    plans = [record for record in records if record.keys() >= PLAN]
    completed = [n for n, m in pairwise(plans) if int(m["step"]) >= int(n["steps"])]
    spans = [
        f"{int(n['steps']) - int(n['cooldown']):,} to {int(n['steps']):,}"
        for n in (*completed, plan)
        if int(n["cooldown"])
    ]
    end = f", falling to 0 from step {listing(spans)}" if spans else ""
    return f"learning rate: equation 3{times}, warm-up of {int(plan['warmup']):,} steps{end}"
