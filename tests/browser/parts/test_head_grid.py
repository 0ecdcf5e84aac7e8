"""The grid of heads, alone: heads are found, picked and switched; tests/js holds its look."""

import numpy as np
import pytest

from tests.browser import app_page, spy
from tests.viz.planted_trace import heads_of
from transformer.analysis.heads.head import Head
from transformer.trace import Labels
from viz.draw import head_grid
from viz.draw.labels import SCREEN_NAMES

pytestmark = pytest.mark.browser

LAYERS, HEADS = 2, 4
SELECTED = Head("cross", 1, 2)
ROLE = "a role that is far too long for its map"


def grid(heads=HEADS, **options):
    """All three kinds; each row looks at its first key."""
    source = tuple(f"▁s{n}" for n in range(7))
    target = tuple(f"▁t{n}" for n in range(9))
    roles = [["", "<b>first</b>", ROLE, *[""] * (heads - 3)]] * LAYERS
    parts = []
    for kind, labels in zip(
        SCREEN_NAMES,
        (Labels(source, source), Labels(target, target), Labels(target, source)),
        strict=True,
    ):
        weights = np.zeros((LAYERS, heads, *map(len, labels)), np.float32)
        weights[..., 0] = 0.913
        values = np.arange(LAYERS * heads).reshape(LAYERS, heads) - 3.0
        parts.append(heads_of(kind, weights, labels, roles=roles, values=values))
    return head_grid.encode_grid(parts, **{"selected": SELECTED, **options})


def label(kind, layer, head):
    return f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}"


def cell(page, kind, layer, head):
    return page.page.get_by_role("gridcell", name=label(kind, layer, head), exact=True)


def focused(page):
    return page.page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_a_head_is_read_and_moves_under_its_focus(still):
    page = still(grid(caption=["“A dog barks.”", "lens: weights."]), width=460)
    chosen = page.page.locator("[role=gridcell][aria-selected=true]")
    assert chosen.get_attribute("aria-label") == label(*SELECTED)
    cell(page, "decoder_self", 1, 1).hover()
    assert page.tip.inner_text() == "L2 H2 · decoder · <b>first</b>2.00\n“A dog barks.”"
    assert spy.plain(cell(page, "cross", 0, 1).get_attribute("aria-description")) == (
        "<b>first</b>; −2.00; looks most from “t0” to “s0”, 0.91"
    )
    page.page.mouse.move(1, 899)
    app_page.expect(page.tip).to_be_hidden()
    # another order moves the maps under the same focus, and makes none anew
    cell(page, "encoder_self", 1, 1).focus()
    nodes = "[...document.querySelectorAll('[role=gridcell]')]"
    page.page.evaluate(f"() => {{ window.before = {nodes}; }}")
    page.show(grid(selected=Head("cross", 0, 0)))
    assert page.page.evaluate(f"{nodes}.every((node, n) => node === before[n])")
    order = [Head("cross", 1, 2), Head("encoder_self", 1, 1), Head("decoder_self", 0, 3)]
    page.show(grid(order=order))
    assert focused(page) == label("encoder_self", 1, 1)
    lefts = [cell(page, *head).bounding_box()["x"] for head in order]
    assert lefts == sorted(lefts)
    page.show(grid(order=order[1:]))
    assert chosen.count() == 0  # cross is not shown
    assert page.page.locator("[tabindex='0']").count() == 1


def test_keys_move_through_the_grid_and_switches_wait_for_no_answer(still):
    page = still(grid(), width=560)
    page.page.keyboard.press("Tab")
    assert focused(page) == label(*SELECTED)
    # two blocks of four heads stand side by side, the third below the first
    for press, head in [
        ("ArrowRight", ("cross", 1, 3)),
        ("ArrowRight", ("cross", 1, 3)),  # stays at the edge
        ("Home", ("cross", 1, 0)),
        ("ArrowUp", ("cross", 0, 0)),
        ("ArrowUp", ("encoder_self", 1, 0)),
        ("End", ("encoder_self", 1, 3)),
        ("ArrowRight", ("decoder_self", 1, 0)),
        ("ArrowLeft", ("encoder_self", 1, 3)),
        ("ArrowDown", ("cross", 0, 3)),
    ]:
        page.page.keyboard.press(press)
        assert focused(page) == label(*head), press
    assert page.picked() == []  # arrows look around, Enter and space choose
    for press in ("Enter", "ArrowLeft", "Space"):
        page.page.keyboard.press(press)
    assert page.picked() == [["cross", 0, 3], ["cross", 0, 2]]
    assert page.read_out() == f"{label('cross', 0, 2)} is open"
    page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("Tab")  # one stop for all maps
    assert focused(page) == "Save the picture"
    forms = page.page.locator(".hl-save button")
    app_page.expect(forms.first).to_be_hidden()
    for press in ("Enter", "Tab"):
        page.page.keyboard.press(press)
    assert focused(page) == "Save as PNG"
    assert forms.count() == 4
    page.page.keyboard.press("Escape")
    assert focused(page) == "Save the picture"
    for leave in (
        lambda: page.page.mouse.click(1, 1),
        lambda: page.page.keyboard.press("Shift+Tab"),
    ):
        page.page.keyboard.press("Enter")
        app_page.expect(forms.first).to_be_visible()
        leave()
        app_page.expect(forms.first).to_be_hidden()
        page.page.locator(".hl-save summary").focus()
    page.page.keyboard.press("Shift+Tab")
    assert focused(page) == label("cross", 0, 2)

    def off(*heads, answered=0):
        """The number of heads that are switched off once Python names these."""
        page.show(grid(switches=True, crossed=heads, answered=answered))
        return page.page.locator("[aria-label$='switched off']").count()

    first, second = Head("cross", 0, 1), Head("cross", 1, 0)
    assert off() == 0
    for head in (first, second):
        cell(page, *head).click()
    clicks = [number for *_, number in page.picked()[-2:]]
    assert off(first, answered=clicks[0]) == 2  # a late answer
    assert off(first, second, answered=clicks[1]) == 2
    assert off(first, answered=clicks[1]) == 1  # by a button beside the grid
    cell(page, *second).click()
    assert off(first) == 2  # the answer to neither of them
    assert off(first, answered=page.picked()[-1][-1]) == 1  # a button was quicker than the answer


def test_on_a_phone_many_heads_scroll_in_their_own_frame(still):
    page = still(grid(), width=358)
    assert ROLE not in page.texts()
    cell(page, "encoder_self", 0, 2).hover()
    assert ROLE in page.tip.inner_text()
    assert page.fits()
    page.show(grid(heads=128))
    assert page.fits()
    more = page.page.locator(".hl-more-right")
    more.wait_for()
    last = cell(page, "cross", 0, 127)
    last.click()
    assert page.picked() == [["cross", 0, 127]]
    box, tip = last.bounding_box(), page.tip.bounding_box()
    assert box["x"] + box["width"] <= 358
    assert 0 <= tip["x"] <= box["x"]
    assert tip["x"] + tip["width"] <= 358
    more.wait_for(state="detached")
