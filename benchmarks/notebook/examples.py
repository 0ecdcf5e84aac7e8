"""BertViz's own examples in BertViz and here: size of an output, and seconds until it is drawn.

The models are those of BertViz's examples, with random weights. Both sides draw the same arrays in
the same Chromium, in turns. The libraries that BertViz's pages load from a CDN come from this
machine, so no network is in its figures; without them only its bytes and its writing are measured.
"""

import argparse
import contextlib
import json
import math
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.browser import chromium
from benchmarks.machine import describe, spread
from benchmarks.notebook import bertviz
from benchmarks.notebook.lines import (
    ENCODER_DECODER,
    EXPLORE,
    EXPLORE_BOTH,
    LINES,
    MODELS,
    bert,
    check,
    filler,
    ours,
    t5,
    theirs,
    variables,
)
from transformer.cli.arguments import whole_number
from viz.site.serve import server_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

NOTEBOOK = Path(__file__).parents[2] / "examples" / "transformers.ipynb"
"""The one of the three notebooks that the tests do not run, for want of the library."""
PATIENCE = 120.0  # seconds after which a picture counts as not drawn
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


@contextmanager
def served_pages(pages: Mapping[str, bytes]) -> Iterator[tuple[str, Path]]:
    """Serve files on a free port; a context manager that gives its address and their folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in pages.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with server_of(Path(folder), 0) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}", Path(folder)
            server.shutdown()


def draw(browser: Any, output: str, files: Mapping[str, bytes]) -> float | None:
    """Open a page with one output, HTML, in a fresh tab; return the seconds to its first picture.

    The page finds the files, scripts of the CDN, on this machine. Without them it asks the network,
    which it does not get.
    """
    from playwright.sync_api import Error, TimeoutError

    with served_pages(files) as (address, folder):
        own = output.replace(bertviz.CDN, address) if files else output
        (folder / "cell.html").write_text(PAGE.format(own), "utf-8")
        page: Page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(NOTE)
        try:
            page.goto(f"{address}/cell.html", wait_until="commit")
            page.wait_for_function("window.firstPicture", timeout=PATIENCE * 1000)
            return float(page.evaluate("window.firstPicture")) / 1000
        except TimeoutError:
            return None
        except Error as error:  # the tab may have run out of memory
            if "crash" not in str(error).lower():
                raise
            return None
        finally:
            page.close()


LONG = 15.0  # seconds of drawing after which it is not done again
ALONE = "outputs.attentions, tokens"  # arguments of BertViz's views for a model of one stack


class Case(NamedTuple):
    """A model with its text: what a person has in the notebook, and lines by their view."""

    title: str
    variables: dict[str, Any]
    lines: dict[str, str]


class Figures(NamedTuple):
    """Bytes of an output, seconds to write it, and to draw it unless it is not drawn."""

    size: int
    written: float
    drawn: float | None


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks notebook`."""
    parser = commands.add_parser("notebook", help="BertViz's examples there and here, in Chromium")
    parser.add_argument("--tokens", type=whole_number(3), nargs="*", default=[20, 64, 128])
    parser.add_argument("--turns", type=whole_number(1), default=3)
    parser.add_argument(
        "--libraries", type=Path, metavar="DIR", help=f"for BertViz's pages: {bertviz.INSTALL}"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run every line of the table, measure, and print."""
    files = bertviz.libraries(options.libraries) if options.libraries else {}
    print(describe())
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        names = {name: variables(make()) for name, make in MODELS.items()}
        for line in LINES:
            check(line, names[line.model])
    print(f"{len(LINES)} lines of {Path(__file__).with_name('lines.md')}, all of them run")
    _run_notebook(NOTEBOOK)
    print(f"{NOTEBOOK}, all of it run\n")
    with chromium() as browser:
        print(f"Chromium {browser.version}, headless, {os.cpu_count()} cores")
        for case in _cases(names, options.tokens):
            _print_case(browser, case, files, options.turns)


def _run_notebook(path: Path) -> None:
    """Run the code of a notebook; a cell that fails ends it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), namespace)


def _cases(names: Mapping[str, dict[str, Any]], lengths: list[int]) -> Iterator[Case]:
    """BertViz's examples, then 12 layers of 12 heads over more and more tokens."""
    for title, name, arguments, line in (
        ("BERT, a sentence pair", "pair", f"{ALONE}, sentence_b_start", EXPLORE),
        ("GPT-2", "gpt2", ALONE, EXPLORE),
        ("T5, all three kinds", "t5", ENCODER_DECODER, EXPLORE_BOTH),
    ):
        count = len(names[name]["tokens"])
        yield Case(f"{title}, {count} tokens", names[name], _lines(arguments, line))
    for n in lengths:
        model = bert([filler(n - 2)])
        yield Case(f"BERT, {n} tokens", variables(model), _lines(ALONE, EXPLORE))
    for n in lengths:
        model = t5(filler(n - 1), filler(n - 1))
        lines = _lines(ENCODER_DECODER, EXPLORE_BOTH)
        yield Case(f"T5, all three kinds, {n} + {n} tokens", variables(model), lines)


def _lines(arguments: str, line: str) -> dict[str, str]:
    return {view: f"{view}({arguments})" for view in bertviz.VIEWS} | {"explore": line}


def _print_case(browser: Any, case: Case, files: Mapping[str, bytes], turns: int) -> None:
    """Each view in turn, so that what else the machine does falls on all of them."""
    figures: dict[str, list[Figures]] = {view: [] for view in case.lines}
    for _ in range(turns):
        for view, line in case.lines.items():
            before = figures[view]
            if before and (before[-1].drawn or 0) > LONG:
                continue
            make = theirs if view != "explore" else _ours
            started = time.perf_counter()
            output = make(line, case.variables)
            written, drawn = time.perf_counter() - started, None
            if files or view == "explore":
                drawn = draw(browser, output, files) or math.inf
            figures[view].append(Figures(len(output.encode()), written, drawn))
    print(case.title)
    for view, turns_of_view in figures.items():
        print(f"  {view}: {_described(turns_of_view)}", flush=True)


def _ours(line: str, names: dict[str, Any]) -> str:
    return str(ours(line, names)._repr_html_())


def _described(turns: list[Figures]) -> str:
    written = statistics.median(turn.written for turn in turns)
    text = f"{turns[0].size / 1e6:.2f} MB, written in {written:.2f} s"
    drawn = [turn.drawn for turn in turns if turn.drawn is not None]
    if not drawn:
        return f"{text}, not drawn: no --libraries"
    if math.isinf(statistics.median(drawn)):
        return f"{text}, nothing drawn within {PATIENCE:.0f} s"
    return f"{text}, first picture after: {spread(drawn)}"
