"""The large map in a real browser: is what is on screen what Python had, under the right words?

Every head of the small model below looks at one known square. The words on the canvas are read
where they are drawn, not from what the component says of itself.
"""

import base64
import re

import numpy as np
import pytest

from transformer.trace import Labels
from viz.components.bundle import script, style
from viz.components.labels import shown
from viz.components.packet import map_packet
from viz.components.palette import table

pytestmark = pytest.mark.browser

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
from tests.browser.test_attention_map import LABELS, READ, planted
from viz.components.maps import attention_map

st.set_page_config(layout="wide")
kind = st.query_params.get("kind", "cross")
labels = LABELS[kind]
weights = planted(labels, kind)
st.session_state.runs = st.session_state.get("runs", 0) + 1
_, right = st.columns(2)
with right:
    attention_map(
        weights[1, 2], labels, kind, title="L2 H3", key="map",
        reads=READ if kind == "cross" else None,
    )
st.text(f"runs {st.session_state.runs}")
"""

# where each word was drawn: its anchor and its two ends, from the canvas's own transform
SPY = """
window.words = [];
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const ratio = this.canvas.width / parseFloat(this.canvas.style.width);
  const wide = this.measureText(text).width;
  const before = { left: 0, center: wide / 2, right: wide }[this.textAlign];
  const [anchor, start, end] = [0, -before, wide - before].map((by) => {
    const at = this.getTransform().transformPoint({ x: x + by, y });
    return [at.x / ratio, at.y / ratio];
  });
  const plain = text.replace(/[\\u2066-\\u2069]/g, "");
  window.words.push({ text: plain, x: anchor[0], y: anchor[1], start, end });
  return draw.apply(this, arguments);
};
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

    def __init__(self, page):
        self.page = page
        self.frames: list[object] = []
        self.faults: list[object] = []
        page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda frame: self.frames.append(frame)),
        )
        page.on("pageerror", lambda fault: self.faults.append(fault))
        self.map = page.locator(".hl-scroll")
        self.tip = page.locator(".hl-frame .hl-tip")

    def open(self, address, query=""):
        self.page.add_init_script(SPY)
        self.page.goto(f"{address}/?{query}")
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

    def drawn(self):
        """What the component says that it drew."""
        return self.map.evaluate(
            """(node) => {
                const { weights, ...rest } = node.closest(".hl").__headlight;
                return { ...rest, weights: [...weights], palette: null };
            }"""
        )

    def center(self, query, key):
        """A square's middle on the canvas, in CSS pixels."""
        origin = self.drawn()["origin"]
        side = origin["square"]
        return origin["x"] + (key + 0.5) * side, origin["y"] + (query + 0.5) * side

    def color(self, query, key):
        """What the middle of a square of the large map looks like."""
        return self.colors([(query, key)])[query, key]

    def colors(self, squares):
        found = self.map.evaluate(
            """(node, squares) => {
                const canvas = node.querySelector("canvas");
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const { x, y, square } = node.closest(".hl").__headlight.origin;
                const at = (start, n) => Math.round((start + (n + 0.5) * square) * ratio);
                const context = canvas.getContext("2d");
                return squares.map(([query, key]) =>
                    [...context.getImageData(at(x, key), at(y, query), 1, 1).data]);
            }""",
            squares,
        )
        return {at: tuple(color) for at, color in zip(squares, found, strict=True)}

    def words(self):
        """All words of the large map, drawn once more."""
        self.page.evaluate("() => { window.words.length = 0; }")
        self.map.dispatch_event("scroll")
        return self.page.evaluate("() => window.words")

    def words_at(self, query, key):
        """The row's word at a square's height and the column's word over it."""
        words = self.words()
        x, y = self.center(query, key)
        origin = self.drawn()["origin"]
        rows = [w for w in words if w["x"] < origin["left"] and w["y"] > origin["top"]]
        columns = [w for w in words if w["x"] > origin["left"] and w["y"] < origin["top"]]
        return (
            min(rows, key=lambda word: abs(word["y"] - y))["text"],
            min(columns, key=lambda word: abs(word["x"] - x))["text"],
        )

    def hover(self, query, key):
        self.map.scroll_into_view_if_needed()
        box = self.map.bounding_box()
        x, y = self.center(query, key)
        self.page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.fixture(scope="module")
def address(serve_streamlit):
    return serve_streamlit(SCRIPT)


