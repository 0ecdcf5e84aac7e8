"""The large map in a real browser: is what is on screen what Python had, under the right words?"""

import re

import numpy as np
import pytest

from tests.browser.map_page import (
    ENGLISH,
    GERMAN,
    HEADS,
    LABELS,
    READ,
    bare_map,
    ink,
    new_maps,
    odd,
    planted,
    planted_at,
)
from tests.browser.spy import level_of
from viz.draw.labels import display_tokens
from viz.draw.palette import table

__all__ = ["bare_map", "new_maps"]  # fixtures: used by name
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("kind", list(LABELS))
def test_a_planted_weight_is_drawn_under_its_words(new_maps, bare_map, kind):
    labels = LABELS[kind]
    maps = new_maps() if kind == "cross" else bare_map(labels, kind)
    query, key = planted_at(1 * HEADS + 2, labels, kind)
    words = display_tokens(labels.queries)[query], display_tokens(labels.keys)[key]
    weights = planted(labels, kind)

    painted = maps.painted()
    assert (painted["levels"] == level_of(weights[1, 2])).all()
    assert painted["table"] == (kind, "light")
    assert (painted["queries"], painted["keys"]) == (
        display_tokens(labels.queries),
        display_tokens(labels.keys),
    )

    # from the pixels: of all squares the planted one has the deepest colour, and the right one
    colors = maps.colors(list(np.ndindex(len(labels.queries), len(labels.keys))))
    deepest = min(colors, key=lambda at: (-colors[at][3], sum(colors[at])))
    assert deepest == (query, key)
    assert colors[deepest] == ink(kind, "light")
    # and the words that stand at its row and over its column are its own
    assert maps.words_at(*deepest) == words
    maps.hover(*deepest)
    assert (
        maps.tip.inner_text()
        .replace("\u2068", "")
        .replace("\u2069", "")
        .startswith(f"“{words[0]}” → “{words[1]}”")
    )
    assert "0.913" in maps.tip.inner_text()


def bold(maps):
    """The words in bold, row's first."""
    return sorted((word["text"] for word in maps.words() if word["bold"]), key=SORTED.index)


def said_by(maps):
    return maps.page.locator("[aria-live=polite].hl-unseen").inner_text()


SORTED = [*display_tokens(GERMAN), *display_tokens(ENGLISH)]


