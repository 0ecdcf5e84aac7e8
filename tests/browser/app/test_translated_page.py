"""A page that the browser translates: its texts are those of the sentence, its words unchanged."""

import re
from functools import partial

import pytest

from tests.browser import app_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# as Chrome's translator does; the second way is that of other translators
TRANSLATE = """(inTwoSteps) => {
    const skipped = "script, style, textarea, code, pre, svg, [translate=no], font";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    const read = [];
    for (const text of texts) {
        if (!text.data.trim() || text.parentElement.closest(skipped)) continue;
        const [outer, inner] = [document.createElement("font"), document.createElement("font")];
        inner.textContent = text.data;
        outer.append(inner);
        if (inTwoSteps) {
            text.parentNode.insertBefore(outer, text);
            text.parentNode.removeChild(text);
        } else {
            text.parentNode.replaceChild(outer, text);
        }
        read.push(text.data);
    }
    return read;
}"""
SHOWN = "document.querySelector('[data-testid=stMain]').innerText"
FIRST, SECOND = "The old cat sleeps under the table.", "The dog sleeps in the garden."


def shown(page) -> list[str]:
    text = re.sub(r"\d+ ms", "", page.evaluate(SHOWN))
    return [line for line in text.splitlines() if line.strip()]


def test_sentence_translation_and_words_are_left_as_they_are(visit, translator) -> None:
    page = visit("heads", text=FIRST, kind="cross-attention", layer="2", head="1")
    app_page.expect_german(page, translator.translate(FIRST).text)
    app_page.at_rest(page)
    words = page.locator("[translate=no]").all_inner_texts()
    assert f" · {FIRST}" in words
    assert translator.translate(FIRST).text in words
    links = page.locator(".st-key-findings-links").text_content()
    assert {word for word in words if "“" in word} == set(re.findall("“\u2068.*?”", links)) != set()


def test_texts_are_those_of_the_last_sentence(shared, visit, translator) -> None:
    page = shared
    faults: list[str] = []
    german = translator.translate(SECOND).text
    page.on("pageerror", lambda error: faults.append(str(error)))
    for path, in_two_steps in (("masks", True), ("heads", False)):
        visit(path, text=SECOND)
        app_page.expect_german(page, german)
        # the end of the page has come, too
        app_page.until(page, lambda: any("In the paper" in text for text in shown(page)), True)
        app_page.at_rest(page)
        wanted = shown(page)
        page.get_by_label("English").fill(FIRST)
        app_page.expect_german(page, translator.translate(FIRST).text)
        app_page.at_rest(page)
        assert shown(page) != wanted
        assert len(page.evaluate(TRANSLATE, in_two_steps)) > 20
        page.get_by_label("English").fill(SECOND)
        app_page.until(page, partial(shown, page), wanted)
        # what goes has a <font> in its place, too
        page.evaluate(TRANSLATE, in_two_steps)
        page.get_by_label("English").fill("")
        app_page.until(page, lambda: german in page.evaluate(SHOWN), False)
        app_page.no_traceback(page)
    assert faults == []
    page.goto("about:blank")  # what comes next finds no text of a translator
