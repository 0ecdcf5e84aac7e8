"""The explorer on traces that are none of our own: each planted weight stands under its tokens."""

import numpy as np
import pytest

from tests.browser.report_page import Opened
from tests.browser.spy import plain
from transformer import AttentionTrace
from transformer.text.languages import OURS
from viz.draw import explorer
from viz.draw.heads_view import ExplorerOptions, SecondMap
from viz.draw.open_head import heads_of_kind, open_map
from viz.notebook import explore
from viz.report import report

pytestmark = pytest.mark.browser

SOURCE = ("[CLS]", "un", "##do", "it", "now", "[SEP]")
TARGET = ("<s>", "▁Mach", "▁es", "▁rück", "gängig")
PIECES = {"un": "un", "##do": "·do", "▁rück": "rück", "gängig": "·gängig"}
HOT = 0.8762


def planted(counts, rows, keys, *, causal=False):
    """Layers of so many heads; each looks at one cell, with a weight of its own.

    Returns:
        The layers, and for each head its layer, head, query, key and weight.
    """
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


def encoder_alone():
    layers, places = planted((3, 1, 2), 6, 6)
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=SOURCE)
    return trace, "encoder_self", SOURCE, SOURCE, places


def decoder_alone():
    layers, places = planted((2, 2), 5, 5, causal=True)
    trace = AttentionTrace.from_arrays(decoder_self=layers, decoder_tokens=TARGET)
    return trace, "decoder_self", TARGET, TARGET, places


def cross_alone():
    layers, places = planted((2, 3), 5, 6)
    trace = AttentionTrace.from_arrays(cross=layers, source_tokens=SOURCE, decoder_tokens=TARGET)
    return trace, "cross", TARGET, SOURCE, places


def shown(tokens):
    return [PIECES.get(token, token.strip("▁")) for token in tokens]


def check_planted(page, kind, queries, keys, places):
    """Every head that is there, and no other, has its weight where it was planted."""
    queries, keys = shown(queries), shown(keys)
    assert page.cells.count() == len(places)
    for layer, head, query, key, weight in places:
        page.select(kind, layer, head)
        page.root.locator(".hl-explorer-open:not([aria-busy])").wait_for()
        assert page.title().startswith(f"L{layer + 1} H{head + 1} · ")
        painted = page.painted()
        assert [painted["queries"], painted["keys"]] == [queries, keys]
        told = page.told(query, key)
        assert told.startswith(f"“{queries[query]}” → “{keys[key]}”{weight:.3f}")
        described = page.cell(kind, layer, head).get_attribute("aria-description")
        assert f"“{queries[query]}” to “{keys[key]}”" in plain(described)
    assert page.faults == []


@pytest.mark.parametrize("apart", [False, True], ids=["one message", "heads apart"])
@pytest.mark.parametrize("made", [encoder_alone, decoder_alone, cross_alone])
def test_a_planted_weight_is_told_under_its_tokens(browser, tmp_path, monkeypatch, made, apart):
    if apart:
        monkeypatch.setattr(explorer, "INSIDE_BYTES", 0)
    trace, *expected = made()
    page = Opened(browser, tmp_path / "report.html", report(trace))
    check_planted(page, *expected)
    texts = page.page.locator("header").inner_text()
    assert "log p" not in texts
    assert "English" not in texts
    assert all(note in texts for note in trace.notes)
    page.close()


@pytest.mark.parametrize("causal", [True, False])
def test_a_zero_after_the_diagonal_is_hidden_only_where_nothing_looks_ahead(
    browser, tmp_path, causal
):
    weights = np.eye(5, dtype=np.float32)[None, None]
    if not causal:
        weights[..., 1, :] = [0.5, 0, 0, 0.5, 0]
    trace = AttentionTrace.from_arrays(decoder_self=weights, decoder_tokens=TARGET)
    page = Opened(browser, tmp_path / "report.html", report(trace))
    said = "hidden, it comes later" if causal else "0"
    assert page.told(0, 4) == f"“<s>” → “·gängig”{said}"
    page.close()


