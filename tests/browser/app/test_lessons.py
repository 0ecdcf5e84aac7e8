"""Lessons obeyed to the letter, by keyboard; saved views as a lesson, and both presented."""

from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from tests.browser import app_page
from tests.browser.lesson_player import Player, Score
from transformer.files import installed
from viz.app.links.address import CARRIED
from viz.lessons import grading, read_lesson
from viz.lessons.tries import write_tries

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

PHONE = {"viewport": {"width": 390, "height": 844}}
LESSON = f"""---
title: Two cards
goal: Read a map.
minutes: 2
language: en
sentence: {app_page.SENTENCE}
---

## Which subword

```yaml
link: /heads?kind=decoder&layer=1&head=2
light: map
ask: Which subword gets most?
answer: {{measure: strongest, head: L1 H2 decoder, row: 1}}
```

## Which word

```yaml
link: /roles?roles_view=Remove heads&removed=L1 H1 cross&kind=cross-attention&layer=1&head=1
light: translation
ask: Which word comes first?
```

- [ ] cat
- [x] The
- [ ] old
"""
IN_SIGHT = """(element) => [0.1, 0.9].every((part) => {
  const { left, top, width, height } = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + Math.min(20, width / 2), top + part * height);
  return there !== null && (element.contains(there) || there.contains(element));
})"""
"""Whether an element is in the window, and nothing lies over it."""
VIEWS = {
    "heads": (
        {"kind": "encoder", "layer": "1", "head": "1", "lens": "norms", "heads-map-row": "3"},
        "heads-map",
    ),
    "roles": ({"roles_view": "Remove heads", "removed": "L1 H2 cross"}, "roles-grid"),
}
"""By page: what is chosen in a saved view, and the key of its picture."""


@pytest.fixture(scope="module", autouse=True)
def lessons(lessons_folder):
    """The folder of the app's lessons, with one in it."""
    (lessons_folder / "two.md").write_text(LESSON, "utf-8")
    yield lessons_folder
    for path in lessons_folder.iterdir():
        path.unlink()


def choices(page):
    """Return page and choices in the address, without the place in a lesson."""
    parts = urlsplit(page.evaluate("location.href"))
    query = parse_qs(parts.query, keep_blank_values=True)
    return parts.path, {name: query[name] for name in query if name not in CARRIED}


def copied(page):
    """Return the choices of the link that was copied."""
    return parse_qsl(urlsplit(page.evaluate("navigator.clipboard.readText()")).query)


def picture(page, key):
    """Read what is drawn in a place: pixels of canvases, outlines of drawings, and words."""
    drawn = page.locator(f".st-key-{key}").locator("canvas, path, text, [aria-description]")
    return drawn.evaluate_all(
        """all => all.map((e) => e instanceof HTMLCanvasElement
            ? e.toDataURL() : e.getAttribute("d") ?? e.ariaLabel ?? e.textContent)"""
    )


def test_a_lesson_is_played_by_keyboard(browser, address, lessons, translator):
    lesson = read_lesson(lessons / "two.md")
    score = Score()
    page = browser.new_page(**PHONE)  # in the context of all: another one loads all scripts again
    context = SimpleNamespace(new_page=lambda: page, close=page.close)
    shared: Any = SimpleNamespace(new_context=lambda **_: context)
    player = Player(shared, PHONE, address, lesson, score)
    assert player.play(list(grading.answer_key(lesson, translator))) == []
    assert score == Score(read=1, wrong=2, right=2, opened=2, lit=2)


def given(lessons, number, text):
    """Return what the address has once a card, from 0, was answered."""
    return write_tries({read_lesson(lessons / "two.md").tasks[number]: [text]}, 100)


@pytest.fixture
def phone(shared):
    """The tab of all tests in the size of a phone."""
    before = shared.viewport_size
    shared.set_viewport_size(PHONE["viewport"])
    yield shared
    shared.set_viewport_size(before)


