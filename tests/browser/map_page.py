"""The page of the large map's tests: planted maps, and how to read what is drawn of them.

Every head of the small model below looks at one known square. The words on the canvas are read
where they are drawn, not from what the component says of itself.
"""

import re

import numpy as np
import pytest

from tests.browser.components import COMPONENTS, js_bytes
from tests.browser.spy import map_on
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import encode_map
from viz.draw.palette import table

LAYERS, HEADS = 3, 4
ENGLISH = ("▁Two", "▁black", "▁dogs", "▁run", "▁fris", "bee", "</s>")
GERMAN = ("▁Zwei", "▁schwarze", "▁Hun", "de", "</s>")
READ = ("<s>", *GERMAN[:-1])
LABELS = {
    "encoder_self": Labels(ENGLISH, ENGLISH),
    "decoder_self": Labels(READ, READ),
    "cross": Labels(GERMAN, ENGLISH),
}
HOT = 0.913

SCRIPT = """
import streamlit as st
from tests.browser.map_page import LABELS, READ, planted
from transformer.text.languages import OURS
from viz.app.chrome.mounts import mount
from viz.draw.attention_map import encode_map

st.set_page_config(layout="wide")
labels = LABELS["cross"]
weights = planted(labels, "cross")
st.session_state.runs = st.session_state.get("runs", 0) + 1
_, right = st.columns(2)
with right:
    mount("map", encode_map(
        weights[1, 2], labels, "cross", title="L2 H3", languages=OURS, reads=READ
    ))
st.text(f"runs {st.session_state.runs}")
"""


def place(number, labels):
    """The square (query, key) that head `number` looks at; no two neighbours share one."""
    return (number * 2 + 1) % len(labels.queries), (number * 3) % len(labels.keys)


def planted(labels, kind):
    """Weights in which each head has one strong square, the rest of the row spread evenly."""
    rows, keys = len(labels.queries), len(labels.keys)
    weights = np.full((LAYERS, HEADS, rows, keys), 1 / keys)
    for number in range(LAYERS * HEADS):
        query, key = planted_at(number, labels, kind)
        head = weights[number // HEADS, number % HEADS]
        head[query] = (1 - HOT) / (keys - 1)
        head[query, key] = HOT
        if kind == "decoder_self":
            head[:] = np.tril(head)
    return weights.astype(np.float32)


def planted_at(number, labels, kind):
    query, key = place(number, labels)
    return (query, min(key, query)) if kind == "decoder_self" else (query, key)


def ink(kind, theme):
    """The colour of the planted weight, opaque."""
    return (*table(kind, theme)[round(255 * HOT)].tolist(), 255)


def odd(tokens):
    """Labels with words that are not like the others, the same ones on both axes."""
    words = tuple(f"▁{token}" for token in tokens)
    return Labels((*words, "</s>"), (*words, "▁and", "</s>"))


class Maps:
    """A page with the map on it."""

    def __init__(self, page, *, bare=False):
        self.page = page
        self.bare = bare  # without Streamlit: the page holds the component as `view`
        self.frames: list[object] = []
        self.faults: list[object] = []
        page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda frame: self.frames.append(frame)),
        )
        page.on("pageerror", lambda fault: self.faults.append(fault))
        self.map = page.locator(".hl-scroll")
        self.tip = page.locator(".hl-frame .hl-tip")

    def open(self, address):
        self.page.goto(address)
        self.map.wait_for(timeout=30_000)
        self.settle()
        return self

    def settle(self):
        """Wait until nothing has been drawn for a moment; fonts arrive late and draw again."""
        self.page.evaluate("""async () => {
            await document.fonts.ready;
            for (let last = -1; last !== window.words.length;) {
                last = window.words.length;
                await new Promise((done) => setTimeout(done, 150));
            }
        }""")

    def runs(self):
        return self.page.get_by_text(re.compile(r"^runs \d+")).inner_text()

    def of_view(self, name):
        """A field of the component, where the page holds what `render` returned."""
        return self.page.evaluate(f"() => view.{name}")

    def painted(self):
        """What stands on the canvas."""
        return map_on(self.map.locator("canvas"))

    def center(self, query, key):
        """A square's middle on the canvas, in CSS pixels."""
        return self.centers([(query, key)])[0]

    def centers(self, squares):
        origin = self.painted()["origin"]
        x, y, side = origin["x"], origin["y"], origin["square"]
        return [(x + (key + 0.5) * side, y + (query + 0.5) * side) for query, key in squares]

    def color(self, query, key):
        """What the middle of a square of the large map looks like."""
        return self.colors([(query, key)])[query, key]

    def colors(self, squares):
        found = self.map.evaluate(
            """(node, places) => {
                const canvas = node.querySelector("canvas");
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const context = canvas.getContext("2d");
                return places.map((place) => {
                    const [x, y] = place.map((n) => Math.round(n * ratio));
                    return [...context.getImageData(x, y, 1, 1).data];
                });
            }""",
            self.centers(squares),
        )
        return {at: tuple(color) for at, color in zip(squares, found, strict=True)}

    def words(self):
        """All words of the large map, drawn once more; in one call, so that none counts twice."""
        return self.map.evaluate("""(node) => {
            window.words.length = 0;
            node.dispatchEvent(new Event("scroll"));
            return window.words;
        }""")

    def words_at(self, query, key):
        """The row's word at a square's height and the column's word over it."""
        words = self.words()
        x, y = self.center(query, key)
        origin = self.painted()["origin"]
        top = max(origin["y"], self.of_view("plan.top")) if self.bare else origin["y"]
        left = max(origin["x"], self.of_view("plan.left")) if self.bare else origin["x"]
        rows = [w for w in words if w["x"] < left and w["y"] > top]
        columns = [w for w in words if w["x"] > left and w["y"] < top]
        return (
            min(rows, key=lambda word: abs(word["y"] - y))["text"],
            min(columns, key=lambda word: abs(word["x"] - x))["text"],
        )

    def hover(self, query, key):
        self.map.scroll_into_view_if_needed()
        box = self.map.bounding_box()
        x, y = self.center(query, key)
        self.page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.fixture
def new_maps(browser, serve_script):
    opened = []
    address = serve_script(SCRIPT)

    def open_page(color_scheme="light"):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(20_000)
        page.emulate_media(color_scheme=color_scheme)
        opened.append(Maps(page).open(address))
        return opened[-1]

    yield open_page
    for maps in opened:
        assert maps.faults == []
        maps.page.close()


@pytest.fixture
def bare_map(browser):
    """Open the same map without Streamlit, which is quicker: the module and its bytes."""
    opened = []

    def open_page(labels, kind="cross", **options):
        page = browser.new_page(offline=True, **options)
        opened.append(Maps(page, bare=True))
        page.goto("about:blank")
        weights = planted(labels, kind)[1, 2]
        content = encode_map(weights, labels, kind, title="L2 H3", languages=OURS)
        page.set_content(
            f"""<main></main><script type="module">{COMPONENTS}
            window.view = render(document.querySelector("main"), {js_bytes(content)});</script>"""
        )
        opened[-1].map.wait_for()
        return opened[-1]

    yield open_page
    for maps in opened:
        assert maps.faults == []
        maps.page.close()