def test_a_pair_of_texts_is_seen_in_four_parts(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "INSIDE_BYTES", 0)
    layers, _ = planted((2, 1), 6, 6)
    layers[0][1, 1, 4] = HOT / 2  # of the first text, into the second
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=SOURCE, second_start=3)
    page = Opened(browser, tmp_path / "report.html", report(trace))
    control = page.root.get_by_role("group", name="Texts of the pair")
    assert [one.inner_text() for one in control.get_by_role("radio").locator("xpath=..").all()] == [
        "both", "first → first", "first → second", "second → first", "second → second",
    ]  # fmt: skip
    control.get_by_label("first → second").check()
    page.select("encoder_self", 0, 1)
    page.root.get_by_role(
        "heading", name="L1 H2 · encoder self-attention · first → second"
    ).wait_for()
    painted = page.painted()
    assert [painted["queries"], painted["keys"]] == [["[CLS]", "un", "·do"], ["it", "now", "[SEP]"]]
    assert page.told(1, 1) == f"“un” → “now”{HOT / 2:.3f}"
    described = page.cell("encoder_self", 0, 1).get_attribute("aria-description")
    assert "“un” to “now”, 0.44" in plain(described)
    text = page.root.locator(".hl-explorer-open").inner_text()
    assert "what a row gives to the other text is left out of its sum" in text
    assert "(first text)" in text
    control.get_by_label("both").check()
    page.root.get_by_role("heading", name="L1 H2 · encoder self-attention", exact=True).wait_for()
    assert page.painted()["keys"] == shown(SOURCE)
    assert page.faults == []
    page.close()


@pytest.mark.parametrize("apart", [False, True], ids=["one message", "heads apart"])
def test_heads_are_laid_over_the_open_one(browser, tmp_path, monkeypatch, apart):
    if apart:
        monkeypatch.setattr(explorer, "INSIDE_BYTES", 0)
    trace, *_ = encoder_alone()
    frame = explore(trace, selected=("encoder_self", 0, 0), over=[(2, 1)])
    page = Opened(browser, tmp_path / "report.html", frame.page)
    switches = page.root.locator(".hl-explorer-open .hl-switches")
    page.root.locator(".hl-switches input").nth(1).wait_for()
    assert switches.inner_text().split("\n") == ["L1 H1", "L3 H2"]
    menu = page.root.get_by_label("Overlay another head")
    assert menu.locator("option").all_inner_texts() == ["L1 H2", "L1 H3", "L2 H1", "L3 H1"]
    menu.select_option("L2 H1")
    add = page.root.get_by_role("button", name="Add")
    # before the first is unpacked; the next one of the menu is chosen
    add.evaluate("(button) => { button.click(); button.click(); }")
    page.root.locator(".hl-switches input").nth(3).wait_for()
    assert switches.inner_text().split("\n") == ["L1 H1", "L3 H2", "L2 H1", "L3 H1"]
    page.select("encoder_self", 1, 0)  # what lies over stays, and is not drawn twice
    page.root.get_by_role("heading", name="L2 H1").wait_for()
    assert switches.inner_text().split("\n") == ["L2 H1", "L3 H2", "L3 H1"]
    page.root.get_by_role("button", name="Remove all").click()
    page.root.locator(".hl-switches input").first.wait_for(state="detached")
    assert page.head() == "L2 H1"
    assert page.faults == []
    page.close()


def test_the_menu_of_heads_keeps_the_focus(browser, tmp_path):
    layers, _ = planted((6, 4), 6, 6)
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=SOURCE)
    page = Opened(browser, tmp_path / "report.html", report(trace))
    menu = page.root.get_by_label("Overlay another head")
    focused = "document.activeElement.innerText.split('\\n')[0]"
    assert menu.input_value() == "0.1"  # the first that is not open
    page.root.get_by_role("button", name="Add").focus()
    for _ in range(9):
        page.page.keyboard.press("Enter")
    page.root.locator(".hl-switches input").nth(7).wait_for()
    assert page.root.locator(".hl-switches input").count() == 8
    add = page.root.get_by_role("button", name="Add")
    assert (page.page.evaluate(focused), add.get_attribute("aria-disabled")) == ("Add", "true")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    page.root.locator(".hl-switches input").first.wait_for(state="detached")
    assert menu.evaluate("menu => menu === document.activeElement")
    assert add.get_attribute("aria-disabled") == "false"
    assert page.faults == []
    page.close()


# how many elements, as views do, listen for the size of the window, from now on
LISTENING = """() => {
    window.listening = 0;
    for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
        const original = window[name];
        window[name] = function (type, ...rest) {
            if (type === "resize") window.listening += by;
            return original.call(window, type, ...rest);
        };
    }
}"""


def test_a_compared_map_stands_under_the_map_of_its_layer_alone(browser, tmp_path):
    layers, _ = planted((1, 1), 6, 6)
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=SOURCE)
    heads = heads_of_kind(trace, "encoder_self", words=False, special=True, lens="alti")
    second = SecondMap(open_map(heads, 1, None), OURS, ["the other layer"])
    options = ExplorerOptions("encoder_self", 0, None, lens="alti", compared=second)
    page = Opened(browser, tmp_path / "report.html", report(trace, options))
    compared = page.root.locator(".hl-explorer-compared .hl")
    assert compared.count() == 2  # it, and the difference
    page.page.evaluate(LISTENING)
    cells = page.root.get_by_role("gridcell")
    for _ in range(2):
        cells.nth(1).click()
        assert compared.count() == 0
        cells.nth(0).click()
        assert compared.count() == 2
    assert page.page.evaluate("listening") == 0  # none that is gone listens on
    assert page.faults == []
    page.close()


