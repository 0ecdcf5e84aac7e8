"""A saved page, or the frame of a notebook, in a browser without a network."""

from tests.browser.spy import map_on, plain
from viz.draw.labels import SCREEN_NAMES


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
        name = f"{SCREEN_NAMES[kind]}, layer {layer + 1}, head {head + 1}"
        return self.root.get_by_role("gridcell", name=name, exact=True)

    def title(self):
        return self.root.locator(".hl-explorer-open h3").inner_text()

    def head(self):
        """The head of the view."""
        return self.root.locator(".hl-explorer-open .hl-switches").inner_text()

    def painted(self):
        """What stands on the canvas of the large map: see `map_on`."""
        return map_on(self.root.locator(".hl-explorer-open .hl-scroll canvas").first)

    def told(self, query, key):
        """What the note says of a square of the large map."""
        origin = self.painted()["origin"]
        at = {
            "x": origin["x"] + (key + 0.5) * origin["square"],
            "y": origin["y"] + (query + 0.5) * origin["square"],
        }
        self.root.locator(".hl-explorer-open .hl-scroll canvas").first.hover(position=at)
        return plain(self.root.locator(".hl-explorer-open .hl-tip").first.inner_text())

    def close(self):
        self.page.close()
