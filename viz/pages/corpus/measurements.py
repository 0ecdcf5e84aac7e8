"""Measured lines and the results of jobs in the memo, and lines as a table."""

from collections.abc import Callable, Hashable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from transformer import Translator
from transformer.analysis.heads.head import Head
from transformer.corpus.measured import (
    COST,
    HEAD_MEASURES,
    HeadMeans,
    MeasuredLines,
    head_means,
)
from transformer.errors import InputError
from viz.app import jobs
from viz.app.cache import cached_results, memory
from viz.app.chrome import charts
from viz.app.models import menu
from viz.app.sentence import search_request

COMMAND = "headlight evaluate lines"

TOO_LARGE = (
    f"Your measured lines are too large for this server's memory: use fewer lines, or run "
    f"{COMMAND}."
)


class Measured(NamedTuple):
    """Measured lines with their key in the memo."""

    key: Hashable
    lines: MeasuredLines


def key_of(*parts: object) -> str:
    """Return the key of what was measured: a digest of the model, the lines and the options."""
    return sha256(repr(parts).encode(errors="replace")).hexdigest()


def require_fits(lines: int, heads: int) -> None:
    """Refuse so many lines of a model with so many heads that the memo could not hold them."""
    if lines * heads * len(HEAD_MEASURES) * np.float32().nbytes > memory.shared_cache().limit:
        raise InputError(TOO_LARGE)


def remember(key: str, lines: MeasuredLines) -> None:
    """Put measured lines and their means into the memo, from any thread."""
    memory.memo(_name(key), lambda: lines)
    if remembered(key) is None:
        raise InputError(TOO_LARGE)
    means_of(Measured(key, lines))


def remembered(key: str) -> MeasuredLines | None:
    """Return the lines of a key; None where the memo no longer has them."""
    lines: MeasuredLines | None = memory.recall(_name(key))
    return lines


def lines_of(key: str) -> MeasuredLines:
    """Return the lines of a key, for files that are made on a click."""
    if (lines := remembered(key)) is None:
        raise InputError("The server no longer has this measurement: measure the lines again.")
    return lines


def means_of(measured: Measured) -> HeadMeans:
    """Return the means of all heads over the lines, computed once."""
    return memory.memo(("head means", measured.key), lambda: head_means(measured.lines))


def first_head(measured: Measured) -> Head:
    """Return the head of cross-attention that a page opens on: the costliest, or the surest."""
    lines, means = measured.lines, means_of(measured)
    values = means.values[COST if COST in means.values else "confidence"].value
    cross = [column for column, head in enumerate(lines.heads) if head.kind == "cross"]
    return lines.heads[max(cross, key=lambda column: float(values[column]))]


def _name(key: str) -> tuple[str, str]:
    return "measured lines", key


STEPS = {"translate": "translating", "measure": "measuring", "costs": "scoring"}
"""Parts of the work on the screen."""

Work = Callable[[Translator, cached_results.Report], object]


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
        memory.memo(computed, lambda: computed_result)
    if (result := memory.recall(key)) is not None:
        return result
    if job is not None:
        jobs.show(job)
    is_active = job is not None and job.is_active
    if start_now or (not is_active and st.button(label, type="primary", key=f"{name}-start")):
        start_job(name, key, title, folder, work)
        st.rerun()
    return None


def start_job(name: str, key: Hashable, title: str, folder: Path, work: Work) -> None:
    """Start work with the model of a folder; see `get_or_offer`."""

    def run(report: cached_results.Report, _should_stop: object) -> tuple[Hashable, object]:
        def report_part(done: int, total: int, part: str = "", /) -> None:
            report(done, total, STEPS.get(part, part))

        with menu.in_use(folder, lambda *_: report(0, 1, "loading the model")) as model:
            return key, work(model, report_part)

    jobs.start(name, title, run)


def lines_table(shown: pd.DataFrame, every_line: pd.DataFrame, name: str, alt: str) -> None:
    """Draw the `shown` lines as a table, with downloads of every line."""
    sources = list(shown["source"])
    # other lines are another table, in which nothing is ticked
    key = f"{name}-{hash(tuple(shown['line']))}"

    def ticked() -> None:
        row = ticked_row(st.session_state.get(key), len(sources))
        if row is not None:
            search_request.put_text(sources[row])

    st.dataframe(
        shown,
        hide_index=True,
        column_config=number_formats(shown),
        key=key,
        on_select=ticked,
        selection_mode="single-row",
        alt=alt,
    )
    st.caption(
        f"Tick a line to use it as the sentence on every page. Saved: {len(every_line):,} lines."
    )
    charts.table_downloads(every_line, name)


def number_formats(table: pd.DataFrame) -> dict[str, Any]:
    """Return the settings of the columns with numbers: three decimals where one has a fraction."""
    return {
        str(name): st.column_config.NumberColumn(format="%d" if (values % 1 == 0).all() else "%.3f")
        for name, values in table.items()
        if pd.api.types.is_float_dtype(values)
    }


def ticked_row(state: Any, rows: int) -> int | None:
    """Return the row that is ticked in the state of a table, of so many; None for anything else."""
    selection = state.get("selection") if isinstance(state, dict) else None
    ticks = selection.get("rows") if isinstance(selection, dict) else None
    if not (isinstance(ticks, list) and ticks and type(ticks[0]) is int):
        return None
    return ticks[0] if 0 <= ticks[0] < rows else None
