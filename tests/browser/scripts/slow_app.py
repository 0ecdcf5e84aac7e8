"""The app on a machine that has no time, where a test asks for it.

A run begins half a second late if its address says `LATE`; the model takes a second for `SLOW`;
while the file of `SLOW_VARIABLE` exists, it takes 60 ms more for each step, and a quarter of a
second for what is edited by hand.
"""

import functools
import os
import time
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from tests.browser.servers import APP, LATE, SLOW, SLOW_VARIABLE
from transformer.decoding import BeamSearch
from viz.app import served
from viz.app.cache import cached_results


def slowed(function, seconds, where):
    @functools.wraps(function)
    def slow(*arguments, **named):
        time.sleep(seconds * where(*arguments))
        return function(*arguments, **named)

    return slow


def asked(*_) -> bool:
    return Path(os.environ[SLOW_VARIABLE]).exists()


for owner, name, seconds, where in (
    (ScriptRunner, "_run_script", 0.5, lambda _, rerun: LATE in rerun.query_string),
    (cached_results, "search", 1, lambda _, text, *__: text == SLOW),
    (cached_results, "score", 0.25, asked),
    (BeamSearch, "step", 0.06, asked),
):
    setattr(owner, name, slowed(getattr(owner, name), seconds, where))

app = st.App(
    str(APP), routes=served.routes(), lifespan=served.lifespan, middleware=served.middleware()
)
