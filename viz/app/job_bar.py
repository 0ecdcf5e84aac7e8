"""The progress bar of a job, with the button that ends it."""

import streamlit as st

from viz.app.chrome.explanations import as_markdown
from viz.app.jobs import Job

SURE_AFTER = 10.0
"""Seconds of a job before its remaining time is estimated."""


def show(job: Job) -> None:
    """Draw a job until it ends, when the page is drawn once more; then its error, if it has one."""
    if job.is_active:
        st.fragment(_bar, run_every="1s")(job)
    elif job.error:
        st.text(job.error)


def _bar(job: Job) -> None:
    if job.should_stop():
        st.rerun()  # only a run of the whole page ends the fragment's repetition
    done, total, now = job.progress
    share = min(max(done / max(total, 1), 0.0), 1.0)
    parts = [job.title, now, _times(job, share)]
    st.progress(share, as_markdown(" · ".join(filter(None, parts))))
    st.button("Cancel", key=f"cancel {job.name}", on_click=job.cancel)


def _times(job: Job, share: float) -> str:
    if ahead := job.queue.ahead(job):
        return f"waits for {ahead} other{'s' if ahead != 1 else ''}"
    spent = job.seconds
    left = f", about {_clock(spent / share - spent)} left" if share and spent > SURE_AFTER else ""
    return _clock(spent) + left


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
