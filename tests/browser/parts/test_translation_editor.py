"""The German line that is edited in place: nothing is lost that a person types.

One page is served by a slow server, whose answers come when the text is another one already; the
other ones have no server.
"""

import math
import re

import pytest

from tests.browser.offline import Still
from transformer.text.languages import OURS
from viz.draw.alternatives import EditorPiece, encode_editor

pytestmark = pytest.mark.browser

FIRST, OTHER = "Zwei Hunde rennen.", "Drei Katzen schlafen."
SLOW = 0.4  # seconds of each run


def pieces_of(text):
    """A piece for each word, and one for each full stop."""
    return [
        EditorPiece(
            word if word == "." else f"▁{word}",
            math.log(0.5),
            (("▁Alle", 0.3), ("▁Keine", 0.0625)),
        )
        for word in re.findall(r"[^\s.]+|\.", text)
    ]


def content(text, pieces, revision=0):
    return encode_editor(text, pieces, revision=revision, languages=OURS)


def field(page):
    return page.locator(".hl-editor-field")


def caret(page):
    start, end = field(page).evaluate("e => [e.selectionStart, e.selectionEnd]")
    return start, end


def has_focus(page):
    return bool(field(page).evaluate("e => e.getRootNode().activeElement === e"))


def answered(page, text):
    page.get_by_text(re.compile(rf"^run \d+: \[{re.escape(text)}\]$")).wait_for()
    # the last of its marks are laid over: nothing is on its way
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def test_typing_and_alternatives_lose_nothing_while_answers_come_late(browser, parts_address):
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_default_timeout(20_000)
    page.goto(f"{parts_address}/?part=editor")
    answered(page, FIRST)
    line, keyboard = field(page), page.keyboard
    line.click()
    keyboard.press("Control+a")
    typed = "Zwei r Rüden."
    for n, letter in enumerate(typed, 1):
        keyboard.type(letter)
        # a pause now and then: so a text is sent, and its answer comes under the letters after it
        page.wait_for_timeout(380 if n % 5 == 0 else 20)
        assert line.input_value() == typed[:n]
    answered(page, typed)
    assert (line.input_value(), caret(page)) == (typed, (len(typed), len(typed)))
    assert has_focus(page)
    # in the middle, with an answer between the letters
    line.evaluate("e => e.setSelectionRange(4, 4)")
    keyboard.type(" so")
    page.wait_for_timeout(400)
    keyboard.type(" sehr")
    keyboard.press("Shift+ArrowLeft")
    now = typed.replace("Zwei", "Zwei so sehr")
    answered(page, now)
    assert (line.input_value(), caret(page)) == (now, (11, 12))
    # the browser's own undo goes through all of it
    for _ in range(25):
        keyboard.press("Control+z")
    assert line.input_value() == FIRST
    answered(page, FIRST)

    # an alternative is taken by key and by click, and can be undone
    keyboard.press("Home")
    keyboard.press("Alt+ArrowDown")
    keyboard.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    assert chosen.inner_text().split() == ["\u2068Keine\u2069", "0.0625"]
    assert line.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    keyboard.press("Enter")
    answered(page, "Keine Hunde rennen.")
    assert (line.input_value(), has_focus(page)) == ("Keine Hunde rennen.", True)
    assert caret(page) == (0, 0)
    box = line.bounding_box()
    page.mouse.move(box["x"] + 90, box["y"] + 24)  # over the second word
    page.locator(".hl-card-head strong", has_text="Hunde").wait_for()
    page.locator("[role=option]").first.click()
    answered(page, "Keine Alle rennen.")
    assert (line.input_value(), has_focus(page)) == ("Keine Alle rennen.", True)
    keyboard.press("Control+z")
    answered(page, "Keine Hunde rennen.")

    # a text of the server's comes in only where nobody types
    page.get_by_role("button", name="another sentence").click()
    answered(page, OTHER)
    assert line.input_value() == OTHER
    line.click()
    keyboard.press("End")
    keyboard.type(" Ja")
    answered(page, f"{OTHER} Ja")
    # the answer to this click comes when the person is ahead again
    page.get_by_role("button", name="another sentence").click()
    line.click()
    keyboard.press("End")
    keyboard.type(" Nein", delay=120)
    typed = f"{OTHER} Ja Nein"
    assert line.input_value() == typed
    answered(page, typed)
    assert (line.input_value(), has_focus(page)) == (typed, True)
    page.close()


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


