"""Results of jobs in the memo, under keys that say what they were computed from."""

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import streamlit as st

from transformer import Translator
from viz.app import jobs
from viz.app.cache.cached_results import Report
from viz.app.cache.memory import memo, recall
from viz.app.models import menu

STEPS = {"translate": "translating", "measure": "measuring", "costs": "scoring"}
"""Parts of the work on the screen."""

Work = Callable[[Translator, Report], object]


def get_or_offer(
    name: str,
    key: Hashable,
    title: str,
    folder: Path,
    work: Work,
    label: str,
    *,
    start_now: bool = False,
) -> Any:
    """Return the result under a key of the memo, or None and draw the button that starts its job.

    `start_now` means that the user has pressed another button for it.
    """
    job = jobs.current(name)
    if job is not None and job.result is not None:
        computed, computed_result = job.result
        memo(computed, lambda: computed_result)
    if (result := recall(key)) is not None:
        return result
    if job is not None:
        jobs.show(job)
    is_active = job is not None and job.is_active
    if start_now or (not is_active and st.button(label, type="primary", key=f"{name}-start")):
        start(name, key, title, folder, work)
        st.rerun()
    return None


def start(name: str, key: Hashable, title: str, folder: Path, work: Work) -> None:
    """Start work with the model of a folder; see `get_or_offer`."""

    def run(report: Report, _should_stop: object) -> tuple[Hashable, object]:
        def report_part(done: int, total: int, part: str = "", /) -> None:
            report(done, total, STEPS.get(part, part))

        with menu.in_use(folder, lambda *_: report(0, 1, "loading the model")) as model:
            return key, work(model, report_part)

    jobs.start(name, title, run)