def test_the_answer_and_the_verdict_are_in_sight_and_the_way_on_waits(phone, visit, lessons):
    page = phone
    query = {"text": app_page.SENTENCE, "lesson": "two", "card": "1"}
    query |= {"kind": "decoder", "layer": "1", "head": "2"}
    backgrounds = []
    for answer, *parts in (
        ("", "input", "[class*=st-key-lesson-check-]"),
        (given(lessons, 0, "x"), "[class*=-verdict-]", "[class*=st-key-lesson-again-]"),
    ):
        visit("heads", **query, answers=answer)
        app_page.at_rest(page)
        for part in parts:
            assert page.locator(f".st-key-lesson {part}").first.evaluate(IN_SIGHT), part
        way_on = page.locator("[class*=st-key-lesson-next] :is(a, button)")
        backgrounds.append(way_on.evaluate("e => getComputedStyle(e).backgroundColor"))
    assert backgrounds[0] != backgrounds[1]
    # what was typed when the network went: Streamlit does not hear then that the field is left
    page.locator("[class*=st-key-lesson-again-] button").click()
    field = page.locator("[class*=st-key-lesson-typed-] input")
    field.fill("y")
    field.evaluate(
        """element => {
            const hush = (event) => event.stopImmediatePropagation();
            addEventListener("focusout", hush, { capture: true, once: true });
            element.blur();
        }"""
    )
    page.locator("[class*=st-key-lesson-check-] button").click()
    page.locator("[class*=st-key-lesson-verdict-]").wait_for()
    app_page.until(page, lambda: "%7Cy" in page.url, True)


def test_a_light_goes_out_where_another_head_or_sentence_is_on_the_screen(visit):
    query = {"text": app_page.SENTENCE, "lesson": "two", "card": "1"}
    query |= {"kind": "decoder", "layer": "1", "head": "2"}
    page = visit("heads", **query)
    lit = page.locator(".hl-lit")
    app_page.expect(lit).to_have_count(1)
    app_page.choose(page, "Head", "1")
    app_page.expect(lit).to_have_count(0)
    app_page.choose(page, "Head", "2")
    app_page.expect(lit).to_have_count(1)
    page.get_by_label("English").fill("A cat.")
    app_page.expect(lit).to_have_count(0)


def test_saved_views_are_a_lesson_whose_links_open_them_exactly(visit, address, lessons):
    page = visit()
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    saved: list[Any] = []
    for path, (chosen, key) in VIEWS.items():
        visit(path, text=app_page.SENTENCE, **chosen)
        app_page.at_rest(page)
        page.locator(f".st-key-{key}").wait_for()
        page.locator(".st-key-views button").first.click()
        page.locator(".st-key-save-view button").click()
        page.locator(f".st-key-view-{len(saved)}").wait_for()
        page.keyboard.press("Escape")
        app_page.at_rest(page)
        saved.append((choices(page), picture(page, key)))
        assert len(saved[-1][0][1]) > 1, path
        assert saved[-1][1], path
    page.locator(".st-key-views button").first.click()
    with page.expect_download() as download:
        page.locator(".st-key-views-download button").click()
    download.value.save_as(lessons / "views.md")
    cards = read_lesson(lessons / "views.md").cards
    page.evaluate("localStorage.clear(); sessionStorage.clear()")  # as for who is sent the links
    for number, (card, view, (_, key)) in enumerate(zip(cards, saved, VIEWS.values(), strict=True)):
        assert card.view is not None
        go = partial(app_page.enter, page) if number else page.goto  # which begins a session
        go(f"{address}{card.view.url}")
        page.locator(f".st-key-{key}").wait_for()
        app_page.until(page, partial(choices, page), view[0])
        app_page.until(page, partial(picture, page, key), view[1])


