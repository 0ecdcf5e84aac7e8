"""The tree of a search: can a reader find, walk and pick every prefix?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.still import PAPER, SVG, Still, plain, rgb, words_of
from transformer.text.languages import OURS
from viz.draw.beam_tree import DrawnNode, State, encode_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def tree(*rows: tuple[int | None, str, float, State]) -> list[DrawnNode]:
    """Nodes of parent, piece, log P of the piece and state; what is finished has a score."""
    nodes: list[DrawnNode] = []
    for parent, text, log_prob, state in rows:
        before = None if parent is None else nodes[parent]
        total = log_prob + (before.total if before else 0)
        step = before.step + 1 if before else 1
        reason = "Two other candidates are more probable." if state == "dropped" else ""
        score = total / 2 if state == "finished" else None
        nodes.append(DrawnNode(parent, text, log_prob, total, step, state, reason, score))
    return nodes


SMALL = tree(
    (None, "▁Hunde", -0.25, "kept"),
    (None, "▁שלום", -1.5, "kept"),
    (None, "▁<b>", -4.0, "dropped"),
    (0, "▁rennen", -0.5, "kept"),
    (0, "▁laufen", -1.0, "kept"),
    (3, "</s>", -0.25, "finished"),
    (4, "</s>", -0.25, "finished"),
)
BEST = 5


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(offline=True)
    yield page
    page.close()


@pytest.fixture
def still(page: Page) -> Iterator[Callable[..., Still]]:
    opened: list[Still] = []

    def open_page(nodes: list[DrawnNode], best: int = BEST, **options: Any) -> Still:
        content = encode_tree(nodes, best=best, caption=["By a model."], languages=OURS)
        opened.append(Still(page, content, **options))
        hear(opened[-1])
        return opened[-1]

    yield open_page
    assert [fault for one in opened for fault in one.faults] == []


def hear(page: Still) -> None:
    """Let the page keep what the component tells its host."""
    page.page.evaluate(
        "() => { window.picked ??= [];"
        " view.options = { onSelect: ({ node }) => picked.push(node) }; }"
    )


def picked(page: Still) -> list[int]:
    found: list[int] = page.page.evaluate("() => window.picked")
    return found


def middle(page: Still, node: int) -> tuple[float, float]:
    place = page.of_view(f"plan.places[{node}]")
    return place["x"] + place["width"] / 2, place["y"] + 9


def click(page: Still, node: int) -> None:
    page.move(*middle(page, node))
    page.page.mouse.down()
    page.page.mouse.up()


def test_a_piece_tells_its_numbers_when_pointed_at_and_is_picked_by_a_click(still) -> None:
    page = still(SMALL)
    drawn = [word["text"] for word in page.words()]
    assert {"Hunde", "שלום", "rennen", "laufen", "−0.50", "−0.75"} <= set(drawn)
    assert "<b>" not in drawn
    page.move(*middle(page, 4))
    assert plain(page.tip.inner_text()).split("\n") == [
        "“laufen”0.368",
        "“Hunde laufen”",
        "log P of the prefix −1.25",
        "Kept at step 2, rank 2 of 2.",
    ]
    # the path is lit: the ground of the piece, and its way from the start
    x, y = middle(page, 4)
    assert page.color(x, y - 8) != rgb(PAPER["light"])
    click(page, 4)
    click(page, 1)
    assert picked(page) == [4, 1]
    page.page.mouse.move(1, 890)
    assert page.tip.is_hidden()
    page.move(400, 100)  # beside the tree
    page.page.mouse.down()
    page.page.mouse.up()
    assert picked(page) == [4, 1]


def test_what_was_dropped_comes_and_goes_without_a_word_to_the_host(still) -> None:
    page = still(SMALL)
    page.page.get_by_label("show 1 dropped candidate").check()
    assert "<b>" in [word["text"] for word in page.words()]
    page.move(*middle(page, 2))
    assert plain(page.tip.inner_text()).endswith(
        "Dropped at step 1, rank 3 of 3. Two other candidates are more probable."
    )
    # other data of the same search: it stays
    page.show(encode_tree(SMALL, best=BEST, languages=OURS))
    assert "<b>" in [word["text"] for word in page.words()]
    page.page.get_by_label("show 1 dropped candidate").uncheck()
    assert "<b>" not in [word["text"] for word in page.words()]
    assert picked(page) == []


def test_the_keyboard_walks_forces_and_stays_where_it_was_in_the_new_tree(still) -> None:
    parted: list[tuple[int | None, str, float, State]] = [
        (0, f"▁{n}", -5.0, "kept") for n in range(3)
    ]
    page = still([*SMALL, *tree((None, "▁Hunde", -0.25, "kept"), *parted)[1:]])
    live = page.page.locator("[aria-live]")
    page.press("ArrowRight", "ArrowRight", "ArrowDown")
    assert plain(live.inner_text()).startswith("“laufen” 0.368. “Hunde laufen”. log P of")
    page.press("Enter")
    assert picked(page) == [4]
    assert plain(live.inner_text()) == "“Hunde laufen” is forced"
    room = page.scroll.bounding_box()["height"]
    page.show(
        encode_tree(
            tree(
                (None, "▁Hunde", -0.25, "forced"),
                (0, "▁laufen", -1.0, "forced"),
                (1, "</s>", -0.25, "finished"),
            ),
            best=2,
            languages=OURS,
        )
    )
    assert page.of_view("at") == {"node": 1}
    assert page.scroll.bounding_box()["height"] == room  # what stands below does not move
    hear(page)
    page.press("ArrowRight", "Enter")
    assert picked(page) == [4, 2]
    rows = page.page.locator(".hl-unseen table tbody tr")
    assert rows.locator("td").all_text_contents() == ["Hunde laufen", "−0.75", "−1.5", "3"]


def test_on_a_phone_the_tree_scrolls_and_the_page_does_not(still) -> None:
    parents: list[int | None] = [None, *range(29)]
    long = tree(*((parent, f"▁Wort{parent}", -0.1, "kept") for parent in parents))
    page = still(long, 29, width=390, theme="dark")
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    seen = {word["text"] for word in page.words()}
    assert "WortNone" in seen
    assert "Wort28" not in seen
    page.press("ArrowRight", "End")
    drawn = {word["text"]: word for word in page.words()}
    assert 0 <= drawn["Wort28"]["start"][0] < drawn["Wort28"]["end"][0] <= 390
    assert drawn["Wort28"]["size"] >= 11


def test_a_saved_drawing_holds_the_tree_and_what_it_was_made_from(still, tmp_path: Path) -> None:
    page = still(SMALL, width=390)
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-beam-tree.svg"
    root = ET.parse(path).getroot()
    words = words_of(root)
    said = [word["text"] for word in words]
    assert {"Hunde", "laufen", "שלום", "−0.50", "By a model."} <= set(said)
    assert "<b>" not in said
    x_of = {word["text"]: word["x"] for word in words}
    assert x_of["laufen"] == x_of["rennen"] > x_of["Hunde"]
    assert len(list(root.iter(f"{SVG}path"))) >= 6