def test_each_word_has_its_probability_under_it_and_in_its_card(still):
    text = "Zwei Hunde rennen."
    pieces = [
        EditorPiece("▁Zwei", math.log(0.9), (("▁Drei", 0.05),)),
        EditorPiece("▁Hun", math.log(0.5), (("▁Hund", 0.25),)),
        EditorPiece("de", math.log(0.5), (("d", 0.75),)),
        EditorPiece("▁rennen", math.log(0.02)),
        EditorPiece(".", 0.0),
    ]
    bare: Still = still(content(text, pieces), width=700)
    page = bare.page
    for start, end, p in ((0, 4, 0.9), (5, 10, 0.25), (11, 17, 0.02)):
        assert page.evaluate(BAR, [start, end, 0]) == pytest.approx(p, abs=0.06)
    field(page).click(position={"x": 75, "y": 24})
    card = page.locator(".hl-card")
    assert "p 0.250 · log probability −1.39" in card.inner_text()
    rows = [
        re.sub(r"\s+|[\u2068\u2069]", " ", text).split()
        for text in page.locator(".hl-card-row").all_inner_texts()
    ]
    assert rows == [["Hun", "0.500"], ["Hund", "0.250"], ["·de", "0.500"], ["Hund", "0.750"]]
    # its pieces have bars of their own now
    assert page.evaluate(BAR, [5, 8, 0]) == pytest.approx(0.5, abs=0.08)
    page.keyboard.press("Escape")
    assert (card.is_visible(), has_focus(page)) == (False, True)
    # a word behind what is typed has no card until the answer is there
    page.keyboard.press("Home")
    page.keyboard.type("Ja ")
    page.keyboard.press("End")
    page.keyboard.press("Alt+ArrowDown")
    assert not card.is_visible()
    page.wait_for_function("() => picked.length")
    assert bare.picked() == [{"text": f"Ja {text}", "revision": 1}]


def test_lines_are_joined_and_a_composition_is_left_alone(still):
    bare: Still = still(content("", []), width=700)
    page = bare.page
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
    page.wait_for_function("() => picked.length === 1")
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "u", "selectionStart": 1, "selectionEnd": 1})
    page.wait_for_timeout(400)
    bare.show(content("etwas anderes", [], revision=1))
    assert field(page).input_value() == "Ein Hundu"
    cdp.send("Input.insertText", {"text": "ü"})
    page.wait_for_function("() => picked.length === 2")
    assert [sent["text"] for sent in bare.picked()] == ["Ein Hund", "Ein Hundü"]
    # a server that has lost the session never answers it, and gets it once more
    bare.show(content("", []))
    page.wait_for_function("() => picked.length === 3")
    assert bare.picked()[2] == {"text": "Ein Hundü", "revision": 3}


def test_field_and_mirror_break_their_lines_alike(still):
    text = (
        "Im Donaudampfschifffahrtskapitän  sitzt „Wolle“ – AVATAR, Töpfe: »Ja!« ﬁ שלום 👩‍🚀. " * 4
    )
    bare: Still = still(content(text, []), width=700)
    apart = """() => Array.from({ length: 20 }, (_, n) => 300 + 17 * n).filter((width) => {
        document.querySelector("main").style.width = `${width}px`;
        const [mirror, field] = [".hl-editor-mirror", ".hl-editor-field"]
            .map((name) => document.querySelector(name).scrollHeight);
        return mirror !== field || mirror < 100;
    })"""
    assert bare.page.evaluate(apart) == []
    assert bare.fits()