def test_the_maps_of_a_notebook_are_of_one_size(browser, tmp_path):
    layers, _ = planted((2,), 30, 30)
    tokens = [f"▁t{n}" for n in range(30)]
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=tokens)
    frame = f"<!doctype html>{explore(trace)._repr_html_()}"
    page = Opened(browser, tmp_path / "notebook.html", frame, frame=True)
    first = page.painted()["origin"]["square"]
    page.select("encoder_self", 0, 1)
    page.root.get_by_role("heading", name="L1 H2").wait_for()
    assert page.painted()["origin"]["square"] == first
    page.close()


def test_rounded_weights_are_told_to_three_places_and_the_page_says_so(
    browser, tmp_path, monkeypatch
):
    monkeypatch.setattr(explorer, "INSIDE_BYTES", 0)
    monkeypatch.setattr(explorer, "EXACT_BYTES", 0)
    trace, *expected = encoder_alone()
    page = Opened(browser, tmp_path / "report.html", report(trace))
    check_planted(page, *expected)
    texts = page.page.locator("body").inner_text()
    assert "rounded to steps of 0.000015, 16 bits each" in texts
    assert "numbers are exact" not in texts
    page.close()


def test_a_head_that_the_page_lost_is_said_and_the_others_open(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "INSIDE_BYTES", 0)
    trace, kind, *_ = encoder_alone()
    cut = report(trace).replace('id="encoder_self.2.1"', 'id="gone"')
    page = Opened(browser, tmp_path / "report.html", cut)
    page.select(kind, 2, 1)
    problem = page.root.get_by_role("alert")
    problem.wait_for()
    assert "The weights of L3 H2 cannot be read" in problem.inner_text()
    assert page.title().startswith("L1 H1")
    page.select(kind, 2, 0)
    page.root.get_by_role("heading", name="L3 H1").wait_for()
    assert not problem.is_visible()
    page.root.get_by_label("Overlay another head").select_option("L3 H2")
    page.root.get_by_role("button", name="Add").click()
    problem.wait_for()
    assert "The weights of L3 H2 cannot be read" in problem.inner_text()
    assert (page.title()[:5], page.head()) == ("L3 H1", "L3 H1")
    page.select(kind, 0, 1)  # it lies over no head that is opened next
    page.root.get_by_role("heading", name="L1 H2").wait_for()
    assert not problem.is_visible()
    assert page.faults == []
    page.close()


def test_two_explorers_on_a_dark_page_know_nothing_of_each_other(browser, tmp_path):
    frames = [
        explore(encoder_alone()[0], selected=("encoder_self", 1, 0), layers=(1,)),
        explore(cross_alone()[0], theme="light"),
    ]
    path = tmp_path / "notebook.html"
    outputs = "".join(frame._repr_html_() for frame in frames)
    path.write_text(f"<!doctype html><body style='background:#111'>{outputs}", "utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
    page.goto(path.as_uri())
    first, second = (page.frame_locator("iframe").nth(n) for n in range(2))
    second.get_by_role("gridcell", name="cross, layer 2, head 3").click()
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
        high = page.locator("iframe").nth(number).bounding_box()["height"]
        assert abs(high - 4 - frame.locator("body").evaluate("(b) => b.scrollHeight")) <= 1
    # the notebook turns light, and the frame that follows it does
    page.evaluate("document.body.style.background = '#fff'")
    first.locator("html[data-theme=light]").wait_for()
    page.close()


def test_the_ribbons_of_a_long_text_are_drawn_when_they_are_in_sight(browser, tmp_path):
    tokens = [f"▁t{n}" for n in range(150)]
    layers, _ = planted((2,), 150, 150)
    trace = AttentionTrace.from_arrays(encoder_self=layers, source_tokens=tokens)
    page = Opened(browser, tmp_path / "report.html", report(trace))
    page.page.set_viewport_size({"width": 1440, "height": 700})
    page.select("encoder_self", 0, 1)
    page.root.get_by_role("heading", name="L1 H2").wait_for()
    ribbons = page.root.get_by_role("application", name="Ribbons of")
    waiting = page.root.get_by_text("The ribbons are drawn in sight only.")
    assert (ribbons.count(), waiting.count()) == (0, 1)
    waiting.scroll_into_view_if_needed()
    ribbons.wait_for()
    assert page.head() == "L1 H2"
    assert "blocks of 2 × 2 tokens" in page.root.locator(".hl-explorer-grid").inner_text()
    page.close()
