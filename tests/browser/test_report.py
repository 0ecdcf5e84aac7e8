"""The saved page and the notebook's frame in a real Chromium, without a network.

Each head looks at one known cell. It is read back where it is drawn: in the small map, in the large
one and on the ribbons.
"""

import numpy as np
import pytest

from tests.browser.report_page import Opened
from tests.browser.spy import level_of
from tests.viz.planted_trace import EVIL, HEADS, LAYERS, planted, planted_at
from transformer import KINDS
from transformer.analysis.axes import by_pieces, without_special
from viz.draw.heads_view import ExplorerOptions
from viz.draw.labels import display_tokens
from viz.figures.heads import head_bars
from viz.notebook import explore, show_chart
from viz.report import report

pytestmark = pytest.mark.browser
AS_WIDE = "document.documentElement.scrollWidth <= innerWidth"
NAMES = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}


@pytest.fixture(params=["report", "notebook"])
def opened(request, browser, tmp_path):
    if request.param == "report":
        made = Opened(browser, tmp_path / "report.html", report(planted(), theme="light"))
    else:
        frame = f"<!doctype html><h1>Notebook</h1>{explore(planted())._repr_html_()}"
        made = Opened(browser, tmp_path / "notebook.html", frame, frame=True)
    yield made
    made.close()


# the frame of a notebook holds the very text of a report: tests/viz/test_notebook.py
@pytest.mark.parametrize(
    ("opened", "kind"),
    [*(("report", kind) for kind in KINDS), ("notebook", "cross")],
    indirect=["opened"],
)
def test_the_right_cell_lights_up_under_the_right_words(opened, kind):
    trace = planted()
    labels = [display_tokens(axis) for axis in trace.labels(kind)]
    for layer, head in np.ndindex(LAYERS, HEADS):
        query, key = planted_at(trace, kind, layer, head)
        weights = trace.weights(kind)[layer, head]
        described = opened.cell(kind, layer, head).get_attribute("aria-description")
        plain = described.replace("\u2068", "").replace("\u2069", "")
        assert f"“{labels[0][query]}” to “{labels[1][key]}”" in plain
        opened.select(kind, layer, head)
        assert opened.title().startswith(f"L{layer + 1} H{head + 1} · {NAMES[kind]}")
        assert opened.head() == f"L{layer + 1} H{head + 1}"
        painted = opened.painted()
        assert [painted["queries"], painted["keys"]] == labels
        assert painted["table"] == (kind, "light")
        assert (painted["levels"] == level_of(weights)).all()
        said = f"“{labels[0][query]}” → “{labels[1][key]}”{weights[query, key]:.3f}"
        assert opened.told(query, key).startswith(said)
    assert opened.faults == []


def test_nothing_is_asked_of_the_network(opened):
    opened.select("encoder_self", 1, 2)
    opened.cell("encoder_self", 1, 2).press("ArrowDown")
    opened.page.wait_for_timeout(200)
    assert set(opened.asked) <= {opened.address, "about:srcdoc"}
    assert opened.faults == []


def test_keys_move_and_enter_opens(opened):
    opened.cell("cross", 0, 0).focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Enter")
    assert opened.title().startswith("L1 H2 · cross")


def test_a_word_that_would_close_a_script_is_a_word(browser, tmp_path):
    page = Opened(browser, tmp_path / "evil.html", report(planted(evil=True), title=EVIL))
    assert page.page.title() == EVIL
    assert page.page.locator("img").count() == 0
    page.select("cross", 1, 1)
    assert EVIL in page.painted()["keys"]
    assert page.faults == []
    page.close()


def test_the_page_opens_at_the_head_and_with_the_axes_that_were_asked_for(browser, tmp_path):
    text = report(planted(), ExplorerOptions("decoder_self", 1, 2, special=False), theme="dark")
    page = Opened(browser, tmp_path / "report.html", text)
    axes, _ = without_special(by_pieces(planted(), "decoder_self"))
    assert page.title().startswith("L2 H3 · decoder")
    painted = page.painted()
    assert painted["queries"] == display_tokens(axes.labels.queries)
    assert painted["table"] == ("decoder_self", "dark")
    assert (painted["levels"] == level_of(axes.weights[1, 2])).all()
    page.close()


def test_a_chart_of_a_notebook_needs_no_network(browser, tmp_path):
    chart = head_bars(np.array([0.25, 0.75], np.float32), [f"▁{EVIL}", "▁dogs"], kind="cross")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html>{show_chart(chart.to_dict())['text/html']}", "utf-8")
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


def test_the_page_is_as_wide_as_the_screen(browser, tmp_path):
    page = Opened(browser, tmp_path / "report.html", report(planted()), color_scheme="dark")
    for width in (390, 1440):
        page.page.set_viewport_size({"width": width, "height": 800})
        # the explorer follows the new width in a later frame
        page.page.wait_for_function(AS_WIDE)
    assert (
        page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 21)"
    )
    page.close()
