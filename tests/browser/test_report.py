"""The saved page and the notebook's frame in a real Chromium, without a network.

Each head looks at one known cell. It is read back where it is drawn: in the small map, in the large
one and on the ribbons.
"""

import numpy as np
import pytest

from tests.viz.planted_trace import EVIL, HEADS, LAYERS, planted, planted_at
from transformer import KINDS
from transformer.analysis.axes import by_pieces, without_special
from viz.draw.labels import shown
from viz.draw.palette import table
from viz.notebook import show
from viz.report import report

pytestmark = pytest.mark.browser
NAMES = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}


class Opened:
    """A file on disk in a browser, and all that it asks of the network."""

    def __init__(self, browser, path, text, *, frame=False, **options):
        path.write_text(text, encoding="utf-8")
        self.page = browser.new_page(viewport={"width": 1440, "height": 1000}, **options)
        self.asked: list[str] = []
        self.faults: list[object] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda fault: self.faults.append(fault))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.goto(path.as_uri())
        self.root = self.page.frame_locator("iframe") if frame else self.page
        self.cells = self.root.locator("[role=gridcell]")
        self.cells.first.wait_for()
        self.address = path.as_uri()

    def select(self, kind, layer, head):
        self.cell(kind, layer, head).click()

    def cell(self, kind, layer, head):
        return self.cells.nth((KINDS.index(kind) * LAYERS + layer) * HEADS + head)

    def large(self):
        """What the map and the view drew: title, labels and weights."""
        return self.root.locator(".hl-explorer-open > div > .hl").evaluate_all(
            """(roots) => roots.map(({ __headlight: { title, heads, queries, keys, weights } }) =>
                ({ title, heads, queries, keys, weights: [...weights] }))"""
        )

    def pixel(self, query, key):
        """The colour in the middle of a square of the large map."""
        return self.root.locator(".hl-explorer-open .hl-scroll canvas").first.evaluate(
            """(canvas, [query, key]) => {
                const { origin: { x, y, square } } = canvas.closest(".hl").__headlight;
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const at = (from, n) => Math.round((from + (n + 0.5) * square) * ratio);
                const pen = canvas.getContext("2d");
                return [...pen.getImageData(at(x, key), at(y, query), 1, 1).data];
            }""",
            [query, key],
        )

    def close(self):
        self.page.close()


@pytest.fixture(params=["report", "notebook"])
def opened(request, browser, tmp_path):
    if request.param == "report":
        made = Opened(browser, tmp_path / "report.html", report(planted(), theme="light"))
    else:
        frame = f"<!doctype html><h1>Notebook</h1>{show(planted())._repr_html_()}"
        made = Opened(browser, tmp_path / "notebook.html", frame, frame=True)
    yield made
    made.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_cell_lights_up_under_the_right_words(opened, kind):
    trace = planted()
    labels = [shown(axis) for axis in trace.labels(kind)]
    for layer, head in np.ndindex(LAYERS, HEADS):
        query, key = planted_at(trace, kind, layer, head)
        weights = trace.weights(kind)[layer, head]
        described = opened.cell(kind, layer, head).get_attribute("aria-description")
        plain = described.replace("\u2068", "").replace("\u2069", "")
        assert f"“{labels[0][query]}” to “{labels[1][key]}”" in plain
        opened.select(kind, layer, head)
        a_map, a_view = opened.large()
        assert a_map["title"].startswith(f"L{layer + 1} H{head + 1} · {NAMES[kind]}")
        assert a_view["heads"] == [f"L{layer + 1} H{head + 1}"]
        for drawn in (a_map, a_view):
            assert [drawn["queries"], drawn["keys"]] == labels
            assert drawn["weights"] == weights.ravel().tolist()  # every bit of float32
        level = round(255 * float(weights[query, key]))
        assert opened.pixel(query, key) == [*table(kind, "light")[level].tolist(), 255]
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
    assert opened.large()[0]["title"].startswith("L1 H2 · cross")


def test_a_word_that_would_close_a_script_is_a_word(browser, tmp_path):
    page = Opened(browser, tmp_path / "evil.html", report(planted(evil=True), title=EVIL))
    assert page.page.title() == EVIL
    assert page.page.locator("img").count() == 0
    page.select("cross", 1, 1)
    assert EVIL in page.large()[0]["keys"]
    assert page.faults == []
    page.close()


def test_the_page_opens_at_the_head_and_with_the_axes_that_were_asked_for(browser, tmp_path):
    text = report(planted(), selected=("decoder_self", 1, 2), special=False, theme="dark")
    page = Opened(browser, tmp_path / "report.html", text)
    a_map = page.large()[0]
    axes, _ = without_special(by_pieces(planted(), "decoder_self"))
    assert a_map["title"].startswith("L2 H3 · decoder")
    assert a_map["queries"] == shown(axes.labels.queries)
    assert a_map["weights"] == axes.weights[1, 2].ravel().tolist()
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_as_wide_as_the_screen(browser, tmp_path, width):
    page = Opened(browser, tmp_path / "report.html", report(planted()), color_scheme="dark")
    page.page.set_viewport_size({"width": width, "height": 800})
    page.page.wait_for_timeout(100)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert (
        page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 21)"
    )
    page.close()
