"""How pictures reach a browser: their script once by address, and then nothing but data."""

import re

import pytest

from tests.browser.app_page import PATIENCE

pytestmark = pytest.mark.browser

WORDS = 20
SCRIPT = f"""
import numpy as np
import streamlit as st
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.app.chrome.mounts import mount
from viz.draw.attention_map import encode_map
from viz.draw.attention_map import encode_ribbons

words = tuple(f"▁word{{n}}" for n in range({WORDS}))
labels = Labels(words, words)
shift = st.slider("shift", 0, 5)
weights = np.roll(np.eye({WORDS}, dtype=np.float32), shift, axis=1)
mount("map", encode_map(weights, labels, "cross", title=f"shift {{shift}}", languages=OURS))
mount("ribbons", encode_ribbons([("L1 H1", weights)], labels, "cross", languages=OURS))
"""


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


def test_a_changed_picture_travels_without_program_text(page, serve_script):
    frames: list[bytes] = []
    scripts: list[str] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: frames.append(bytes(frame))),
    )
    page.on("request", lambda request: scripts.append(request.url))
    page.goto(serve_script(SCRIPT))
    page.get_by_role("heading", name="shift 0").wait_for()
    page.get_by_role("group", name="Ribbons of L1 H1").wait_for()
    # one script for both pictures, by an address that changes with its content
    (script,) = [url for url in scripts if "bidi-components" in url]
    assert re.search(r"/headlight-[0-9A-Z]{8}\.js$", script)
    code = page.request.get(script)
    assert code.ok
    assert "no-cache" not in code.headers.get("cache-control", "")
    assert_no_program(frames, code.body())
    frames.clear()
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_role("heading", name="shift 1").wait_for()
    assert_no_program(frames, code.body())
    picture = max(frames, key=len)
    assert b"shift 1" in b"".join(frames)
    assert len(picture) <= 30_000
    assert sum(url == script for url in scripts) == 1


def assert_no_program(frames, code):
    """No piece of the script is in a message."""
    pieces = [code[at : at + 40] for at in range(0, len(code) - 40, 400)]
    for frame in frames:
        assert not any(piece in frame for piece in pieces)
