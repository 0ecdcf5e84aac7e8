"""How long a Chromium takes to draw what a cell of a notebook gives out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.bertviz import CDN

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 120.0
"""Seconds after which a picture counts as not drawn."""
PAGE = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{}</body>"
# A canvas in a frame that is drawn on, or the lines of an SVG: what is there when a frame begins is
# on the screen when the next one begins. Both sides are looked for alike, by one clock.
NOTE = """
if (top === window) {
  window.onCanvas = false;
  const there = () => window.onCanvas || document.querySelector("svg line");
  const look = () => requestAnimationFrame(there() ? seen : look);
  const seen = () => (window.firstPicture = performance.now());
  look();
} else {
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ["fillRect", "fillText", "drawImage", "putImageData", "stroke", "fill"]) {
    const draw = canvas[name];
    canvas[name] = function () {
      if (this.canvas.isConnected) top.onCanvas = true;
      return draw.apply(this, arguments);
    };
  }
}"""


class Drawn(NamedTuple):
    """What came of one output.

    Args:
        seconds: from opening the page to the first picture on the screen; None if none came.
        asked: addresses outside the page that it asked for.
    """

    seconds: float | None
    asked: tuple[str, ...]


@contextmanager
def served_pages(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """A server on a free port; gives its address, and by path what it serves, to be added to."""
    served = {f"/{path}": body for path, body in files.items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = served.get(self.path)
            self.send_response(404 if body is None else 200)
            script = self.path.endswith(".js")
            self.send_header("Content-Type", "text/javascript" if script else "text/html")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", served
    finally:
        server.shutdown()
        server.server_close()


def draw(browser: Any, output: str, files: Mapping[str, bytes], *, patience: float) -> Drawn:
    """Open a page with one output in a fresh tab.

    Args:
        output: HTML.
        files: scripts of the CDN, which the page then finds on this machine; without them it asks
            the network, which it does not get.
        patience: seconds.
    """
    from playwright.sync_api import Error, TimeoutError

    with served_pages(files) as (address, served):
        served["/cell.html"] = PAGE.format(
            output.replace(CDN, address) if files else output
        ).encode()
        page: Page = browser.new_page(viewport={"width": 1440, "height": 900})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.add_init_script(NOTE)
        try:
            page.goto(f"{address}/cell.html", wait_until="commit")
            page.wait_for_function("window.firstPicture", timeout=patience * 1000)
            seconds = float(page.evaluate("window.firstPicture")) / 1000
        except TimeoutError:
            seconds = None
        except Error as error:  # the tab may have run out of memory
            if "crash" not in str(error).lower():
                raise
            seconds = None
        finally:
            page.close()
    outside = (url for url in asked if not url.startswith((address, "about:")))
    return Drawn(seconds, tuple(outside))
