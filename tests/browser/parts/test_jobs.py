"""A file of the reader, and the job that is made of it: until Cancel, and no longer."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import AT_REST, expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload

pytestmark = pytest.mark.browser

SCRIPT = """
import time
import streamlit as st
from transformer.files.lines import decode_lines
from viz.app import jobs, served
from viz.app.chrome.fields import file_field, release_file
from viz.app.streamlit_internals import uploaded_bytes

def measure(lines, report):
    for number in range(10**6):
        time.sleep(0.01)
        report(number % len(lines), len(lines), lines[number % len(lines)])

def main():
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    file = file_field("Sentences", "file", ["txt"], 2**20)
    if file is not None:
        lines = decode_lines(file[1], 100)
        jobs.start("corpus", "Measuring", lambda report, _: measure(lines, report))
        release_file("file")
    job = jobs.current("corpus")
    state = f"{job.state} {sum(uploaded_bytes().values())} bytes" if job else "no job"
    st.text(f"{state}, run {st.session_state['runs']}")
    if job is not None:
        jobs.show(job)

if __name__ == "__main__":
    main()
else:
    app = st.App(__file__, middleware=served.middleware())
"""


def text_file(name: str, content: bytes) -> "FilePayload":
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def test_a_file_becomes_a_job_that_its_reader_cancels(
    browser: "Browser", serve_script: Callable[[str], str]
) -> None:
    page = browser.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.goto(serve_script(SCRIPT))
    expect(page.get_by_text("no job, run 1")).to_be_visible()
    field = page.locator("input[type=file]")
    field.set_input_files(text_file("large.txt", b"a" * (2**20 + 1)))
    expect(page.get_by_text("1.0MB or smaller")).to_be_visible()
    assert "PUT" not in sent
    field.set_input_files(text_file("a.txt", "*Ä* b\r\nc\n".encode("utf-16")))
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    expect(page.get_by_text(re.compile(r"Measuring · (\*Ä\* b|c) · 0:0[1-9]"))).to_be_visible()
    expect(page.get_by_text("0 bytes, run 2")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled 0 bytes, run 3")).to_be_visible()
    expect(bar).to_have_count(0)
    page.evaluate("""() => {
        window.runs = 0;
        new MutationObserver(() => (window.runs += 1)).observe(
            document.querySelector("[data-testid=stApp]"),
            { attributeFilter: ["data-test-script-state"] },
        );
    }""")
    page.locator(AT_REST).wait_for()
    page.wait_for_timeout(700)
    assert page.evaluate("window.runs") == 0  # nothing is asked for any more
    page.close()
