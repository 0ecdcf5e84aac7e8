"""The arrow keys in a narrow page: what they lead to is in the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser.still import Still
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import encode_map, encode_ribbons
from viz.draw.mask_grids import MaskGrid, encode_masks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

COUNT = 40
LONG = "Donaudampfschifffahrtsgesellschaft"


def labels(query: str = "w") -> Labels:
    keys = tuple(f"▁k{n}" for n in range(COUNT))
    return Labels(tuple(f"▁{query}{n}" for n in range(COUNT)), keys)


@pytest.fixture
def still(browser: Browser) -> Iterator[Callable[[bytes], Still]]:
    page = browser.new_page(offline=True)
    opened: list[Still] = []

    def open_page(content: bytes) -> Still:
        opened.append(Still(page, content, width=360))
        return opened[-1]

    yield open_page
    page.close()
    assert [fault for one in opened for fault in one.faults] == []


def window(page: Still) -> tuple[float, float]:
    """The left and the right edge of what is seen, in the picture."""
    left, width = page.scroll.evaluate("(node) => [node.scrollLeft, node.clientWidth]")
    return left, left + width


def test_the_other_side_of_wide_ribbons(still: Callable[[bytes], Still]) -> None:
    weights = np.eye(COUNT, dtype=np.float32)
    words = Labels(labels(LONG).queries, labels(LONG).queries)
    page = still(encode_ribbons([("L1 H1", weights)], words, "encoder_self", languages=OURS))
    plan = page.of_view("plan")
    assert plan["width"] > 500
    page.press("ArrowDown", "ArrowRight")
    assert window(page)[1] >= plan["width"]
    page.press("ArrowLeft")
    assert window(page)[0] == 0


def test_the_last_square_of_a_mask_and_back(still: Callable[[bytes], Still]) -> None:
    why = np.full((COUNT, COUNT), "seen")
    page = still(
        encode_masks(
            [MaskGrid("Sentence 1", why, labels())],
            "encoder_self",
            title="Masks",
            as_numbers=False,
            chosen=(0, 0),
        )
    )
    plan = page.of_view("plan")
    for way, keys in (("ArrowRight", range(COUNT)), ("ArrowLeft", range(COUNT - 2, -1, -1))):
        for key in keys:
            page.press(way)
            left, right = window(page)
            square = plan["left"] + key * plan["square"]
            assert left - 1 < square < right - plan["square"] + 1, key


def test_squares_beside_words_that_scroll_away(still: Callable[[bytes], Still]) -> None:
    weights = np.eye(COUNT, dtype=np.float32)
    page = still(encode_map(weights, labels(2 * LONG), "cross", title="L1 H1", languages=OURS))
    plan = page.of_view("plan")
    assert plan["left"] > 360  # the frame
    page.press("ArrowRight")
    for key in range(20):
        left, right = window(page)
        square = plan["left"] + key * plan["square"]
        assert left - 1 < square < right - plan["square"] + 1, key
        page.press("ArrowRight")