def test_the_readout_needs_no_server(new_maps):
    maps = new_maps()
    query, key = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")
    sent, runs = len(maps.frames), maps.runs()
    maps.hover(0, 0)
    maps.hover(query, key)
    text = maps.tip.inner_text()
    assert "0.913" in text
    assert READ[query].removeprefix("▁") in text  # what the decoder had read there
    assert bold(maps) == [display_tokens(GERMAN)[query]] * 2 + [display_tokens(ENGLISH)[key]]
    maps.page.mouse.down()
    maps.page.mouse.up()
    maps.page.mouse.move(5, 5)
    assert maps.tip.is_hidden()
    assert bold(maps) == [display_tokens(GERMAN)[query]] * 2  # the row and its bars

    maps.map.focus()
    for press in ("Escape", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft"):
        maps.page.keyboard.press(press)
    assert bold(maps) == ["schwarze", "schwarze", "black"]  # nothing else is kept
    said = said_by(maps)
    weight = planted(LABELS["cross"], "cross")[1, 2, 1, 1]
    assert re.sub("[\u2068\u2069]", "", said) == f"“schwarze” → “black” {weight:.3f}"
    maps.page.keyboard.press("Enter")
    maps.page.mouse.move(5, 5)
    assert re.sub("[\u2068\u2069]", "", said_by(maps)) == "row “schwarze” kept"
    assert bold(maps)[:1] == ["schwarze"]
    maps.page.wait_for_timeout(300)
    assert len(maps.frames) == sent
    assert maps.runs() == runs


def test_a_pinned_row_shows_its_weights_as_numbers(bare_map):
    maps = bare_map(LABELS["cross"])
    query, key = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")
    maps.hover(query, key)
    maps.page.mouse.down()
    maps.page.mouse.up()
    words = maps.words()
    (number,) = [word for word in words if word["text"] == "0.91"]
    assert abs(number["x"] - maps.center(query, key)[0]) < 1  # over its key
    assert (
        sum(word["text"] == display_tokens(GERMAN)[query] for word in words) == 2
    )  # its row and the bars


def test_the_text_alternative_names_each_rows_strongest_key(bare_map):
    maps = bare_map(LABELS["encoder_self"], "encoder_self")
    query, key = planted_at(1 * HEADS + 2, LABELS["encoder_self"], "encoder_self")
    rows = maps.page.locator(".hl-unseen table tbody tr")
    assert rows.count() == len(ENGLISH)
    words = rows.nth(query).locator("td").all_inner_texts()
    assert words == [display_tokens(ENGLISH)[query], display_tokens(ENGLISH)[key], "0.913"]
    heading = maps.page.locator(".hl-unseen table th").all_inner_texts()
    assert heading[:2] == ["English: the position that looks", "English: where it looks"]


@pytest.mark.parametrize(
    "tokens",
    [
        ("<img src=x onerror=window.taken=1>", "<b>fett</b>", "שלום", "👩‍🚀🇩🇪", "&amp;"),
        ("Donau" * 10, "dampf"),  # longer than the screen is wide
    ],
    ids=["markup", "long"],
)
def test_any_token_is_shown_as_text_and_breaks_nothing(bare_map, tokens):
    maps = bare_map(odd(tokens), viewport={"width": 390, "height": 800})
    words = maps.words()
    # whole, once for its row and once for its column; a column out of sight is not drawn
    texts = [word["text"] for word in words]
    assert set(tokens) <= set(texts)
    assert texts.count(tokens[0]) == 2
    room = maps.map.evaluate("(node) => node.scrollWidth")
    for x, y in [end for word in words for end in (word["start"], word["end"])]:
        assert 0 <= x <= room  # with room for all of it
        assert y >= 0
    maps.map.focus()
    for number, token in enumerate(tokens):
        if number:
            maps.page.keyboard.press("ArrowDown")
        maps.page.keyboard.press("ArrowRight")
        said = maps.tip.inner_text()
        assert re.sub("[\u2068\u2069]", "", said).startswith(f"“{token}” → “{token}”")
        # the page does not grow sideways; the map scrolls in its frame if it must
        box, tip = maps.map.bounding_box(), maps.tip.bounding_box()
        assert max(box["x"] + box["width"], tip["x"] + tip["width"]) <= 390
        assert min(box["x"], tip["x"]) >= 0
    assert maps.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert maps.page.evaluate("() => window.taken") is None
    elements = "(node) => node.closest('.hl').querySelectorAll('img, b, script').length"
    assert maps.map.evaluate(elements) == 0


def test_a_map_of_many_words_scrolls_and_its_words_stay_with_their_squares(bare_map):
    tokens = [f"w{number}" for number in range(60)]
    maps = bare_map(odd(tokens), viewport={"width": 390, "height": 800})
    assert {word["size"] for word in maps.words()} == {10}
    maps.map.focus()
    for press in ("ArrowRight", "End"):
        maps.page.keyboard.press(press)
    frame = maps.map.bounding_box()
    assert 0 < maps.center(0, 61)[0] < frame["width"]  # the cursor is never out of sight
    maps.map.evaluate("(node) => { node.scrollTop = 1e6; }")
    maps.settle()
    assert 0 < maps.center(60, 61)[1] < frame["height"]
    assert maps.words_at(60, 61) == ("</s>", "</s>")
    assert maps.words_at(41, 45) == ("w41", "w45")
    color = maps.color(41, 45)
    weight = planted(odd(tokens), "cross")[1, 2, 41, 45]
    assert color == (*table("cross", "light")[round(255 * weight)].tolist(), 255)


def test_a_map_fades_on_the_sides_where_there_is_more_of_it(bare_map):
    def fades(maps) -> list[bool]:
        maps.settle()
        return maps.map.evaluate("""(node) => ["::after", "::before"].map(
            (side) => getComputedStyle(node.parentElement, side).content === '""')""")

    maps = bare_map(
        odd([f"w{number}" for number in range(60)]), viewport={"width": 390, "height": 800}
    )
    assert fades(maps) == [True, True]
    maps.map.evaluate("(node) => { node.scrollLeft = 1e6; }")
    assert fades(maps) == [False, True]
    maps.map.evaluate("(node) => { node.scrollTop = 1e6; }")
    assert fades(maps) == [False, False]
    assert fades(bare_map(LABELS["cross"])) == [False, False]


def test_dark_and_light_and_the_change_between_them(new_maps):
    maps = new_maps(color_scheme="dark")
    spot = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")

    def shows(theme):
        assert maps.painted()["table"] == ("cross", theme)
        assert maps.color(*spot) == ink("cross", theme)

    shows("dark")
    runs = maps.runs()
    maps.page.emulate_media(color_scheme="light")
    while maps.painted()["table"] != ("cross", "light"):  # within the test's own time
        maps.page.wait_for_timeout(50)
    shows("light")
    assert maps.runs() == runs


def test_a_saved_page_draws_the_same_map_with_no_server_at_all(bare_map):
    maps = bare_map(LABELS["cross"])
    spot = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")
    assert maps.color(*spot) == ink("cross", "light")
    maps.hover(*spot)
    assert "0.913" in maps.tip.inner_text()
