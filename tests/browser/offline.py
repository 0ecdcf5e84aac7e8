"""Pages without a server: one component, a saved page, the frame of a notebook."""

import base64
import re
from pathlib import Path

import headlight
from tests.browser.spy import map_on, middle_of, plain
from viz.draw.labels import SCREEN_NAMES

(_SCRIPT,) = (Path(headlight.__file__).parent / "browser").glob("headlight-*.js")
INK, PAPER = {"light": "#1F2123", "dark": "#E8E8E6"}, {"light": "#FCFCFB", "dark": "#131415"}
SVG = "{http://www.w3.org/2000/svg}"


def js_bytes(content: bytes) -> str:
    """An expression for a Uint8Array."""
    text = base64.b64encode(content).decode()
    return f'Uint8Array.from(atob("{text}"), (byte) => byte.charCodeAt(0))'


# statements that load the components as a page without a network can
_ADDRESS = "data:text/javascript;base64," + base64.b64encode(_SCRIPT.read_bytes()).decode()
COMPONENTS = f'const {{ render }} = await import("{_ADDRESS}");'


def open_save_menu(root):
    """Open the menu under a picture, which stays open where it is."""
    root.locator(".hl-save").first.evaluate("menu => menu.open = true")


def save(root, form, folder):
    """Save a picture by its menu, as a file of its own name in `folder`."""
    open_save_menu(root)
    button = root.get_by_role("button", name=f"Save as {form}")
    with button.page.expect_download() as download:
        button.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


