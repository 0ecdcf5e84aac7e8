"""A component on a bare page, without a server: quick to open, and offline."""

import re

from tests.browser.components import COMPONENTS, js_bytes
from tests.browser.spy import plain as plain

INK, PAPER = {"light": "#1F2123", "dark": "#E8E8E6"}, {"light": "#FCFCFB", "dark": "#131415"}

SVG = "{http://www.w3.org/2000/svg}"


class Still:
    """A page that shows one component."""

    def __init__(self, page, content, *, width=720, theme="light"):
        self.page = page
        page.goto("about:blank")  # one page serves many tests; each gets a window of its own
        page.set_viewport_size({"width": width, "height": 900})
        self.faults: list[object] = []
        page.on("pageerror", lambda fault: self.faults.append(fault))
        page.set_content(f"""<style>body {{ margin: 0;
            --st-text-color: {INK[theme]}; --st-background-color: {PAPER[theme]} }}</style>
            <main></main><script type="module">{COMPONENTS}
            window.show = (bytes) => {{
                window.view = render(document.querySelector("main"), bytes);
            }};</script>""")
        self.scroll = page.locator(".hl-scroll")
        self.tip = page.locator(".hl-tip")
        self.show(content)

    def show(self, content):
        """Draw in the same place, as a host does that runs its script again."""
        self.page.wait_for_function("() => window.show")
        self.page.evaluate(f"() => {{ show({js_bytes(content)}); }}")

    def of_view(self, name):
        """A field of the component that `render` returned."""
        return self.page.evaluate(f"() => view.{name}")

    @property
    def theme(self):
        return self.of_view("theme.name")

    def words(self, button=None):
        """All words on the canvas, drawn once more, without the marks that keep their direction.

        The page draws again when it is scrolled, or by the button of this name; all in one call,
        so that no drawing of its own (a size that came late) counts twice.
        """
        return self.page.evaluate(
            """(name) => {
                const button = [...document.querySelectorAll("button")]
                    .find((one) => one.textContent === name);
                window.words.length = 0;
                if (name) button.click();
                else document.querySelector(".hl-scroll").dispatchEvent(new Event("scroll"));
                return window.words;
            }""",
            button,
        )

    def color(self, x, y):
        """The canvas's colour at a place in CSS pixels; paper where nothing is painted."""
        pixel = self.page.evaluate(
            """([x, y]) => {
                const canvas = document.querySelector(".hl-scroll canvas");
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const at = [Math.round(x * ratio), Math.round(y * ratio)];
                return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
            }""",
            [x, y],
        )
        return tuple(pixel[:3]) if pixel[3] else rgb(PAPER["light"])

    def move(self, x, y):
        box = self.scroll.bounding_box()
        self.page.mouse.move(box["x"] + x, box["y"] + y)

    def press(self, *keys):
        self.scroll.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def save(self, form, folder):
        """The saved file, by its own name, in `folder`."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=f"Save as {form}").click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path


def number_of(node, name):
    """A number that an element of a saved SVG has."""
    return float(node.get(name, "nan"))


def words_of(svg):
    """The words of a saved SVG, as `Still.words` gives those on the canvas."""
    found = []
    for node in svg.iter(f"{SVG}text"):
        place = re.match(r"translate\((.*?),(.*?)\)", node.get("transform", ""))
        x, y = place.groups() if place else (number_of(node, "x"), number_of(node, "y"))
        found.append({"text": plain(node.text), "x": float(x), "y": float(y)})
    return found


def rgb(color):
    """`#rrggbb` and `rgb(r, g, b)` as three numbers."""
    if color.startswith("#"):
        return tuple(bytes.fromhex(color[1:]))
    return tuple(int(number) for number in re.findall(r"\d+", color))
