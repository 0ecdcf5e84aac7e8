"""A file of the user, and a job that is made of it."""

import time

import streamlit as st

from transformer.files.lines import decode_lines
from viz.app import jobs
from viz.app.chrome.fields import file_field, release_file
from viz.app.streamlit_internals import uploaded_bytes


def measure(lines, report):
    for number in range(10**6):
        time.sleep(0.01)
        report(number % len(lines), len(lines), lines[number % len(lines)])


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
file = file_field("Sentences", "file", ["txt"], 2**20)
if file is not None:
    lines = decode_lines(file[1], 100)
    jobs.start("corpus", "Measuring", lambda report: measure(lines, report))
    release_file("file")
job = jobs.current("corpus")
state = f"{job.state} {uploaded_bytes()} bytes" if job else "no job"
st.text(f"{state}, run {st.session_state['runs']}")
if job is not None:
    jobs.show(job)