class Still:
    """A page that shows one component; what it tells its host is kept."""

    def __init__(self, page, content, *, width=720, theme="light"):
        self.page, self.theme = page, theme
        page.set_viewport_size({"width": width, "height": 900})
        self.faults: list[object] = []
        page.on("pageerror", lambda fault: self.faults.append(fault))
        document = f"""<style>:root {{ color-scheme: {theme} }} body {{ margin: 0;
            --st-text-color: {INK[theme]}; --st-background-color: {PAPER[theme]} }}</style>
            <main></main><script type="module">{COMPONENTS}
            window.picked = [];
            window.show = (bytes) => {{ render(document.querySelector("main"), bytes,
                {{ onSelect: (value) => picked.push(value) }}); }};</script>"""
        # one page serves many tests; each gets a window of its own
        page.goto("about:blank")
        page.set_content(document)
        self.scroll = page.locator(".hl-scroll")
        self.canvas = page.locator(".hl canvas").first
        self.tip = page.locator(".hl-tip")
        self.live = page.locator("[aria-live].hl-unseen")
        self.show(content)

    def show(self, content):
        """Draw in the same place, as a host does that runs its script again."""
        self.page.wait_for_function("() => window.show")
        self.page.evaluate(f"() => show({js_bytes(content)})")

    def picked(self):
        """Messages of the component to its host."""
        return self.page.evaluate("picked")

    def words(self):
        """The words on the canvas."""
        return self.canvas.evaluate("(canvas) => canvas.painted.words")

    def texts(self):
        return [word["text"] for word in self.words()]

    def bold(self):
        """The words in bold, in the order in which they are drawn."""
        return [word["text"] for word in self.words() if word["bold"]]

    def spot(self, text, nth=0):
        """The middle of a word on the canvas."""
        (left, y), (right, _) = [
            (word["start"], word["end"]) for word in self.words() if word["text"] == text
        ][nth]
        return (left + right) / 2, y - 3

    def square(self, query, key):
        """The middle of a square of the large map."""
        place = middle_of(self.canvas, query, key)
        return place["x"], place["y"]

    def color(self, x, y):
        """The canvas's colour at a place in CSS pixels; paper where nothing is painted."""
        pixel = self.canvas.evaluate(
            """(canvas, [x, y]) => {
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const at = [Math.round(x * ratio), Math.round(y * ratio)];
                return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
            }""",
            [x, y],
        )
        return tuple(pixel[:3]) if pixel[3] else rgb(PAPER[self.theme])

    def move(self, x, y):
        box = self.canvas.bounding_box()
        self.page.mouse.move(box["x"] + x, box["y"] + y)

    def click(self, x, y):
        """Click, and leave the picture."""
        self.move(x, y)
        self.page.mouse.down()
        self.page.mouse.up()
        self.page.mouse.move(1, 890)

    def press(self, *keys):
        self.scroll.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def readout(self):
        """The note beside the pointer."""
        return plain(self.tip.inner_text())

    def read_out(self):
        return plain(self.live.inner_text())

    def fits(self):
        """Return whether the page is no wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def save(self, form, folder):
        return save(self.page, form, folder)


class Saved:
    """A file on disk in a browser, its view of the heads, and all that it asks of the network."""

    def __init__(self, page, path, text, address="", *, frame=False):
        path.write_text(text, encoding="utf-8")
        self.page = page
        page.set_viewport_size({"width": 1440, "height": 1000})
        self.asked: list[str] = []
        self.faults: list[object] = []
        self.heard = {
            "request": lambda request: self.asked.append(request.url.split("#")[0]),
            "pageerror": lambda fault: self.faults.append(fault),
            "dialog": lambda dialog: self.faults.append(dialog.message),
        }
        for event, hear in self.heard.items():
            page.on(event, hear)
        self.address = path.as_uri()
        self.page.goto(f"{self.address}{address}")
        self.root = self.page.frame_locator("iframe") if frame else self.page
        self.cells = self.root.locator("[role=gridcell]")
        self.cells.first.wait_for()
        self.canvas = self.root.locator(".hl-explorer-open .hl-scroll canvas").first
        self.title = self.root.locator(".hl-explorer-open h3").first

    def cell(self, kind, layer, head):
        name = f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}"
        return self.root.get_by_role("gridcell", name=name, exact=True)

    def select(self, kind, layer, head):
        """Open a head, and wait until it is drawn."""
        self.cell(kind, layer, head).click()
        self.root.locator(".hl-explorer-open:not([aria-busy])").wait_for()

    def heads(self):
        """The heads of the view, the open one first."""
        lines = self.root.locator(".hl-explorer-open .hl-switches").inner_text().split("\n")
        return [line.partition(" · ")[0] for line in lines]

    def painted(self):
        """Read the canvas of the large map: see `map_on`."""
        return map_on(self.canvas)

    def readout(self, query, key):
        """The note beside a square of the large map."""
        self.canvas.hover(position=middle_of(self.canvas, query, key))
        return plain(self.root.locator(".hl-explorer-open .hl-tip").first.inner_text())

    def described(self, kind, layer, head):
        """The description of a head in the grid."""
        return plain(self.cell(kind, layer, head).get_attribute("aria-description"))

    def close(self):
        """Nothing failed, and nothing was asked of the network."""
        while self.heard:
            self.page.remove_listener(*self.heard.popitem())
        assert self.faults == []
        assert set(self.asked) <= {self.address, "about:srcdoc"}


def number_of(node, name):
    """A number that an element of a saved SVG has."""
    return float(node.get(name, "nan"))


def words_of(svg):
    """The words of a saved SVG, as `Still.words` gives those on the canvas."""
    words = []
    for node in svg.iter(f"{SVG}text"):
        place = re.match(r"translate\((.*?),(.*?)\)", node.get("transform", ""))
        x, y = place.groups() if place else (number_of(node, "x"), number_of(node, "y"))
        words.append({"text": plain(node.text), "x": float(x), "y": float(y)})
    return words


def rgb(color):
    """`#rrggbb` and `rgb(r, g, b)` as three numbers."""
    if color.startswith("#"):
        return tuple(bytes.fromhex(color[1:]))
    return tuple(int(number) for number in re.findall(r"\d+", color))