@pytest.fixture
def new_maps(browser, address):
    opened = []

    def open_page(query="", **options):
        page = browser.new_page(**{"viewport": {"width": 1440, "height": 900}, **options})
        page.set_default_timeout(20_000)
        opened.append(Maps(page).open(address, query))
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
        opened.append(Maps(page))
        page.add_init_script(SPY)
        page.goto("about:blank")
        weights = planted(labels, kind)[1, 2]
        packet = base64.b64encode(map_packet(weights, labels, kind, title="L2 H3")).decode()
        page.set_content(
            f"""<style>{style()}</style><main></main>
            <script type="module">{script("attention_map.js")}
            const bytes = Uint8Array.from(atob("{packet}"), (one) => one.charCodeAt(0));
            render(document.querySelector("main"), unpack(bytes));</script>"""
        )
        opened[-1].map.wait_for()
        return opened[-1]

    yield open_page
    for maps in opened:
        assert maps.faults == []
        maps.page.close()


@pytest.mark.parametrize("kind", list(LABELS))
def test_a_planted_weight_is_drawn_under_its_words(new_maps, kind):
    labels = LABELS[kind]
    maps = new_maps(f"kind={kind}")
    query, key = planted_at(1 * HEADS + 2, labels, kind)
    words = shown(labels.queries)[query], shown(labels.keys)[key]
    weights = planted(labels, kind)

    drawn = maps.drawn()
    assert drawn["weights"] == weights[1, 2].ravel().tolist()  # exact float32
    assert (drawn["queries"], drawn["keys"]) == (shown(labels.queries), shown(labels.keys))

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


def test_the_readout_needs_no_server(new_maps):
    maps = new_maps()
    query, key = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")
    sent, runs = len(maps.frames), maps.runs()
    maps.hover(0, 0)
    maps.hover(query, key)
    text = maps.tip.inner_text()
    assert "0.913" in text
    assert READ[query].removeprefix("▁") in text  # what the decoder had read there
    assert maps.drawn()["at"] == {"row": query, "key": key}
    maps.page.mouse.down()
    maps.page.mouse.up()
    assert maps.drawn()["pinned"] == query
    maps.page.mouse.move(5, 5)
    assert maps.tip.is_hidden()
    assert maps.drawn()["pinned"] == query

    maps.map.focus()
    for press in ("Escape", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft"):
        maps.page.keyboard.press(press)
    assert maps.drawn()["at"] == {"row": 1, "key": 1}
    assert maps.drawn()["pinned"] is None
    said = maps.page.locator("[aria-live=polite].hl-unseen").inner_text()
    weight = planted(LABELS["cross"], "cross")[1, 2, 1, 1]
    assert re.sub("[\u2068\u2069]", "", said) == f"“schwarze” → “black” {weight:.3f}"
    maps.page.keyboard.press("Enter")
    assert maps.drawn()["pinned"] == 1
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
    assert sum(word["text"] == shown(GERMAN)[query] for word in words) == 2  # its row and the bars


def test_the_text_alternative_names_each_rows_strongest_key(bare_map):
    maps = bare_map(LABELS["encoder_self"], "encoder_self")
    query, key = planted_at(1 * HEADS + 2, LABELS["encoder_self"], "encoder_self")
    rows = maps.page.locator(".hl-unseen table tbody tr")
    assert rows.count() == len(ENGLISH)
    words = rows.nth(query).locator("td").all_inner_texts()
    assert words == [shown(ENGLISH)[query], shown(ENGLISH)[key], "0.913"]
    heading = maps.page.locator(".hl-unseen table th").all_inner_texts()
    assert heading[:2] == ["English: the word that looks", "English: where it looks"]


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
    assert maps.drawn()["origin"]["font"] == 10
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
        assert maps.drawn()["theme"] == theme
        assert maps.color(*spot) == ink("cross", theme)

    shows("dark")
    runs = maps.runs()
    maps.page.emulate_media(color_scheme="light")
    maps.page.wait_for_function(
        """() => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].every(
            (host) => host.shadowRoot.querySelector(".hl").__headlight.theme === "light")"""
    )
    shows("light")
    assert maps.runs() == runs


def test_a_saved_page_draws_the_same_map_with_no_server_at_all(bare_map):
    maps = bare_map(LABELS["cross"])
    spot = planted_at(1 * HEADS + 2, LABELS["cross"], "cross")
    assert maps.color(*spot) == ink("cross", "light")
    maps.hover(*spot)
    assert "0.913" in maps.tip.inner_text()