def test_presenting_is_larger_and_arrow_keys_go_through_the_cards(visit, lessons):
    query = {"text": app_page.SENTENCE, "lesson": "two", "card": "1", "present": "1"}
    page = visit("heads", **query)
    question = page.locator(".st-key-lesson-act p").first
    question.wait_for()
    assert float(question.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 24
    # the picture is larger, and is pointed at where it is
    canvas = page.locator(".st-key-heads-map canvas").first
    canvas.wait_for()
    assert canvas.evaluate("canvas => canvas.currentCSSZoom") > 1.5
    # it has the width beside the card, and the small maps are below it
    of_block = "e => e.offsetWidth / e.closest('.stHorizontalBlock').offsetWidth"
    assert page.locator(".st-key-heads-map").evaluate(of_block) > 0.9
    box = canvas.bounding_box()
    near = box["y"] + box["height"] * 0.8
    page.mouse.move(box["x"] + box["width"] / 2, near)
    tip = page.locator(".st-key-heads-map .hl-tip").bounding_box()
    assert abs(tip["y"] - near) < 200
    page.locator("[class*=st-key-lesson-next] :is(a, button)").first.wait_for()  # drawn late

    def place():
        return urlsplit(page.evaluate("location.href")).path, app_page.url(page).get("card")

    for key, wanted in (("ArrowRight", ("/roles", "2")), ("PageUp", ("/heads", "1"))):
        app_page.at_rest(page)
        page.keyboard.press(key)
        app_page.until(page, place, wanted)
    app_page.at_rest(page)
    page.keyboard.press("Escape")
    app_page.until(page, lambda: "present" in app_page.url(page), False)
    app_page.at_rest(page)
    here = page.url
    app_page.enter(page, f"{here}&{urlencode({'answers': given(lessons, 1, '2')})}")
    app_page.at_rest(page)
    page.locator("[data-copy-link]").click()
    app_page.until(page, lambda: sorted(copied(page)), sorted(parse_qsl(urlsplit(here).query)))
    assert app_page.url(page)["lesson"] == "two"

    app_page.no_traceback(page)


CHROME = installed.FILES / "viz" / "app" / "chrome"


def test_arrow_keys_and_a_remote_control_go_on_and_back(browser) -> None:
    page = browser.new_page()
    page.add_script_tag(path=CHROME / "js" / "share.js")
    page.evaluate(
        """document.body.innerHTML = "<p data-present></p>" + ["next", "back"].map((way) =>
            `<p class=st-key-lesson-${way}><button onclick="(window.went ??= []).push('${way}')">`
            + "</button></p>").join("")"""
    )
    for key in ("ArrowRight", "ArrowLeft", "PageDown", "PageUp", "Control+ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("went") == ["next", "back", "next", "back"]
    page.close()


CARD = """<div class=st-key-lesson>
  <div class=st-key-lesson-card-0>One</div>
  <div class=st-key-lesson-verdict-0>Not quite</div>
  <div class=st-key-lesson-again-0><button>Try again</button></div>
</div>"""
OPENED = """<div style="height: 60px; overflow: auto">
  <p style="height: 100px">Goal</p>
  <div class=st-key-lesson-card-0 style="height: 100px">One</div>
</div>
<div class=st-key-lesson-act>
  <div class=st-key-lesson-typed-0><label data-testid=stWidgetLabel>Your answer</label></div>
  <div class=st-key-lesson-reader><label data-testid=stWidgetLabel>Your name</label></div>
</div>"""
FIELD = "<div class=st-key-lesson-typed-0><input></div>"
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_the_focus_waits_for_a_field_that_is_drawn_late(browser) -> None:
    page = browser.new_page()
    page.add_script_tag(path=CHROME / "js" / "card_focus.js")
    page.evaluate(f"document.body.innerHTML = `{CARD}`")
    page.evaluate(FRAMES)
    page.get_by_role("button").focus()

    def focused_after(change: str) -> str:
        page.evaluate(f"document.querySelector{change}")
        page.evaluate(FRAMES)
        return page.evaluate("document.activeElement.tagName")

    assert focused_after("('[class*=again]').remove()") == "BODY"
    assert focused_after("('[class*=verdict]').remove()") == "BODY"
    field = f"('.st-key-lesson').insertAdjacentHTML('beforeend', '{FIELD}')"
    assert focused_after(field) == "INPUT"
    assert focused_after("('input').outerHTML = '<input>'") == "INPUT"
    page.close()


def test_a_lesson_opens_at_its_top_and_asks_for_a_name_in_sight(browser) -> None:
    page = browser.new_page()
    page.add_script_tag(path=CHROME / "js" / "card_focus.js")
    page.add_style_tag(path=CHROME / "style" / "lesson.css")
    page.evaluate(
        "document.body.innerHTML = `<p class=st-key-lessons><button>Lessons</button></p>"
        "<div class=st-key-lesson></div>`"
    )
    page.get_by_role("button").focus()  # in the menu
    page.evaluate(f"document.querySelector('.st-key-lesson').innerHTML = `{OPENED}`")
    page.evaluate(FRAMES)
    card = page.locator(".st-key-lesson-card-0")
    assert card.evaluate("e => [e === document.activeElement, e.parentElement.scrollTop]") == [
        True, 0,
    ]  # fmt: skip
    hidden = page.locator("label").evaluate_all(
        "all => all.map((e) => getComputedStyle(e).clipPath)"
    )
    assert hidden == ["inset(50%)", "none"]
    page.close()
