"""A small site in a real Chromium, as files and without a network: every page, link and card."""

import re
import runpy
from html import escape
from pathlib import Path

import pytest

from tests.browser.app_page import until
from tests.viz.planted_trace import EVIL
from transformer import Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import removal_order
from viz.__main__ import main as report
from viz.draw.formatting import format_difference
from viz.sentence_parts import COSTLIEST
from viz.site import __main__

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
SENTENCE = "A man rides a horse."


def drawn(page) -> None:
    """Wait until a page or a frame has drawn, without the eval that it forbids."""
    entries = "performance.getEntriesByName('drawn').length"
    until(getattr(page, "page", page), lambda: page.evaluate(entries) > 0, True)


@pytest.fixture(scope="module")
def site(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    lines = folder / "lines.txt"
    long = "a dog " * 110
    lines.write_text(f"{SENTENCE}\tNote {EVIL}\n\nEin Hund {EVIL}\n{long}\n", "utf-8")
    command = ["--out", str(folder / "out"), "--sentences", str(lines)]
    assert __main__.main([*command, "--checkpoint", str(trained_folder)]) == 2  # line 4 is too long
    return folder / "out"


@pytest.fixture(scope="module")
def tab(browser):
    page = browser.new_page(offline=True, viewport={"width": 390, "height": 844})
    page.messages, page.asked = [], []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.on("dialog", lambda dialog: page.messages.append(dialog.message))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    page.close()


def test_every_page_is_drawn_from_a_file_alone_and_every_link_leads_to_one(site, tab):
    todo, seen = ["index.html"], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        tab.goto((site / name).as_uri())
        drawn(tab)
        assert tab.title()
        assert tab.locator("meta[name=description]").get_attribute("content")
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert tab.locator("[data-picture]:visible > .hl").count() > 0
        links = tab.eval_on_selector_all("a[href]", "links => links.map((a) => a.href)")
        assert all(link.startswith(f"{site.as_uri()}/") for link in links)
        todo += [Path(link).name for link in links]
    pages = {path.name for path in site.glob("*.html")}
    assert seen == pages == {"index.html", "lesson-attention.html", "en-1.html", "en-3.html"}
    assert tab.messages == []
    assert all(address.startswith(f"{site.as_uri()}/") for address in tab.asked)
    for name in ("index.html", "en-3.html"):
        text = (site / name).read_text("utf-8")
        assert "default-src 'none'" in text
        assert EVIL not in text
        assert escape(EVIL) in text


def test_a_page_in_the_documentation_shows_the_part_of_its_address_alone(site, tab):
    live = runpy.run_path(str(ROOT / "docs" / "live.py"))["FRAMES"]
    frames = [f'<iframe src="{page}#{part}"></iframe>' for page, part, _ in live.values()]
    (site / "frames.htm").write_text(f"<!doctype html>{''.join(frames)}")
    tab.goto((site / "frames.htm").as_uri())
    for frame, (_, part, _) in zip(tab.frames[1:], live.values(), strict=True):
        drawn(frame)
        parts = frame.locator("header, main > section, #lesson, footer").filter(visible=True)
        assert parts.evaluate_all("parts => parts.map(({ id }) => id)") == [part]
    assert tab.messages == []


def test_a_click_shows_the_translation_without_a_head(site, tab, translator: Translator):
    trace = translator.trace_of(translator.translate(SENTENCE))
    order = removal_order(translator.model, trace, length=COSTLIEST)
    tab.goto((site / "en-1.html").as_uri())
    drawn(tab)
    buttons = tab.locator(".choices button")
    for number, heads in enumerate([[head] for head in order] + [order]):
        changed = effect(translator, trace, [Removal(*head) for head in heads])
        buttons.nth(number).press("Enter")
        after, before = (float(x.log_probs.sum()) for x in (changed.after, trace))
        cost = format_difference(after, before)
        assert buttons.nth(number).locator("small").inner_text() == cost
        written = tab.locator(".without:visible .translation").evaluate(
            "text => { const copy = text.cloneNode(true);"
            " copy.querySelectorAll('del, .headlight-unseen').forEach((part) => part.remove());"
            " return copy.textContent; }"
        )
        assert written.split() == (changed.translation.text or "(nothing)").split()
    buttons.first.press("Enter")
    kind, layer, head = order[0]
    title = tab.locator(".hl-explorer-open h3").first.inner_text()
    assert title.startswith(f"L{layer + 1} H{head + 1}")
    assert tab.locator(".hl-explorer-open h3").first.get_attribute("data-kind") == kind


def test_a_report_has_the_same_parts_and_its_pictures_are_named_after_their_heads(
    trained_folder, tab, tmp_path
):
    path = tmp_path / "report.html"
    assert report([SENTENCE, "-o", str(path), "--checkpoint", str(trained_folder)]) == 0
    tab.messages.clear()
    tab.goto(path.as_uri())
    drawn(tab)
    assert tab.locator("[data-picture] > *").count() == 3
    opened = tab.locator(".hl-explorer-open h3").first
    for button in (
        tab.locator("header .findings button").last,
        tab.locator("#without button").nth(2),
    ):
        kind, layer, head = button.get_attribute("data-head").split(".")
        button.press("Enter")
        name = f"l{int(layer) + 1}-h{int(head) + 1}"
        assert opened.inner_text().lower().replace(" ", "-").startswith(f"{name}-")
        assert opened.get_attribute("data-kind") == kind
        for part in range(2):  # the map, and its ribbons
            place = tab.locator(".hl-explorer-open .hl-save").nth(part)
            place.locator("summary").click()
            with tab.expect_download() as download:
                place.get_by_role("button", name="Save as SVG").click()
            assert download.value.suggested_filename.startswith(f"headlight-{name}-")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.messages == []


def test_a_lesson_is_taken_by_keyboard_and_checked_on_the_page(site, tab):
    tab.goto((site / "lesson-attention.html").as_uri())
    drawn(tab)
    card = tab.locator(".card:visible")

    def answer(text: str) -> tuple[bool, str]:
        """Return whether an answer is taken as right, and the score."""
        field = card.locator("input").first
        if field.get_attribute("type") == "radio":
            card.get_by_role("radio", name=text, exact=True).press("Space")
        else:
            field.fill(text)
        field.press("Enter")
        assert card.locator(".hint").is_visible() != card.locator(".reveal").is_visible()
        return card.locator(".reveal").is_visible(), card.locator(".score").inner_text()

    def go_on() -> str:
        card.locator("[data-go='1']").press("Enter")
        return card.locator(".hl-explorer-open h3").first.inner_text()[:5]

    def score(right: int) -> str:
        return f"You have {right} of 6 right."

    assert answer("6") == (False, score(0))
    assert answer(" 7,0") == (True, score(1))
    assert card.locator("[data-answer]").inner_text() == "7"
    assert go_on() == "L4 H5"
    canvas = card.locator(".hl-explorer-open .hl-scroll canvas").first
    words = canvas.evaluate("canvas => canvas.painted.words.map(({ text }) => text)")
    assert {"horse", "Pferd"} <= {*words}
    assert answer("rides") == (False, score(1))
    assert answer("horse") == (True, score(2))
    assert go_on() == "L4 H5"
    assert answer("0.2") == answer("zero") == (False, score(2))
    assert answer("5 %") == answer("0,03") == (True, score(3))
    assert go_on() == "L4 H4"
    assert answer("rides") == (True, score(4))
    assert go_on() == "L1 H1"
    assert answer("English both") == (True, score(5))
    card.locator("[data-go='1']").press("Enter")
    assert answer("no") == (True, score(6))
    card.locator("summary").press("Enter")
    assert card.locator(".without:visible").count() == 1
    # none of the answers stands in the page as text
    text = (site / "lesson-attention.html").read_text("utf-8")
    assert {*re.findall(r"data-answer>(.*?)<", text)} == {""}
    assert "English both" not in re.sub(r"<label>.*?</label>", "", text)
    assert tab.messages == []
