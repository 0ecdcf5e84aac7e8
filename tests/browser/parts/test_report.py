"""The saved page and the notebook's frame in a real Chromium, without a network.

Each head looks at one known cell, which is read back where it is drawn.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from tests.browser import app_page, offline, spy
from tests.viz.planted_trace import EVIL, HEADS, LAYERS, planted_at
from tests.viz.planted_trace import planted as planted_trace
from transformer import KINDS, AttentionTrace
from transformer.analysis.axes import by_pieces, without_special
from viz.draw import explorer, heads_view
from viz.draw.labels import SCREEN_NAMES, display_tokens
from viz.notebook import explore, show_chart
from viz.report import report

pytestmark = pytest.mark.browser

SOURCE = ("[CLS]", "un", "##do", "it", "now", "[SEP]")
TARGET = ("<s>", "▁Mach", "▁es", "▁rück", "gängig")
HOT = 0.8762


@pytest.fixture(scope="module")
def tab(browser):
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def saved(tab, tmp_path):
    """Open a page from its text; at the end nothing has failed or asked for the network."""
    opened: list[Any] = []

    def open_page(text, **options):
        if opened:
            opened[-1].close()
        path = tmp_path / f"page_{len(opened)}.html"
        opened.append(offline.Saved(tab, path, text, **options))
        return opened[-1]

    yield open_page
    opened[-1].close()


@pytest.fixture
def apart(monkeypatch):
    """The heads of a page lie apart, and not in its one message."""
    monkeypatch.setattr(explorer, "WHOLE_BYTES", 0)


def check_head(page, trace, kind, layer, head):
    """A head lights up in its one cell, under the right words."""
    labels = [display_tokens(axis) for axis in trace.labels(kind)]
    query, key = planted_at(trace, kind, layer, head)
    weights = trace.weights(kind)[layer, head]
    words = f"“{labels[0][query]}” to “{labels[1][key]}”"
    assert words in page.described(kind, layer, head)
    page.select(kind, layer, head)
    name = f"L{layer + 1} H{head + 1}"
    assert page.title.inner_text().startswith(f"{name} · {SCREEN_NAMES[kind]}")
    assert page.heads() == [name]
    painted = page.painted()
    assert [painted["queries"], painted["keys"]] == labels
    assert painted["table"] == (kind, "light")
    assert (painted["levels"] == spy.level_of(weights)).all()
    note = f"“{labels[0][query]}” → “{labels[1][key]}”{weights[query, key]:.3f}"
    assert page.readout(query, key).startswith(note)


def test_heads_of_a_report_light_up_under_their_words(saved):
    trace = planted_trace()
    page = saved(report(trace, theme="light"))
    for place, kind in enumerate(KINDS):
        check_head(page, trace, kind, place % LAYERS, HEADS - 1 - place)
    page.cell("cross", 0, 0).focus()
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("Enter")
    assert page.title.inner_text().startswith("L1 H2 · cross")
    for width in (390, 1440):
        page.page.set_viewport_size({"width": width, "height": 800})
        # the explorer follows the new width in a later frame; the page forbids eval, by which
        # wait_for_function would look again
        app_page.expect(page.page.locator("html")).to_have_js_property("scrollWidth", width)


def check_open(page, kind, layer, head):
    """This head is open, in sight, and outlined in the grid."""
    name = f"L{layer + 1} H{head + 1}"
    page.root.get_by_role("heading", name=f"{name} · {SCREEN_NAMES[kind]}").wait_for()
    app_page.expect(page.cell(kind, layer, head)).to_have_attribute("aria-selected", "true")
    app_page.expect(page.title).to_be_in_viewport()
    assert page.heads() == [name]


def test_a_finding_opens_its_head_by_a_click_and_by_a_key(saved):
    trace = planted_trace()
    trace.decoder_self[:] /= trace.decoder_self.sum(-1, keepdims=True)
    page = saved(report(trace))
    page.page.set_viewport_size({"width": 390, "height": 844})
    findings = page.root.locator("header").get_by_role("button")
    findings.nth(0).click()
    check_open(page, "cross", 1, 1)
    page.select("decoder_self", 1, 1)
    check_open(page, "decoder_self", 1, 1)
    findings.nth(0).press("Enter")
    check_open(page, "cross", 1, 1)


# the frame of a notebook holds the very text of a report: tests/viz/test_notebook.py
def test_frames_of_a_notebook_know_nothing_of_each_other(tab, saved, tmp_path):
    trace = planted_trace()
    frame = f"<!doctype html><h1>Notebook</h1>{explore(trace)._repr_html_()}"
    page = saved(frame, frame=True)
    square = page.painted()["origin"]["square"]
    check_head(page, trace, "cross", 1, 1)
    check_head(page, trace, "cross", 0, 1)
    assert page.painted()["origin"]["square"] == square  # all maps are of one size

    crossed = AttentionTrace.from_arrays(
        cross=planted((2, 3), 5, 6)[0], source_tokens=SOURCE, decoder_tokens=TARGET
    )
    frames = [
        explore(encoder_of()[0], selected=("encoder_self", 1, 0), layers=(1,)),
        explore(crossed, theme="light"),
    ]
    path = tmp_path / "notebook.html"
    outputs = "".join(frame._repr_html_() for frame in frames)
    path.write_text(f"<!doctype html><body style='background:#111'>{outputs}", "utf-8")
    page.close()
    tab.set_viewport_size({"width": 1200, "height": 900})
    tab.goto(path.as_uri())
    first, second = (tab.frame_locator("iframe").nth(n) for n in range(2))
    second.get_by_role("gridcell", name="cross-attention, layer 2, head 3").click()
    second.get_by_role("heading", name="L2 H3 · cross-attention").wait_for()
    assert first.locator(".hl-explorer-open h3").inner_text().startswith("L2 H1 · encoder")
    menus = [frame.get_by_label("Overlay another head") for frame in (first, second)]
    assert [menu.is_visible() for menu in menus] == [False, True]  # the first has but one head
    papers = [
        frame.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")
        for frame in (first, second)
    ]
    assert papers == ["rgb(19, 20, 21)", "rgb(252, 252, 251)"]  # the notebook's; the one asked for
    for number, frame in enumerate((first, second)):  # as high as what is in it
        high = tab.locator("iframe").nth(number).bounding_box()["height"]
        assert abs(high - 4 - frame.locator("body").evaluate("(b) => b.scrollHeight")) <= 1
    # the notebook turns light, and the frame that follows it does
    tab.evaluate("document.body.style.background = '#fff'")
    first.locator("html[data-theme=light]").wait_for()


def test_a_page_opens_at_its_options_and_a_word_that_would_close_a_script_is_a_word(saved):
    trace = planted_trace(evil=True)
    options = heads_view.ExplorerOptions("decoder_self", 1, 2, special=False)
    page = saved(report(trace, options, title=EVIL, theme="dark"))
    assert page.page.title() == EVIL
    assert page.page.locator("img").count() == 0
    axes, _ = without_special(by_pieces(trace, "decoder_self"))
    assert page.title.inner_text().startswith("L2 H3 · decoder")
    painted = page.painted()
    assert painted["queries"] == display_tokens(axes.labels.queries)
    assert painted["table"] == ("decoder_self", "dark")
    assert (painted["levels"] == spy.level_of(axes.weights[1, 2])).all()
    assert EVIL in painted["keys"]
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.page.evaluate(paper) == "rgb(19, 20, 21)"


def test_a_chart_of_a_notebook_needs_no_network(browser, tmp_path):
    chart = alt.Chart(pd.DataFrame({"token": [EVIL, "dogs"]})).mark_bar().encode(x="token:N")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html>{show_chart(chart.to_dict())[0]['text/html']}", "utf-8")
    page = browser.new_page(offline=True)
    asked, faults = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda fault: faults.append(fault))
    page.goto(path.as_uri())
    page.frame_locator("iframe").locator("#chart .marks").first.wait_for(timeout=8000)
    assert page.locator("iframe").bounding_box()["height"] < 400  # as high as the chart
    assert set(asked) <= {path.as_uri(), "about:srcdoc"}
    assert faults == []
    page.close()


def planted(counts, rows, keys, *, causal=False):
    """Layers of so many heads, each on one cell; and its layer, head, query, key and weight."""
    layers, places = [], []
    for layer, heads in enumerate(counts):
        weights = np.full((heads, rows, keys), 0.001, np.float32)
        if causal:
            weights = np.tril(weights)
        for head in range(heads):
            number = sum(counts[:layer]) + head
            query = (2 * number + 1) % rows
            key = (3 * number + 2) % (query + 1 if causal else keys)
            weights[head, query, key] = HOT - number / 1000
            places.append((layer, head, query, key, weights[head, query, key]))
        layers.append(weights)
    return layers, places


def encoder_of(counts=(3, 1, 2), tokens=SOURCE, **options):
    layers, places = planted(counts, len(tokens), len(tokens))
    return AttentionTrace.from_arrays(
        encoder_self=layers, source_tokens=tokens, normalized=False, **options
    ), places


def test_a_decoder_alone_says_what_is_hidden(saved):
    layers, places = planted((2, 2), 5, 5, causal=True)
    page = saved(report(AttentionTrace.from_arrays(decoder_self=layers, decoder_tokens=TARGET)))
    assert page.cells.count() == len(places)
    text = page.page.locator("body").inner_text()
    assert "og probability" not in text
    assert "English" not in text
    assert page.readout(0, 4) == "“start” → “·gängig”hidden, it comes later"


@pytest.mark.usefixtures("apart")
def test_heads_are_laid_over_the_open_one(saved):
    trace, _ = encoder_of()
    page = saved(explore(trace, selected=("encoder_self", 0, 0), over=[(2, 1)]).page)
    switches = page.root.locator(".hl-switches input")
    switches.nth(1).wait_for()
    assert page.heads() == ["L1 H1", "L3 H2"]
    menu = page.root.get_by_label("Overlay another head")
    assert menu.locator("option").all_inner_texts() == ["L1 H2", "L1 H3", "L2 H1", "L3 H1"]
    menu.select_option("L2 H1")
    add = page.root.get_by_role("button", name="Add")
    # before the first is unpacked; the next one of the menu is chosen
    add.evaluate("(button) => { button.click(); button.click(); }")
    switches.nth(3).wait_for()
    assert page.heads() == ["L1 H1", "L3 H2", "L2 H1", "L3 H1"]
    page.select("encoder_self", 1, 0)  # what lies over stays, and is not drawn twice
    page.root.get_by_role("heading", name="L2 H1").wait_for()
    assert page.heads() == ["L2 H1", "L3 H2", "L3 H1"]
    page.root.get_by_role("button", name="Remove all").click()
    switches.first.wait_for(state="detached")
    assert page.heads() == ["L2 H1"]
    # the focus stays in the menu
    page = saved(report(encoder_of((6, 4))[0], heads_view.ExplorerOptions()))
    switches, menu, add = (
        page.root.locator(".hl-switches input"),
        page.root.get_by_label("Overlay another head"),
        page.root.get_by_role("button", name="Add"),
    )
    assert menu.input_value() == "0.1"  # the first that is not open
    add.focus()
    for _ in range(9):
        page.page.keyboard.press("Enter")
    switches.nth(7).wait_for()
    assert switches.count() == 8
    assert page.heads() == [*(f"L1 H{head}" for head in range(1, 7)), "L2 H1", "L2 H2"]
    assert add.evaluate("button => button === document.activeElement")
    assert add.get_attribute("aria-disabled") == "true"
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    switches.first.wait_for(state="detached")
    assert menu.evaluate("menu => menu === document.activeElement")
    assert add.get_attribute("aria-disabled") == "false"


@pytest.mark.usefixtures("apart")
def test_a_head_that_the_page_lost_is_said_and_the_others_open(saved):
    trace, _ = encoder_of()
    text = report(trace, heads_view.ExplorerOptions())
    page = saved(text.replace('id="encoder_self.2.1"', 'id="gone"'))
    page.cell("encoder_self", 2, 1).click()
    problem = page.root.get_by_role("alert")
    problem.wait_for()
    assert "The weights of L3 H2 cannot be read" in problem.inner_text()
    assert page.title.inner_text().startswith("L1 H1")
    page.select("encoder_self", 2, 0)
    page.root.get_by_role("heading", name="L3 H1").wait_for()
    assert not problem.is_visible()


def test_the_ribbons_of_a_long_text_are_drawn_when_they_are_in_sight(saved):
    trace, _ = encoder_of((2,), [f"▁t{n}" for n in range(150)])
    page = saved(report(trace))
    page.page.set_viewport_size({"width": 1440, "height": 700})
    page.select("encoder_self", 0, 1)
    page.root.get_by_role("heading", name="L1 H2").wait_for()
    ribbons = page.root.get_by_role("application", name="Ribbons of")
    waiting = page.root.get_by_text("The ribbons are drawn in sight only.")
    assert (ribbons.count(), waiting.count()) == (0, 1)
    waiting.scroll_into_view_if_needed()
    ribbons.wait_for()
    assert page.heads() == ["L1 H2"]
    assert "blocks of 2 × 2 tokens" in page.root.locator(".hl-explorer-grid").inner_text()


def test_a_frame_whose_script_may_not_run_says_so(browser, refusals):
    body = f"<!doctype html><meta charset=utf-8>{explore(planted_trace())._repr_html_()}"
    page = browser.new_page()
    policies = ["script-src 'self'", "script-src 'unsafe-inline'"]

    def answer(route):
        policy = policies[int(route.request.url[-1])]
        headers = {"Content-Security-Policy": policy, "Content-Type": "text/html"}
        route.fulfill(body=body, headers=headers)

    page.route("http://notebook.test/*", answer)
    frame = page.frame_locator("iframe")
    page.goto("http://notebook.test/0")
    app_page.expect(frame.locator("#unscripted")).to_be_visible()
    assert frame.locator(".hl").count() == 0
    refusals.clear()  # what this is about
    page.goto("http://notebook.test/1")
    app_page.expect(frame.locator(".hl").first).to_be_visible()
    app_page.expect(frame.locator("#unscripted")).to_have_count(0)
    page.close()
