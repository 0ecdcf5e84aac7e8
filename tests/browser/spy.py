"""Pictures painted on a page's canvases, seen from outside: the components tell nothing of it.

`SPY` runs before the page's own scripts. It hands what the Content-Security-Policy refuses to the
binding `refused`, if the page has that. Each canvas then has `painted`, what was painted on it
since it was last cleared, in CSS pixels of the canvas: its `words`, and its `pictures`, parts of
rasters with the places where they were put, the last one as `picture` too.
"""

import functools
import re

import numpy as np

from tests.browser_colors import browser_table
from viz.draw.palette import COLOR, ENDS, table

SPY = """
(() => {
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sourceFile }) =>
        window.refused?.(`${effectiveDirective}: ${blockedURI} in ${sourceFile}`));
    const { prototype } = CanvasRenderingContext2D;
    const before = (name, act) => {
        const original = prototype[name];
        prototype[name] = function (...given) {
            act(this, ...given);
            return original.apply(this, given);
        };
    };
    const placing = (context) => {
        const ratio = context.canvas.width / parseFloat(context.canvas.style.width);
        const matrix = context.getTransform();
        return (x, y) => {
            const at = matrix.transformPoint({ x, y });
            return [at.x / ratio, at.y / ratio];
        };
    };
    const place = (context, x, y) => placing(context)(x, y);
    let pen;
    // words are measured where a test asks for them: most frames are never read
    class Painted {
        pictures = [];
        written = [];
        get words() {
            pen ??= document.createElement("canvas").getContext("2d");
            return this.written.map(({ text, x, y, room, font, textAlign, placed }) => {
                pen.font = font;
                const wide = Math.min(pen.measureText(text).width, room); // longer is squeezed
                const left = { left: 0, center: wide / 2, right: wide }[textAlign];
                const [anchor, start, end] = [0, -left, wide - left].map((by) => placed(x + by, y));
                return {
                    text: text.replace(/[\\u2066-\\u2069]/g, ""), x: anchor[0], y: anchor[1],
                    start, end, size: parseFloat(/([\\d.]+)px/.exec(font)[1]),
                    bold: font.startsWith("600"),
                };
            });
        }
    }
    const painted = ({ canvas }) => (canvas.painted ??= new Painted());
    before("clearRect", (context) => { context.canvas.painted = null; });
    before("fillText", (context, text, x, y, room = Infinity) => {
        const { font, textAlign } = context;
        painted(context).written.push(
            { text, x, y, room, font, textAlign, placed: placing(context) });
    });
    before("drawImage", (context, raster, left, top, wide, high, x, y, width, height) => {
        if (height === undefined) return; // a layer or a tile
        const [from, to] = [place(context, x, y), place(context, x + width, y + height)];
        const on = painted(context);
        on.picture = { raster, left, top, wide, high, from, to };
        on.pictures.push(on.picture);
    });
})();
"""

# the picture on a canvas: where its first square stands (if it were not scrolled away), width and
# height of a square, and what of the raster is there, as rows of colours
PICTURE = """(canvas) => {
    const picture = canvas.painted?.picture;
    if (!picture) return null;
    const { raster, left, top, wide, high, from: [x, y], to: [right, foot] } = picture;
    const [across, square] = [(right - x) / wide, (foot - y) / high];
    const { data } = raster.getContext("2d").getImageData(left, top, wide, high);
    return {
        across, square, x: x - left * across, y: y - top * square, wide, high, colors: [...data],
        words: canvas.painted.words,
    };
}"""


def levels(colors):
    """Colours, `[…, 4]`, as places in the one table that has them all, and its name; 0 is none."""
    colors = np.asarray(colors, dtype=int)
    opaque, packed = colors[..., 3] == 255, _packed(colors)
    for name, (known, places) in _tables().items():
        at = np.minimum(np.searchsorted(known, packed), len(known) - 1)
        if (known[at] == packed)[opaque].all():
            return np.where(opaque, places[at], 0), name
    raise AssertionError("a colour of no table")


@functools.cache
def _tables() -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """The colours of each table as sorted numbers, and the first place of each in it."""
    tables: dict[tuple[str, str], np.ndarray] = {
        (kind, theme): table(kind, theme) for kind in COLOR for theme in ENDS
    }
    tables |= {("difference", theme): browser_table("difference", theme) for theme in ENDS}
    return {name: np.unique(_packed(table), return_index=True) for name, table in tables.items()}


def _packed(colors):
    """Each colour as one number."""
    return np.asarray(colors, dtype=int)[..., :3] @ (1 << 16, 1 << 8, 1)


def level_of(weights):
    """The places of weights in the table of their kind, as the browser rounds them."""
    return np.floor(255 * weights.astype(np.float64) + 0.5)


def map_on(canvas):
    """The large map on a canvas (a locator): its words and the level of each square, or None.

    `origin` is {x, y, across, square}. The rows of cross-attention are named by what they write, if
    known.
    """
    picture = canvas.evaluate(PICTURE)
    if picture is None:
        return None
    shape = picture["high"], picture["wide"]
    x, y = picture["x"], picture["y"]
    words = picture["words"]
    head = min((word["y"] for word in words), default=0)
    end = x + picture["wide"] * picture["across"]
    sides = {
        "queries": [word for word in words if word["x"] < x and word["y"] > y],
        "keys": [word for word in words if word["x"] >= x and word["y"] == head],
        "writes": [word for word in words if word["x"] > end and word["y"] > y],
    }
    places, which = levels(np.reshape(picture["colors"], (*shape, 4)))
    if which[0] == "cross" and sides["writes"]:
        sides["queries"] = sides["writes"]
    return {
        "origin": {"x": x, "y": y, "across": picture["across"], "square": picture["square"]},
        "queries": [word["text"] for word in sides["queries"]],
        "keys": [word["text"] for word in sides["keys"]],
        "levels": places,
        "table": which,
    }


def middle_of(canvas, query, key):
    """The middle of a square of the large map, in CSS pixels of its canvas."""
    origin = map_on(canvas)["origin"]
    return {
        "x": origin["x"] + (key + 0.5) * origin["across"],
        "y": origin["y"] + (query + 0.5) * origin["square"],
    }


def plain(text):
    """A text without the marks that keep the direction of a word."""
    return re.sub("[\u2066-\u2069]", "", text)
