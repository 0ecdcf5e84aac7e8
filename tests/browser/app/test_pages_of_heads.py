"""The pages of heads in a real browser: heads, inside a head, roles, and how heads form."""

import re

import pytest

from tests.browser import app_page, spy
from transformer import AttentionTrace
from transformer.files import installed
from viz.pages.training import runs

pytestmark = pytest.mark.browser


def test_the_grid_opens_heads_and_the_menus_follow_it(visit, translator):
    page = visit("heads", text=app_page.SENTENCE, kind="decoder", layer="2", head="2")
    trace = translator.trace(app_page.SENTENCE)
    labels = trace.labels("decoder_self")
    app_page.expect_map(page, "heads-map", trace.decoder_self[1, 1], labels)
    app_page.expect_grid(page, trace)
    page.get_by_role("gridcell", name="decoder, layer 1, head 4").click()
    app_page.expect_map(page, "heads-map", trace.decoder_self[0, 3], labels)
    # a row that is pinned stands in the link until another kind is open
    squares = page.locator(".st-key-heads-map .hl-scroll")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        squares.press(key)
    app_page.until(page, lambda: app_page.url(page).get("heads-map-row"), "3")
    # a map of another kind takes the menu of kinds with it
    page.get_by_role("gridcell", name="encoder, layer 2, head 1").click()
    app_page.expect_map(page, "heads-map", trace.encoder_self[1, 0], trace.labels("encoder_self"))
    app_page.until(page, lambda: app_page.url(page).get("heads-map-row"), None)
    assert map_table(page) == ("encoder_self", "light")
    assert page.get_by_role("radio", name="encoder").is_checked()
    # and the other way round: a menu moves the outline
    app_page.choose(page, "Head", "2")
    app_page.until(page, lambda: app_page.outlined(page), ["encoder, layer 2, head 2"])
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        app_page.until(page, lambda: map_table(page), ("encoder_self", theme))


def map_table(page):
    """The kind and the theme whose colours the large map has."""
    drawn = app_page.painted(page, "heads-map")
    return drawn["table"] if drawn else None


def test_heads_are_switched_and_squares_painted_by_pointer_and_keys(visit):
    page = visit("roles", text=app_page.SENTENCE, roles_view="Remove heads")
    removed = lambda: app_page.url(page).get("removed", "")  # noqa: E731
    page.get_by_role("gridcell", name="encoder, layer 1, head 2").click()
    off = page.get_by_role("gridcell", name="encoder, layer 1, head 2, switched off")
    off.wait_for()
    app_page.until(page, removed, "L1 H2 encoder")
    off.press("ArrowRight")
    page.get_by_role("gridcell", name="encoder, layer 1, head 3").press("Enter")
    app_page.until(page, removed, "L1 H2 encoder, L1 H3 encoder")
    page.get_by_text("2 of ").wait_for()
    off.press(" ")
    app_page.until(page, removed, "L1 H3 encoder")
    app_page.at_rest(page)
    page.go_back()
    app_page.until(page, removed, "L1 H2 encoder, L1 H3 encoder")
    off.wait_for()  # though the state is that of a click before the last

    # squares of a row are painted by keys, and by dragging in one step
    chosen = {"removed_how": "painted", "kind": "encoder", "layer": "1", "head": "1"}
    page = visit("roles", text=app_page.SENTENCE, roles_view="Remove heads", **chosen)
    squares = page.locator(".st-key-roles-map .hl-scroll")
    squares.wait_for()
    for _ in range(2):  # from the row's word to its first square, and on
        squares.press("ArrowRight")
    squares.press("Enter")
    app_page.until(page, lambda: removed()[:5] + removed()[-4:], "L1 H1 1-2")
    app_page.at_rest(page)
    squares.scroll_into_view_if_needed()
    canvas = squares.locator("canvas")
    box = canvas.bounding_box()
    first, third = (spy.middle_of(canvas, *square) for square in ((2, 0), (-1, 2)))
    page.mouse.move(box["x"] + first["x"], box["y"] + first["y"])
    page.mouse.down()
    page.mouse.move(box["x"] + third["x"], box["y"] + third["y"])  # a hand that leaves the map
    assert removed().endswith(" 1-2")  # nothing is told before it is let go
    page.mouse.up()
    app_page.until(page, lambda: removed()[-12:], " 1-2 3-1.2.3")
    app_page.at_rest(page)
    page.go_back()
    app_page.until(page, lambda: removed()[-4:], " 1-2")


def test_a_run_plays_by_itself_and_is_scrubbed_by_keyboard(shared, visit):
    probes = runs.find(installed.FORMING)[0]
    steps, last = list(probes), AttentionTrace.load(probes[5000])
    shared.emulate_media(reduced_motion="no-preference")
    page = visit("training")
    player = page.locator(".st-key-forming-player")
    says, slider = player.locator(".hl-player-says"), player.get_by_role("slider")
    at = lambda: player.locator(".hl-player-count").inner_text()  # noqa: E731
    player.get_by_role("button", name="Pause").wait_for()  # by itself
    shown = at()
    app_page.until(page, lambda: at() != shown, True)
    slider.press("End")
    app_page.until(page, at, f"step {steps[-1]:,}")
    player.get_by_role("button", name="Play").wait_for()
    assert written(says) == last.target
    page.emulate_media(reduced_motion="reduce")
    slider.press("Home")
    for step in steps[1:3]:
        slider.press("ArrowRight")
        assert at() == f"step {step:,}"
    slider.press("Home")
    first = written(says)
    app_page.expect_url(page, trained="1", kind="cross-attention")  # once the reader rests
    player.get_by_label("decoder", exact=True).check()
    tiles = player.get_by_role("application")
    for key in ("Home", "ArrowDown", "ArrowRight", "Enter"):
        tiles.press(key)
    app_page.expect_url(page, trained="1", kind="decoder", forming_layer="2")
    open_ = {name: app_page.url(page)[name] for name in ("forming_layer", "forming_head")}
    page.reload()  # as whoever gets the link
    player.get_by_label("decoder", exact=True).wait_for()
    assert player.get_by_label("decoder", exact=True).is_checked()
    assert (at(), written(says)) == ("step 1", first)
    player.get_by_role("button", name="Play").wait_for()
    app_page.expect_url(page, **open_)


def written(says):
    """Return what the model writes, by the sentence of the player."""
    return re.sub(r"After [\d,]+ steps? the model writes |[“”]", "", spy.plain(says.inner_text()))


def test_tab_goes_through_the_navigation_as_it_is_seen(visit):
    page = visit("schedule")
    page.get_by_test_id("stTopNavLink").first.focus()
    names = []
    for _ in range(4):
        names.append(page.evaluate("document.activeElement.innerText.split('\\n')[0]"))
        page.keyboard.press("Tab")
    assert names == ["Translate", "Heads", "The paper", "Training"]
