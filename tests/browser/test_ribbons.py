"""The ribbons: does each run from the right word to the right word, with its true weight?

Every head here looks at one known pair of words. Ribbons are read from the saved drawing and from
the canvas's pixels, words where they are drawn.
"""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from tests.browser.map_page import ENGLISH, GERMAN, HOT, LABELS, READ
from tests.browser.still import PAPER, SVG, Still, number_of, plain, rgb, words_of
from transformer.text.languages import OURS
from transformer.trace import Labels
from viz.draw.attention_map import encode_ribbons
from viz.draw.labels import display_tokens
from viz.draw.palette import COLOR, head_colors

pytestmark = pytest.mark.browser

SPOTS = {"encoder_self": (4, 2), "decoder_self": (3, 1), "cross": (2, 5)}


def planted(labels, spot):
    """One strong weight; the first key has the rest of that row and all of the others."""
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    weights[:, 0] = 1
    weights[spot[0], [0, spot[1]]] = 1 - HOT, HOT
    return weights


def alone(labels, spot, weight=HOT):
    """One weight and nothing else."""
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    weights[spot] = weight
    return weights


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(offline=True)
    yield page
    page.close()


@pytest.fixture
def still(page):
    opened = []

    def open_page(content, **options):
        opened.append(Still(page, content, **options))
        return opened[-1]

    yield open_page
    assert [fault for one in opened for fault in one.faults] == []


def ribbons(page):
    """Head, query, key and weight of each ribbon, from the marks that are drawn."""
    found = page.page.evaluate(
        """() => {
            const { ribbons: { marks }, plan, shown, colors } =
                view.scene(view.visible(), view.at);
            const faint = shown ? 0.25 : Math.min(Math.max(20 / marks.length, 0.005), 0.08);
            const row = (y) => Math.floor(y / plan.row);
            return marks.map(({ d, stroke, opacity }) => {
                const ys = [...d.matchAll(/[\\d.]+,([\\d.]+)/g)].map((pair) => Number(pair[1]));
                const weight = (opacity - faint) / (0.95 - faint);
                return [colors.indexOf(stroke), row(ys[0]), row(ys.at(-1)), weight];
            });
        }"""
    )
    return [(*place, round(weight, 4)) for *place, weight in found]


def click(page, side, index):
    plan = page.of_view("plan")
    page.move(*place(plan, side, index))
    page.page.mouse.down()
    page.page.mouse.up()
    page.page.mouse.move(1, 1)


def place(plan, side, index):
    """A word's middle."""
    x = plan["left"] - 20 if side == "queries" else plan["right"] + 20
    return x, (index + 0.5) * plan["row"]


