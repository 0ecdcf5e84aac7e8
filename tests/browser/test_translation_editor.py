"""The German line that is edited in place: is anything lost that a person types, and what is taken?

One page is served by a slow server, whose answers come when the text is another one already; the
other one has no server.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.components import COMPONENTS, js_bytes
from transformer.text.languages import OURS
from viz.draw.alternatives import EditorPiece, encode_editor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

FIRST, OTHER = "Zwei Hunde rennen.", "Drei Katzen schlafen."
SLOW = 0.4  # seconds of each run
SCRIPT = f"""
import time
import streamlit as st
from tests.browser.test_translation_editor import pieces_of
from transformer.text.languages import OURS
from viz.app.chrome.mounts import mount_editor
from viz.draw.alternatives import Edited, Forced, encode_editor

state = st.session_state
state.setdefault("text", {FIRST!r})
state.setdefault("revision", 0)
state.runs = state.get("runs", 0) + 1
pieces = pieces_of(state.text)

def changed(found):
    if isinstance(found, Edited):
        state.text, state.revision = found.text, found.revision
    elif isinstance(found, Forced):
        words = [piece.text for piece in pieces]
        words[found.piece] = pieces[found.piece].others[found.alternative][0]
        state.text = "".join(words).replace("▁", " ").strip()

if st.button("another sentence"):
    state.text = {OTHER!r}
    pieces = pieces_of(state.text)
