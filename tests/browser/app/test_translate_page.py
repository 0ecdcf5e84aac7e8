"""The German as an editor: it grows as it is found, is steered by clicks, and nothing is lost."""

import pytest

from tests.browser import app_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# what a reader sees of the German line and where the editor stands, each time that it changes
WATCH = """() => {
    window.seen = [];
    const look = () => {
        requestAnimationFrame(look);  // a frame without the line or the editor does not end it
        const line = document.querySelector(".st-key-translation");
        const editor = document.querySelector(".st-key-translate-editor");
        if (!line?.textContent || !editor) return;
        const place = editor.getBoundingClientRect();
        const parts = ["settled", "tentative"].map((name) =>
            line.querySelector(`.headlight-${name}`)?.textContent ?? null);
        const now = [...parts, line.textContent, Math.round(place.top), Math.round(place.height)];
        if (`${now}` !== `${window.seen.at(-1)}`) window.seen.push(now);
    };
    look();
}"""
REST = 800  # ms; an outdated search would have ended by then


@pytest.fixture(scope="module", autouse=True)
def slow(slow_file):
    """Each step of the model takes 60 ms more."""
    slow_file.touch()
    yield
    slow_file.unlink()


def editor(page):
    return page.locator(".st-key-translate-editor .hl-editor-field")


def test_a_translation_is_forced_taken_back_and_edited_in_place(visit, translator):
    page = visit(text=app_page.SENTENCE)
    own = translator.translate(app_page.SENTENCE)
    app_page.expect_german(page, own.text)
    page.locator(".st-key-player canvas").first.wait_for()
    app_page.at_rest(page)
    page.locator(".st-key-translate-tree .hl-scroll").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    app_page.until(page, lambda: len(app_page.url(page).get("prefix", "").split()), 2)
    steered = translator.translate(app_page.SENTENCE, prefix=app_page.url(page)["prefix"].split())
    assert steered.text != own.text
    app_page.expect_german(page, steered.text)
    app_page.expect_player(page, translator.trace_of(steered))
    page.go_back()
    app_page.expect_german(page, own.text)
    assert "prefix" not in app_page.url(page)
    page.go_forward()
    app_page.expect_german(page, steered.text)

    field = editor(page)
    app_page.expect(field).to_have_value(steered.text)
    app_page.at_rest(page)
    # typing while answers come late: test_translation_editor.py
    field.click()
    page.keyboard.press("Control+A")
    typed = "Die Katze schläft."
    page.keyboard.type(typed[:-1])
    page.wait_for_timeout(450)
    page.keyboard.type(typed[-1])
    app_page.expect_german(page, typed)
    app_page.expect_player(page, translator.trace(app_page.SENTENCE, typed))
    assert field.input_value() == typed
    caret = "e => e.getRootNode().activeElement === e && e.selectionStart"
    assert field.evaluate(caret) == len(typed)
    # in the field Ctrl+Z is the field's own
    page.keyboard.press("Control+z")
    app_page.until(page, lambda: typed.startswith(field.input_value()), True)
    assert field.input_value() != typed
    app_page.expect_german(page, field.input_value())
    page.get_by_role("button", name="Back to the model").click()
    app_page.expect(field).to_have_value(own.text)
    app_page.no_traceback(page)


def test_german_appears_as_it_is_found_and_an_outdated_search_says_nothing_more(visit, translator):
    page = visit(text=app_page.SENTENCE)
    box = page.get_by_label("English")
    app_page.expect(editor(page)).not_to_have_value("")
    app_page.at_rest(page)
    page.evaluate(WATCH)
    box.click()
    page.keyboard.press("Control+A")
    typed = "The old baker sleeps"  # without its last letters the model writes something else
    for number, letter in enumerate(typed):
        page.keyboard.type(letter)
        # pauses in which a search begins, and is outdated by the next letter
        page.wait_for_timeout(500 if number in (4, 10) else 30)
    wanted = translator.translate(typed).text
    app_page.expect_german(page, wanted)
    app_page.expect(editor(page)).to_have_value(wanted)
    app_page.expect(box).to_have_value(typed)
    app_page.expect(box).to_be_focused()
    page.wait_for_timeout(REST)
    seen = page.evaluate("() => window.seen")
    done = [n for n, (_, _, text, _, _) in enumerate(seen) if text == wanted]
    assert done == [*range(done[0], len(seen))]
    grown = [settled + tentative for settled, tentative, *_ in seen if settled is not None]
    assert len(set(grown)) > 3
    # the last search grew into its result, and nothing moved the editor meanwhile
    assert wanted.startswith(seen[done[0] - 1][0])
    assert len({(top, height) for *_, top, height in seen}) == 1, seen
    app_page.no_traceback(page)
    # in the middle of the text, the cursor stays where it is
    page.keyboard.press("Home")
    page.keyboard.type("Now ", delay=150)
    app_page.expect_german(page, translator.translate(f"Now {typed}").text)
    assert box.evaluate("box => box.selectionStart") == 4
    app_page.expect(box).to_have_value(f"Now {typed}")