def rows(page, left):
    """The words of one side and the numbers beside them: `{row: [texts, from the left]}`."""
    plan = page.of_view("plan")
    found: dict[int, list[str]] = {}
    middle = plan["width"] / 2
    for word in sorted(page.words(), key=lambda word: word["x"]):
        if (word["x"] < middle) == left:
            found.setdefault(int(word["y"] // plan["row"]), []).append(word["text"])
    return found


def inked(page, side, index):
    """Whether a ribbon ends at this word, from the pixels just beside the words."""
    plan = page.of_view("plan")
    x = plan["left"] + 8 if side == "queries" else plan["right"] - 8
    return page.color(x, (index + 0.5) * plan["row"]) != rgb(PAPER["light"])


@pytest.mark.parametrize("kind", list(LABELS))
def test_a_picked_word_keeps_its_own_ribbons_and_tells_the_exact_weights(still, kind):
    labels, (query, key) = LABELS[kind], SPOTS[kind]
    weights = planted(labels, (query, key))
    page = still(encode_ribbons([("L1 H1", weights)], labels, kind, languages=OURS))
    assert (
        page.page.evaluate("() => [...view.data.weights]") == weights.ravel().tolist()
    )  # exact float32
    assert len(ribbons(page)) == len(labels.queries) + 1
    queries, keys = display_tokens(labels.queries), display_tokens(labels.keys)
    assert rows(page, left=True) == {n: [word] for n, word in enumerate(queries)}
    assert rows(page, left=False) == {n: [word] for n, word in enumerate(keys)}
    assert all(inked(page, "queries", n) for n in range(len(queries)))

    click(page, "keys", key)  # seen from where it is looked at, it is the only one
    assert page.of_view("picked") == {"side": "keys", "index": key}
    assert ribbons(page) == [(0, query, key, HOT)]
    assert [n for n in range(len(keys)) if inked(page, "keys", n)] == [key]
    beside = {n: [word, "0"] for n, word in enumerate(queries)}
    beside[query] = [queries[query], "0.913"]
    assert rows(page, left=True) == beside

    click(page, "queries", query)  # and from where it looks
    assert ribbons(page) == [(0, query, 0, round(1 - HOT, 4)), (0, query, key, HOT)]
    assert [n for n in range(len(queries)) if inked(page, "queries", n)] == [query]
    beside = {n: ["0", word] for n, word in enumerate(keys)}
    beside[0], beside[key] = ["0.0870", keys[0]], ["0.913", keys[key]]
    assert rows(page, left=False) == beside

    click(page, "queries", query)  # once more lets go
    assert page.of_view("picked") is None
    assert len(ribbons(page)) == len(labels.queries) + 1


def test_hover_previews_and_a_pair_tells_every_head(still):
    labels = LABELS["cross"]
    heads = [("L1 H1", alone(labels, (2, 5), 0.5)), ("L2 H2", alone(labels, (2, 5), 0.125))]
    page = still(encode_ribbons(heads, labels, "cross", reads=READ, languages=OURS))
    plan = page.of_view("plan")
    page.move(*place(plan, "queries", 2))
    assert ribbons(page) == [(1, 2, 5, 0.125), (0, 2, 5, 0.5)]
    assert plain(page.tip.inner_text()) == "This row reads “schwarze” and writes “Hun”."
    page.move(*place(plan, "queries", 1))
    assert ribbons(page) == []
    page.move(plan["width"] / 2, 10)
    assert len(ribbons(page)) == 2
    assert page.tip.is_hidden()
    click(page, "keys", 5)
    page.move(*place(plan, "queries", 3))
    assert len(ribbons(page)) == 2  # still those of the picked word
    page.move(*place(plan, "queries", 2))
    pair = page.tip.locator("div").filter(has_text="L")
    assert pair.all_inner_texts() == ["L1 H10.500", "L2 H20.125"]
    assert plain(page.tip.inner_text()).startswith("“Hun” → “·bee”")


def test_the_keyboard_moves_picks_and_lets_go(still):
    labels = LABELS["cross"]
    page = still(
        encode_ribbons([("L1 H1", alone(labels, (2, 5)))], labels, "cross", languages=OURS)
    )
    page.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert page.of_view("at") == {"side": "queries", "index": 2}
    live = page.page.locator("[aria-live]")
    assert plain(live.inner_text()) == "“Hun” → L1 H1 “·bee” 0.913"
    page.press("ArrowRight", "End", "ArrowUp", "Enter")
    assert page.of_view("picked") == {"side": "keys", "index": 5}
    assert plain(live.inner_text()) == "“·bee” picked"
    page.press("ArrowLeft", "ArrowLeft")  # no further
    assert page.of_view("at") == {"side": "queries", "index": 4}
    page.press("Home", "ArrowUp")
    assert page.of_view("at") == {"side": "queries", "index": 0}
    assert plain(live.inner_text()) == "“Zwei” → “·bee” L1 H1 0"
    page.press("Escape")
    assert (page.of_view("picked"), page.of_view("at")) == (None, None)


def test_heads_have_colors_of_their_own_and_can_be_switched_off(still):
    labels = LABELS["cross"]
    spots = [(n % 5, (2 * n) % 7) for n in range(8)]
    names = [f"L{n} H{n}" for n in range(1, 9)]
    heads = [(name, alone(labels, at)) for name, at in zip(names, spots, strict=True)]
    page = still(encode_ribbons(heads, labels, "cross", languages=OURS))
    assert {(head, (query, key)) for head, query, key, _ in ribbons(page)} == set(enumerate(spots))
    switches = page.page.get_by_role("group", name="Heads", exact=True).get_by_role("checkbox")
    assert switches.count() == 8
    accents = switches.evaluate_all("(all) => all.map((one) => getComputedStyle(one).accentColor)")
    colors = [rgb(color) for color in head_colors("cross", "light")]
    assert [rgb(one) for one in accents] == colors
    assert colors[0] == rgb(COLOR["cross"])

    page.page.get_by_role("checkbox", name="L3 H3").uncheck()
    click(page, "queries", 2)
    assert [one[0] for one in ribbons(page)] == [7]  # heads 2 and 7 look at it; 2 is off
    click(page, "queries", 4)
    # other weights of the same words: the pick stays, and so does what is switched off
    moved = [(name, alone(labels, (4, n % 7))) for n, name in enumerate(names)]
    page.show(encode_ribbons(moved, labels, "cross", languages=OURS))
    assert page.of_view("picked") == {"side": "queries", "index": 4}
    assert sorted(one[:3] for one in ribbons(page)) == [(n, 4, n % 7) for n in range(8) if n != 2]
    assert page.page.locator(".hl").count() == 1
    for switch in switches.all():
        switch.uncheck()
    assert ribbons(page) == []
    page.show(encode_ribbons(moved[:2], labels, "cross", languages=OURS))
    page.show(encode_ribbons(moved[:3], labels, "cross", languages=OURS))
    assert switches.evaluate_all("(all) => all.map((one) => one.checked)") == [False, False, True]
    assert [one[0] for one in ribbons(page)] == [2]  # what was taken away comes back switched on
    other = Labels(GERMAN, (*ENGLISH[:-1], "▁home"))
    page.show(encode_ribbons([("L1 H1", alone(other, (0, 0)))], other, "cross", languages=OURS))
    assert page.of_view("picked") is None
    assert ribbons(page) == [(0, 0, 0, HOT)]  # a head alone is never off


def test_ribbons_begin_at_the_threshold_and_the_note_says_so(still):
    labels = LABELS["cross"]
    weights = alone(labels, (2, 5), 0.009)
    weights[1, 1], weights[3, 3] = 0.02, 0.2
    page = still(encode_ribbons([("L1 H1", weights)], labels, "cross", languages=OURS))
    assert [one[1:3] for one in ribbons(page)] == [(1, 1), (3, 3)]
    note = page.page.locator(".hl-foot > span").first
    assert note.inner_text() == "Ribbons from 0.01 up; numbers are exact."
    page.show(encode_ribbons([("L1 H1", weights)], labels, "cross", threshold=0.1, languages=OURS))
    assert [one[1:3] for one in ribbons(page)] == [(3, 3)]
    assert note.inner_text() == "Ribbons from 0.1 up; numbers are exact."
    click(page, "keys", 5)
    assert rows(page, left=True)[2] == ["Hun", "0.0090"]  # no ribbon, the number all the same


def test_the_table_names_each_heads_strongest_key(still):
    labels, (query, key) = LABELS["cross"], SPOTS["cross"]
    heads = [("L1 H1", planted(labels, (query, key))), ("L1 H2", alone(labels, (query, 3)))]
    page = still(encode_ribbons(heads, labels, "cross", languages=OURS))
    table = page.page.locator(".hl-unseen table")
    cells = table.locator("tbody tr").nth(query).locator("td").all_text_contents()
    assert cells == ["Hun", "·bee 0.913", "run 0.913"]
    assert table.locator("th").all_text_contents()[1:] == ["L1 H1", "L1 H2"]


@pytest.mark.parametrize("kind", list(LABELS))
def test_saved_files_hold_the_ribbon_between_its_words(still, tmp_path, kind):
    labels, (query, key) = LABELS[kind], SPOTS[kind]
    heads = [("L3 H5", alone(labels, (query, key))), ("L4 H1", alone(labels, (0, 0), 0.4))]
    page = still(encode_ribbons(heads, labels, kind, languages=OURS))
    path = page.save("SVG", tmp_path)
    assert path.name == f"headlight-l3-h5-l4-h1-{kind.replace('_', '-')}-ribbons.svg"
    root = ET.parse(path).getroot()
    first, second = head_colors(kind, "light")[:2]
    paths = {node.get("stroke"): node for node in root.iter(f"{SVG}path")}
    assert set(paths) == {first, second}
    words = words_of(root)

    def ends(color):
        """The words at both ends of a ribbon."""
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", paths[color].get("d", ""))]
        dx, dy = map(float, re.findall(r"-?[\d.]+", paths[color].get("transform", "")))
        (x0, y0), (x1, y1) = [(x + dx, y + dy) for x, y in (numbers[:2], numbers[-2:])]
        left = [word for word in words if word["x"] < x0]
        right = [word for word in words if word["x"] > x1]
        nearest = [
            min(side, key=lambda word: abs(word["y"] - y))["text"]
            for side, y in ((left, y0), (right, y1))
        ]
        return tuple(nearest), (x0, y0)

    (names, (x, y)) = ends(first)
    assert names == (display_tokens(labels.queries)[query], display_tokens(labels.keys)[key])
    assert ends(second)[0] == (display_tokens(labels.queries)[0], display_tokens(labels.keys)[0])
    assert {"L3 H5, L4 H1", "L3 H5", "L4 H1"} <= {word["text"] for word in words}
    image = Image.open(page.save("PNG", tmp_path)).convert("RGB")
    assert image.size == (2 * number_of(root, "width"), 2 * number_of(root, "height"))
    seen = np.array(image.getpixel((round(2 * x) + 4, round(2 * y))), dtype=int)
    assert np.abs(seen - rgb(first)).max() < 40  # the head's colour, as strong as the weight


def test_a_file_on_white_says_what_it_was_made_from_and_holds_in_any_face(still, tmp_path):
    labels = LABELS["cross"]
    heads = [("L3 H5", planted(labels, SPOTS["cross"])), ("L1 H2", alone(labels, (0, 0)))]
    caption = ["“Two dogs” → “Zwei Hunde”", "cross-attention, layer 3, head 5, lens: weights."]
    page = still(
        encode_ribbons(heads, labels, "cross", caption=caption, languages=OURS), theme="dark"
    )
    page.page.get_by_label("white ground").check()
    file = page.save("SVG", tmp_path).read_text(encoding="utf-8")
    root = ET.fromstring(file)
    assert next(root.iter(f"{SVG}rect")).get("fill") == "#ffffff"
    said = " ".join(plain(node.text or "") for node in root.iter(f"{SVG}text"))
    assert all(sentence in said for sentence in caption)
    light = set(head_colors("cross", "light")[:2])
    assert {node.get("stroke") for node in root.iter(f"{SVG}path")} == light
    assert (page.theme, page.page.locator(".hl-unseen table").count()) == ("dark", 1)
    # a reader without the page's face has a wider one: no word grows
    other = re.sub(r'font-family="[^"]*"', 'font-family="monospace" letter-spacing="4"', file)
    drawn = page.page.evaluate(
        """(file) => {
            document.body.innerHTML = file;
            return [...document.querySelectorAll("text")].map((node) =>
                [node.getBBox().width, Number(node.getAttribute("textLength"))]);
        }""",
        other,
    )
    assert len(drawn) > 12
    assert all(abs(wide - meant) < 1 for wide, meant in drawn)


def test_long_lists_scroll_in_themselves_and_stay_quick(still):
    words = tuple(f"▁w{n}" for n in range(64))
    labels = Labels(words, words)
    rng = np.random.default_rng(0)
    heads = [
        (f"H{n}", rng.dirichlet(np.ones(64) / 4, size=64).astype(np.float32)) for n in range(8)
    ]
    page = still(encode_ribbons(heads, labels, "encoder_self", languages=OURS), width=390)
    assert page.of_view("plan")["row"] == 16
    assert page.scroll.bounding_box()["height"] == 800
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.press("ArrowDown", "End")
    last = [word for word in page.words() if word["text"] == "w63"]
    assert all(0 < word["y"] < 800 for word in last)
    assert last
    times = page.page.evaluate("""() => [...Array(3)].map(() => {
        const start = performance.now();
        document.querySelector("[type=checkbox]").click();
        return performance.now() - start;
    })""")
    assert min(times) < 1000  # all ribbons anew; a hover redraws one word's alone
