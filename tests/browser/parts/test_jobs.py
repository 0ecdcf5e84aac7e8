"""A file of the reader, and the job that is made of it: until Cancel, and no longer."""

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_page import AT_REST, expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload

pytestmark = pytest.mark.browser


def text_file(name: str, content: bytes) -> "FilePayload":
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def test_a_file_becomes_a_job_that_its_reader_cancels(
    browser: "Browser", parts_address: str
) -> None:
    page = browser.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.goto(f"{parts_address}/?part=job")
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
