"""The grid of heads in Streamlit: a choice reaches Python, and a rerun disturbs nobody."""

import re

import pytest

from tests.browser.grid_page import check_lit, every, focused, label

pytestmark = pytest.mark.browser

# more than 10 kB, which Streamlit does not send twice where nothing has changed
PARTS = every(24, 20)
SCRIPT = """
import streamlit as st
from transformer.analysis.heads.head import Head
from viz.app.chrome.mounts import mount_grid
from viz.draw.head_grid import encode_grid
from tests.browser.grid_page import every

st.session_state.runs = st.session_state.get("runs", 0) + 1
if st.button("first head"):
    st.session_state.asked = Head("encoder_self", 0, 0)
def keep(head):
    st.session_state.asked = head

asked = st.session_state.get("asked", Head("cross", 1, 2))
parts = every(24, 20)
mount_grid("grid", encode_grid(parts, key="grid"), parts, selected=asked, on_pick=keep)
kind, layer, head = asked
st.text(f"runs {st.session_state.runs} {kind} {layer} {head}")
"""


def test_streamlit_hears_of_a_choice_and_moves_the_selection(browser, serve_script):
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(20_000)
    sizes: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda f: sizes.append(len(f))))
    page.goto(serve_script(SCRIPT))
    cell = page.locator(f"[aria-label='{label('decoder_self', 0, 3)}']")
    cell.wait_for()
    page.get_by_text("runs 1 cross 1 2").wait_for()
    check_lit(page, PARTS)
    assert max(sizes) > sum(part.weights.size for part in PARTS) > 10_000  # a byte a weight
    sizes.clear()
    cell.click()
    page.get_by_text("runs 2 decoder_self 0 3").wait_for()
    assert sizes
    assert max(sizes) < 10_000  # the maps are not sent again
    assert cell.get_attribute("aria-selected") == "true"
    cell.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"^runs \d+ decoder_self 1 3$")).wait_for()
    assert focused(page) == label("decoder_self", 1, 3)  # the rerun took no focus
    page.get_by_role("button", name="first head").click()
    page.get_by_text(re.compile(r"^runs \d+ encoder_self 0 0$")).wait_for()
    chosen = page.locator("[aria-selected=true][role=gridcell]")
    page.wait_for_function(
        """() => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].some(
            (host) => host.shadowRoot.querySelector("[aria-selected=true]")
                ?.getAttribute("aria-label") === "encoder, layer 1, head 1")"""
    )
    assert chosen.count() == 1
    page.close()
