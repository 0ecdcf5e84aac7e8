"""The picture of words: does a link run from the right word to the right one, with its strength?

Words and numbers are read where they are drawn, links from the canvas's pixels and from the saved
drawing.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.still import PAPER, SVG, Still, plain, rgb, words_of
from transformer.analysis.alignment import WordPair
from transformer.text.languages import OURS
from viz.draw.palette import COLOR
from viz.draw.word_links import encode_links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SOURCE = ["Yesterday", "I", "saw", "dogs", "running", "."]
TARGET = ["Gestern", "sah", "ich", ",", "wie", "Hunde", "liefen", "."]
ENDS = ((0, 0, 0.9), (2, 1, 0.75), (1, 2, 0.6), (3, 5, 0.95), (4, 6, 0.5), (4, 4, 0.004))
PAIRS = [WordPair(*ends) for ends in ENDS]
LONG = [f"word{n}" for n in range(40)]


def encoded(source: list[str], target: list[str], pairs: list[WordPair]) -> bytes:
    return encode_links(
        source,
        target,
        pairs,
        made_by="layer 2, lens: norms",
        caption=["By a model."],
        languages=OURS,
    )


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(offline=True)
    yield page
    page.close()


@pytest.fixture
def still(page: Page) -> Iterator[Callable[..., Still]]:
    opened: list[Still] = []

    def open_page(content: bytes, **options: Any) -> Still:
        opened.append(Still(page, content, **options))
        return opened[-1]

    yield open_page
    assert [fault for one in opened for fault in one.faults] == []


def middle(page: Still, side: str, index: int) -> tuple[float, float]:
    place = page.of_view(f"plan.places.{side}[{index}]")
    return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2


def numbers(page: Still) -> dict[str, str]:
    """Each strength that is drawn, by the word that it stands at: the nearest."""
    drawn = page.words()
    is_number = re.compile(r"(< )?\d\.\d\d").fullmatch
    words = [word for word in drawn if not is_number(word["text"])]

    def nearest(number: dict[str, Any]) -> str:
        far = {
            n: abs(w["x"] - number["x"]) + abs(w["y"] - number["y"]) for n, w in enumerate(words)
        }
        text: str = words[min(far, key=far.__getitem__)]["text"]
        return text

    return {nearest(word): word["text"] for word in drawn if is_number(word["text"])}


def link_at(page: Still, source: int, target: int) -> bool:
    """Whether there is ink half way between two words that stand one over the other."""
    (x0, y0), (x1, y1) = middle(page, "source", source), middle(page, "target", target)
    return page.color((x0 + x1) / 2, (y0 + y1) / 2) != rgb(PAPER["light"])


def test_a_word_shows_its_partners_on_either_side_and_keeps_them_when_pinned(still) -> None:
    page = still(encoded(SOURCE, TARGET, PAIRS))
    assert [word["text"] for word in page.words()] == [*SOURCE, *TARGET]
    assert link_at(page, 3, 5)
    assert not link_at(page, 5, 7)  # the two full stops are not linked
    page.move(*middle(page, "source", 4))
    assert numbers(page) == {"liefen": "0.50", "wie": "< 0.01"}
    page.move(*middle(page, "target", 5))
    assert numbers(page) == {"dogs": "0.95"}
    page.move(*middle(page, "target", 3))
    assert numbers(page) == {}
    page.move(*middle(page, "source", 0))
    page.page.mouse.down()
    page.page.mouse.up()
    page.page.mouse.move(1, 890)
    assert numbers(page) == {"Gestern": "0.90"}  # it is pinned
    # another strength of the same words: still pinned; other words: not
    page.show(encoded(SOURCE, TARGET, [WordPair(0, 1, 0.3)]))
    assert numbers(page) == {"sah": "0.30"}
    page.show(encoded(SOURCE, ["Ja"], [WordPair(0, 0, 1.0)]))
    assert page.of_view("pinned") is None


def test_the_keyboard_walks_pins_and_tells(still) -> None:
    page = still(encoded(SOURCE, TARGET, PAIRS))
    live = page.page.locator("[aria-live]")
    page.press("ArrowDown", "End", "ArrowLeft")
    assert plain(live.inner_text()) == "“running”: “liefen” 0.50, “wie” < 0.01"
    page.press("ArrowDown", "Enter")
    assert plain(live.inner_text()) == "“liefen” pinned"
    assert page.of_view("pinned") == {"side": "target", "index": 6}
    page.press("ArrowRight")
    assert plain(live.inner_text()) == "“.”: no partner"
    page.press("Escape")
    assert (page.of_view("pinned"), page.of_view("at")) == (None, None)
    rows = page.page.locator(".hl-unseen table tbody tr")
    assert rows.nth(2).locator("td").all_text_contents() == ["I", "ich", "0.60"]
    assert rows.last.locator("td").all_text_contents() == [".", "", "no partner"]


def test_on_a_phone_forty_words_stand_side_by_side_and_a_tap_pins(still) -> None:
    pairs = [WordPair(n, n, 0.5) for n in range(40)]
    page = still(encoded(LONG, ["x" * 500, *LONG[1:], "שלום"], pairs), width=390)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.scroll.evaluate("e => e.scrollHeight <= e.clientHeight")  # nothing in a box
    drawn = {word["text"]: word for word in page.words()}
    assert {*LONG, "שלום"} <= set(drawn)
    assert all(0 <= word["x"] <= 390 for word in drawn.values())
    for _ in range(2):  # a tap pins, a second one lets go
        page.scroll.dispatch_event("pointerleave")
        x, y = middle(page, "source", 7)
        box = page.scroll.bounding_box()
        at = {"clientX": box["x"] + x, "clientY": box["y"] + y}
        page.scroll.dispatch_event("click", at)
        seen, pinned = numbers(page), page.of_view("pinned")
        if pinned:
            assert list(seen.values()) == ["0.50"]
    assert (pinned, seen) == (None, {})
    page.move(*middle(page, "target", 0))
    assert page.tip.inner_text() == "x" * 500  # it is cut on the canvas


def test_a_saved_drawing_holds_the_links_and_what_they_were_made_from(
    still, tmp_path: Path
) -> None:
    page = still(encoded(SOURCE, TARGET, PAIRS[3:4]), theme="dark")
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-word-links.svg"
    root = ET.parse(path).getroot()
    (link,) = root.iter(f"{SVG}path")
    assert link.get("stroke") == COLOR["cross"]
    ends = [float(n) for n in re.findall(r"-?[\d.]+", link.get("d", ""))]
    words = words_of(root)
    x_of = {word["text"]: word["x"] for word in words}
    dx = float(re.findall(r"-?[\d.]+", link.get("transform", "0"))[0])
    assert (ends[0] + dx, ends[-2] + dx) == pytest.approx((x_of["dogs"], x_of["Hunde"]), abs=0.1)
    said = " ".join(word["text"] for word in words)
    assert "layer 2, lens: norms" in said
    assert "By a model" in said
