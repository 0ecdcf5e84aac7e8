"""A grid of heads of which each looks at one square that no other head of its kind looks at.

Where it lights up is read from the pixels, by the colour of its weight on the scale of its kind, at
the place of its cell.
"""

import io

import numpy as np
from PIL import Image

from tests.browser.components import COMPONENTS, js_bytes
from transformer.analysis.heads.head import Head
from transformer.trace import Labels
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.palette import table

LAYERS, HEADS = 2, 4
SELECTED = Head("cross", 1, 2)
HOT = 0.913
NAMES = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}

SVG = "{http://www.w3.org/2000/svg}"

# each map's lit pixels as fractions of the map: left, right, top, bottom; then its size in pixels
LIT = """(frame, colors) => {
    const canvas = frame.querySelector("canvas");
    const all = canvas.getBoundingClientRect();
    const ratio = canvas.width / all.width;
    const found = {};
    for (const node of frame.querySelectorAll("[role=gridcell]")) {
        const box = node.getBoundingClientRect();
        const [left, top] = [(box.left - all.left) * ratio, (box.top - all.top) * ratio];
        const [wide, high] = [box.width * ratio, box.height * ratio].map(Math.round);
        const { data } = canvas.getContext("2d").getImageData(left, top, wide, high);
        const name = node.getAttribute("aria-label");
        const want = colors[name.split(",")[0]];
        const [xs, ys] = [[], []];
        for (let n = 0; n < wide * high; n++) {
            // a faded pixel keeps its colour but for the rounding
            if (want.some((value, at) => Math.abs(data[4 * n + at] - value) > 2)) continue;
            xs.push(n % wide);
            ys.push(Math.floor(n / wide));
        }
        found[name] = xs.length && [
            Math.min(...xs) / wide, (Math.max(...xs) + 1) / wide,
            Math.min(...ys) / high, (Math.max(...ys) + 1) / high, wide, high,
        ];
    }
    return found;
}"""


def planted_at(number, labels, kind):
    """The square (query, key) that head `number` of a kind looks at."""
    first = list(NAMES).index(kind)
    query = (number * 2 + 1 + first) % len(labels.queries)
    key = (number * 3 + first) % len(labels.keys)
    return (query, min(key, query)) if kind == "decoder_self" else (query, key)


def planted(kind, labels, **options):
    rows, keys = len(labels.queries), len(labels.keys)
    weights = np.full((LAYERS, HEADS, rows, keys), 0.05, dtype=np.float32)
    for number in range(LAYERS * HEADS):
        weights[(*divmod(number, HEADS), *planted_at(number, labels, kind))] = HOT
    if kind == "decoder_self":
        weights = np.tril(weights)
    return GridPart(kind, weights, labels, **options)


def every(queries=9, keys=7, **options):
    """All three kinds for a sentence of so many tokens."""
    source = tuple(f"▁s{n}" for n in range(keys))
    target = tuple(f"▁t{n}" for n in range(queries))
    sides = {
        "encoder_self": Labels(source, source),
        "decoder_self": Labels(target, target),
        "cross": Labels(target, source),
    }
    return [planted(kind, labels, **options) for kind, labels in sides.items()]


def ink(kind, theme="light"):
    return table(kind, theme)[round(255 * HOT)].tolist()


def label(kind, layer, head):
    return f"{NAMES[kind]}, layer {layer + 1}, head {head + 1}"


def open_grid(browser, parts, *, wide=460, order=None, step=None, **options):
    """The grid on a page with no server at all; what is picked is kept in `window.picked`."""
    page = browser.new_page(viewport={"width": wide, "height": 900}, offline=True, **options)
    page.set_default_timeout(10_000)
    page.faults = []
    page.on("pageerror", lambda fault: page.faults.append(fault))
    content = encode_grid(parts, selected=SELECTED, order=order, step=step)
    page.set_content(
        f"""<style>:root {{ color-scheme: light dark }} body {{ margin: 0 }}</style>
        <main></main><script type="module">{COMPONENTS}
        const bytes = {js_bytes(content)};
        window.picked = [];
        window.again = (change) => {{ // it answers nothing: playwright calls what is a function
            const message = decode(bytes);
            Object.assign(message.meta, change);
            window.view = renderMessage(document.querySelector("main"), message,
                {{ onSelect: (head) => window.picked.push(head) }});
        }};
        window.again();</script>"""
    )
    page.locator("[role=gridcell]").first.wait_for()
    return page


def edges(token, count):
    """Where the cell of a token begins and ends, as fractions of the side of a map."""
    block = -(-count // 128)  # of tokens that share a cell
    cells = -(-count // block)
    return token // block / cells, (token // block + 1) / cells


def lit(page, parts, theme="light"):
    """Each map's lit pixels, by the name of its cell, as `LIT` answers."""
    colors = {NAMES[part.kind]: ink(part.kind, theme) for part in parts}
    return page.locator(".hl-grid-box").evaluate(LIT, colors)


def check_lit(page, parts, heads=None, theme="light"):
    """Each head that is shown, and no other, lights up at its own square."""
    found = lit(page, parts, theme)
    expected = {}
    for part in parts:
        rows, keys = part.weights.shape[2:]
        for number in range(LAYERS * HEADS):
            head = (part.kind, *divmod(number, HEADS))
            if heads is None or head in heads:
                query, key = planted_at(number, part.labels, part.kind)
                expected[label(*head)] = [*edges(key, keys), *edges(query, rows)]
    assert set(found) == set(expected)
    for name, place in expected.items():
        assert found[name], f"{name} is not lit"
        *at, wide, high = found[name]
        pixels = np.array([wide, wide, high, high])
        assert np.abs((np.array(at) - place) * pixels).max() <= 1, name


def focused(page):
    return page.evaluate("""() => {
        let node = document.activeElement;
        while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
        return node.getAttribute("aria-label");
    }""")


def saved(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save as {name}").click()
    assert waiting.value.suggested_filename == f"headlight-heads.{name.lower()}"
    return waiting.value.path().read_bytes()


def images(root):
    return {one.findtext(f"{SVG}title"): one for one in root.iter(f"{SVG}image")}


def texts(root):
    return list(root.iter(f"{SVG}text"))


def pixels(png):
    """As `[y, x, color]`."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
