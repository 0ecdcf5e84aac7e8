"""Pictures in Streamlit: their script comes once by address, and then nothing but data."""

import re

import pytest

from tests.browser.app_page import PATIENCE

pytestmark = pytest.mark.browser

WORDS = 24


def test_data_travel_alone_and_hover_needs_no_server(browser, parts_address):
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(PATIENCE)
    received: list[bytes] = []
    sent: list[object] = []
    scripts: list[str] = []

    def listen(socket):
        socket.on("framereceived", lambda frame: received.append(bytes(frame)))
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    page.on("request", lambda request: scripts.append(request.url))
    page.goto(f"{parts_address}/?part=pictures")
    page.get_by_role("heading", name="shift 0").wait_for()
    page.get_by_text("runs 1 cross 1 2").wait_for()
    # one script for all pictures, by an address that changes with its content
    (script,) = [url for url in scripts if "bidi-components" in url]
    assert re.search(r"/headlight-[0-9A-Z]{8}\.js$", script)
    code = page.request.get(script)
    assert code.ok
    assert "no-cache" not in code.headers.get("cache-control", "")
    maps = 3 * 2 * 4 * WORDS * WORDS  # a byte a weight
    # what is smaller, Streamlit sends twice
    assert max(map(len, received)) > maps > 9_000
    assert_no_program(received, code.body())

    received.clear()
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_role("heading", name="shift 1").wait_for()
    page.get_by_text(re.compile(r"^runs 2 ")).wait_for()
    assert_no_program(received, code.body())
    assert b"shift 1" in b"".join(received)
    assert max(map(len, received)) <= 30_000
    assert scripts.count(script) == 1

    # a choice reaches Python, and moves the outline; the maps are not sent again
    cell = page.get_by_role("gridcell", name="decoder, layer 1, head 4", exact=True)
    received.clear()
    cell.click()
    page.get_by_text("runs 3 decoder_self 0 3").wait_for()
    assert received
    assert max(map(len, received)) < maps
    assert cell.get_attribute("aria-selected") == "true"

    sent.clear()
    page.locator(".st-key-map .hl-scroll canvas").hover()
    page.locator(".st-key-map .hl-tip").wait_for()
    page.locator(".st-key-map .hl-scroll").press("Enter")
    page.wait_for_timeout(300)
    assert sent == []
    page.close()


def assert_no_program(frames, code):
    """No piece of the script is in a message."""
    pieces = [code[at : at + 40] for at in range(0, len(code) - 40, 400)]
    for frame in frames:
        assert not any(piece in frame for piece in pieces)