time.sleep({SLOW})
data = encode_editor(
    state.text, pieces, revision=state.revision, forced=0, by_hand=False, languages=OURS
)
mount_editor("editor", data, pieces, changed)
st.text(f"run {{state.runs}}: [{{state.text}}]")
"""
PROBABILITIES = (0.9, 0.25, 0.5, 0.75)


def pieces_of(text: str) -> list[EditorPiece]:
    """A piece for each word, and one for each full stop."""
    return [
        EditorPiece(
            word if word == "." else f"▁{word}",
            math.log(PROBABILITIES[n % 4]),
            (("▁Alle", 0.3), ("▁Keine", 0.0625)),
        )
        for n, word in enumerate(re.findall(r"[^\s.]+|\.", text))
    ]


@pytest.fixture
def served(browser: Browser, serve_script: Callable[[str], str]) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_default_timeout(20_000)
    page.goto(serve_script(SCRIPT))
    field(page).wait_for()
    page.get_by_text("run 1:").wait_for()
    yield page
    page.close()


@pytest.fixture
def still(browser: Browser) -> Iterator[Callable[..., Page]]:
    page = browser.new_page(viewport={"width": 700, "height": 700}, offline=True)
    page.set_default_timeout(5_000)
    faults: list[object] = []
    page.on("pageerror", lambda fault: faults.append(fault))

    def open_page(text: str, pieces: list[EditorPiece], **options: Any) -> Page:
        content = encode_editor(text, pieces, revision=0, languages=OURS, **options)
        page.set_content(f"""<style>:root {{ color-scheme: light }} body {{ margin: 0 }}</style>
            <main></main><script type="module">{COMPONENTS}
            window.sent = [];
            window.show = (bytes) => {{ render(document.querySelector("main"), bytes,
                {{ onSelect: (value) => window.sent.push(value) }}); }};
            show({js_bytes(content)});</script>""")
        field(page).wait_for()
        return page

    yield open_page
    page.close()
    assert faults == []


def field(page: Page) -> Locator:
    return page.locator(".hl-editor-field")


def caret(page: Page) -> tuple[int, int]:
    start, end = field(page).evaluate("e => [e.selectionStart, e.selectionEnd]")
    return start, end


def has_focus(page: Page) -> bool:
    return bool(field(page).evaluate("e => e.getRootNode().activeElement === e"))


def answered(page: Page, text: str) -> None:
    page.get_by_text(re.compile(rf"^run \d+: \[{re.escape(text)}\]$")).wait_for()
    # the last of its marks are laid over: nothing is on its way
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def test_typing_loses_nothing_while_answers_come_late(served: Page) -> None:
    field(served).click()
    served.keyboard.press("Control+a")
    typed = "Zwei r alte Rüden c rennen über Gras."
    for n, letter in enumerate(typed, 1):
        served.keyboard.type(letter)
        # a pause now and then: so a text is sent, and its answer comes under the letters after it
        served.wait_for_timeout(380 if n % 7 == 0 else 60)
        assert field(served).input_value() == typed[:n]
    answered(served, typed)
    assert (field(served).input_value(), caret(served)) == (typed, (len(typed), len(typed)))
    assert has_focus(served)
    # in the middle, with an answer between the letters
    field(served).evaluate("e => e.setSelectionRange(4, 4)")
    served.keyboard.type(" so")
    served.wait_for_timeout(400)
    served.keyboard.type(" sehr")
    served.keyboard.press("Shift+ArrowLeft")
    now = typed.replace("Zwei", "Zwei so sehr")
    answered(served, now)
    assert (field(served).input_value(), caret(served)) == (now, (11, 12))
    # the browser's own undo goes through all of it
    for _ in range(60):
        served.keyboard.press("Control+z")
    assert field(served).input_value() == FIRST
    answered(served, FIRST)


def test_a_text_of_the_servers_comes_in_only_where_nobody_types(served: Page) -> None:
    served.get_by_role("button", name="another sentence").click()
    answered(served, OTHER)
    assert field(served).input_value() == OTHER  # nobody typed
    field(served).click()
    served.keyboard.press("End")
    served.keyboard.type(" Ja")
    answered(served, f"{OTHER} Ja")
    # the answer to this click comes when the person is ahead again
    served.get_by_role("button", name="another sentence").click()
    field(served).click()
    served.keyboard.press("End")
    served.keyboard.type(" Nein", delay=120)
    typed = f"{OTHER} Ja Nein"
    assert field(served).input_value() == typed
    answered(served, typed)
    assert (field(served).input_value(), has_focus(served)) == (typed, True)


def test_an_alternative_is_taken_by_key_and_by_click_and_can_be_undone(served: Page) -> None:
    field(served).click()
    served.keyboard.press("Home")
    served.keyboard.press("Alt+ArrowDown")
    served.keyboard.press("ArrowDown")
    chosen = served.locator("[role=option][aria-selected=true]")
    assert chosen.inner_text().split() == ["\u2068Keine\u2069", "0.0625"]
    assert field(served).get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    served.keyboard.press("Enter")
    answered(served, "Keine Hunde rennen.")
    assert (field(served).input_value(), has_focus(served)) == ("Keine Hunde rennen.", True)
    assert caret(served) == (0, 0)
    box = field(served).bounding_box()
    assert box
    served.mouse.move(box["x"] + 90, box["y"] + 24)  # over the second word
    served.locator(".hl-card-head strong", has_text="Hunde").wait_for()
    served.locator("[role=option]").first.click()
    answered(served, "Keine Alle rennen.")
    assert (field(served).input_value(), has_focus(served)) == ("Keine Alle rennen.", True)
    served.keyboard.press("Control+z")
    answered(served, "Keine Hunde rennen.")


BAR = """([start, end, row]) => {
    const letters = document.querySelector(".hl-editor-mirror").firstChild;
    const range = document.createRange();
    range.setStart(letters, start);
    range.setEnd(letters, end);
    const box = range.getBoundingClientRect();
    const canvas = document.querySelector(".hl-editor canvas");
    const outer = canvas.getBoundingClientRect();
    const y = box.bottom - outer.top + 3;
    const { data } = canvas.getContext("2d").getImageData(box.left - outer.left, y, box.width, 1);
    const dark = [...Array(Math.floor(box.width)).keys()].filter((x) => data[4 * x + 3] > 150);
    return dark.length / box.width;
}"""


def test_each_word_has_its_probability_under_it_and_in_its_card(still) -> None:
    text = "Zwei Hunde rennen."
    pieces = [
        EditorPiece("▁Zwei", math.log(0.9), (("▁Drei", 0.05),)),
        EditorPiece("▁Hun", math.log(0.5), (("▁Hund", 0.25),)),
        EditorPiece("de", math.log(0.5), (("d", 0.75),)),
        EditorPiece("▁rennen", math.log(0.02)),
        EditorPiece(".", 0.0),
    ]
    page = still(text, pieces)
    for start, end, p in ((0, 4, 0.9), (5, 10, 0.25), (11, 17, 0.02)):
        assert page.evaluate(BAR, [start, end, 0]) == pytest.approx(p, abs=0.06)
    field(page).click(position={"x": 75, "y": 24})
    card = page.locator(".hl-card")
    assert "p 0.250 · log P −1.39" in card.inner_text()
    rows = [
        re.sub(r"\s+|[\u2068\u2069]", " ", t).split()
        for t in page.locator(".hl-card-row").all_inner_texts()
    ]
    assert rows == [["Hun", "0.500"], ["Hund", "0.250"], ["·de", "0.500"], ["·d", "0.750"]]
    # its pieces have bars of their own now
    assert page.evaluate(BAR, [5, 8, 0]) == pytest.approx(0.5, abs=0.08)
    # what is found anew while the card is open stays inside it; Escape closes it, and not the text
    page.keyboard.press("Escape")
    assert (card.is_visible(), has_focus(page)) == (False, True)
    # a word behind what is typed has no card until the answer is there
    page.keyboard.press("Home")
    page.keyboard.type("Ja ")
    page.keyboard.press("End")
    page.keyboard.press("Alt+ArrowDown")
    assert not card.is_visible()
    page.wait_for_function("() => window.sent.length")
    assert page.evaluate("() => sent") == [{"text": f"Ja {text}", "revision": 1}]


def test_lines_are_joined_and_a_composition_is_left_alone(still) -> None:
    page = still("", [])
    field(page).click()
    page.keyboard.press("Enter")
    field(page).evaluate("""e => {
        const data = new DataTransfer();
        data.setData("text/plain", "Ein\\r\\nHund\\n");
        const event = new InputEvent("beforeinput",
            { inputType: "insertFromPaste", data: "Ein\\r\\nHund\\n", cancelable: true });
        if (e.dispatchEvent(event)) throw new Error("the browser would have pasted the lines");
    }""")
    assert field(page).input_value() == "Ein Hund"
    page.wait_for_function("() => window.sent.length === 1")
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "u", "selectionStart": 1, "selectionEnd": 1})
    taken = encode_editor("etwas anderes", (), revision=1, languages=OURS)
    page.wait_for_timeout(400)
    page.evaluate(f"() => show({js_bytes(taken)})")
    assert field(page).input_value() == "Ein Hundu"
    cdp.send("Input.insertText", {"text": "ü"})
    page.wait_for_function("() => window.sent.length === 2")
    assert page.evaluate("() => sent[1].text") == "Ein Hundü"
    assert page.evaluate("() => sent.length") == 2  # nothing of what was being composed
    # a server that has lost the session never answers it, and gets it once more
    page.evaluate(f"() => show({js_bytes(encode_editor('', (), revision=0, languages=OURS))})")
    page.wait_for_function("() => window.sent.length === 3")
    assert page.evaluate("() => sent[2]") == {"text": "Ein Hundü", "revision": 3}


def test_field_and_mirror_break_their_lines_alike(still) -> None:
    text = (
        "Im Donaudampfschifffahrtskapitän  sitzt „Wolle“ – AVATAR, Töpfe: »Ja!« ﬁ שלום 👩‍🚀. " * 4
    )
    page = still(text, [])
    for width in range(300, 640, 17):
        page.set_viewport_size({"width": width, "height": 700})
        heights = page.evaluate("""() => [".hl-editor-mirror", ".hl-editor-field"]
            .map((name) => document.querySelector(name).scrollHeight)""")
        assert heights[0] == heights[1], width
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_call_that_streamlit_ends_loses_nothing_that_was_typed(browser: Browser) -> None:
    first, second = (
        encode_editor(FIRST, pieces_of(FIRST), revision=n, languages=OURS) for n in (0, 1)
    )
    page = browser.new_page(offline=True)
    page.set_content(f"""<main></main><script type="module">{COMPONENTS}
        const parentElement = document.querySelector("main").attachShadow({{ mode: "open" }});
        window.call = (data) => serve({{ data, parentElement, setTriggerValue() {{}} }});
        window.endFirst = call({js_bytes(first)});</script>""")
    field(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" Ja")
    page.evaluate(f"() => {{ endFirst(); window.end = call({js_bytes(second)}); }}")
    page.keyboard.type("!")
    assert (field(page).input_value(), has_focus(page)) == (f"{FIRST} Ja!", True)
    left = page.evaluate("""() => {
        const main = document.querySelector("main");
        main.remove();
        end();
        return main.shadowRoot.childElementCount;
    }""")
    assert left == 0
    page.close()
