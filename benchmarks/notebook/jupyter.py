"""Explorers in a real JupyterLab: side by side, saved, reopened, trusted or not, light and dark.

Each head of the notebooks made here looks at one known token, so that what is open is read back by
its tokens. The frames of other notebooks are imitated by their sources and documents, without a
run of these programs:

- VS Code puts all outputs into one webview, and with `notebook.experimental.enableCsp` gives it the
  policy below (microsoft/vscode, notebook/browser/view/renderers/backLayerWebView.ts).
- Colab puts each output into a sandboxed frame of its own, on another origin (its notebook
  "Advanced outputs"); at its strictest such a frame has scripts and no origin at all.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.browser import chromium
from benchmarks.notebook.lab import Notebook, lab, write_notebook
from transformer import HeadlightError

if TYPE_CHECKING:
    from playwright.sync_api import Frame

RINGS = """import numpy as np

from transformer import AttentionTrace
from viz.notebook import explore


def ring(layers, heads, queries, keys):
    \"\"\"Each head looks one token further than the one before it, around a ring.\"\"\"
    rows = np.arange(queries)
    weights = np.zeros((layers, heads, queries, keys), dtype=np.float32)
    for n, head in enumerate(weights.reshape(-1, queries, keys)):
        head[rows, (rows + n) % keys] = 1
    return weights


a, b, c = ([f"{letter}{n}" for n in range(size)] for letter, size in zip("abc", (12, 9, 7)))"""


class Ring(NamedTuple):
    """One explorer of a notebook: layers and heads, and the tokens along its axes."""

    code: str
    layers: int
    heads: int
    queries: tuple[str, int]
    keys: tuple[str, int]

    def rows(self, layer: int, head: int) -> list[list[str]]:
        """Read the description of each row of the large map while a head is open."""
        (row, rows), (column, columns) = self.queries, self.keys
        shift = layer * self.heads + head
        return [[f"{row}{n}", f"{column}{(n + shift) % columns}", "1.000"] for n in range(rows)]


FURTHER = "# and further down\n" * 200  # what comes before is out of sight
ENCODER = Ring(
    "explore(AttentionTrace.from_arrays(encoder_self=ring(2, 4, 12, 12), source_tokens=a)",
    2, 4, ("a", 12), ("a", 12),
)  # fmt: skip
CROSS = Ring(
    "explore(AttentionTrace.from_arrays(cross=ring(3, 2, 7, 9), source_tokens=b, target_tokens=c)",
    3, 2, ("c", 7), ("b", 9),
)  # fmt: skip
# what the large map says in words, and the pixels of all pictures
ROWS = """() => [...document.querySelectorAll(".hl-explorer-open table")[0].tBodies[0].rows]
  .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/[\\u2066-\\u2069]/g, "")))"""
PIXELS = """() => [...document.querySelectorAll("canvas")].map((one) => one.toDataURL()).join()"""


def cell(frame: Frame, ring: Ring, layer: int, head: int) -> Any:
    """The small map of one head, from 0."""
    return frame.locator("[role=gridcell]").nth(layer * ring.heads + head)


def rows_of(frame: Frame) -> list[list[str]]:
    """Read the large map in words: of each row its token, where it looks most, how much."""
    rows: list[list[str]] = frame.evaluate(ROWS)
    return rows


def seen(frame: Frame) -> tuple[Any, ...]:
    """The same with the pixels of all pictures."""
    return frame.evaluate(ROWS), frame.evaluate(PIXELS)


VSCODE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:"
)
_PAGE = "<!doctype html><html><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>"


def imitated(output: str) -> dict[str, str]:
    """Return a page for each host, with one output, a cell's HTML, in it."""
    inner = escape(_PAGE.format(head="", body=output))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{VSCODE_POLICY}">'
    return {
        "the policy of VS Code's webview": _PAGE.format(head=policy, body=output),
        "a sandboxed frame with an origin": _framed(inner, "allow-scripts allow-same-origin"),
        "a sandboxed frame without one": _framed(inner, "allow-scripts"),
    }


def _framed(inner: str, sandbox: str) -> str:
    frame = f'<iframe sandbox="{sandbox}" srcdoc="{inner}" style="width:100%;height:90vh"></iframe>'
    return _PAGE.format(head="", body=frame)


INNER = "() => [document.body.scrollHeight, frameElement.clientHeight]"
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks jupyter`."""
    parser = commands.add_parser("jupyter", help="explorers in a real JupyterLab, in Chromium")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Check and print."""
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        print(f"JupyterLab {_version('jupyterlab')}, Chromium {browser.version}")
        look = _Look(browser, Path(place), options.pictures)
        look.side_by_side()
        look.reopened()
        look.untrusted()
        look.exported()
        look.elsewhere()
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            look.themed(theme)
    if look.failed:
        raise HeadlightError(f"{look.failed} of the above do not hold.")


class _Look:
    """One notebook on its way: run and saved, reopened, carried to another person, exported."""

    def __init__(self, browser: Any, place: Path, pictures: Path | None) -> None:
        self.browser, self.place, self.pictures = browser, place, pictures
        self.failed = 0
        self.path = place / "mine" / "two.ipynb"
        self.path.parent.mkdir()
        write_notebook(self.path, [RINGS, f"{ENCODER.code})", f"{CROSS.code})", FURTHER])

    def say(self, text: str, held: bool) -> None:
        """Print one line."""
        print(f"{'yes' if held else 'NO '} {text}", flush=True)
        self.failed += not held

    @contextmanager
    def opened(self, home: str, path: Path, **options: Any) -> Iterator[Notebook]:
        """Start a JupyterLab on the folder of a notebook and open that; a context manager."""
        own = self.place / home
        own.mkdir(exist_ok=True)
        with lab(path.parent, own, **options) as address:
            notebook = Notebook(self.browser, address, path.name)
            try:
                yield notebook
                asked, faults = notebook.asked, notebook.faults
                self.say(f"nothing is asked of the network {asked or ''}", not asked)
                self.say(f"no script fails {faults or ''}", not faults)
            finally:
                notebook.close()

    def side_by_side(self) -> None:
        """Two explorers on one page."""
        with self.opened("home", self.path) as notebook:
            notebook.run_all(4)
            first, second = _ready(notebook, 2)
            self.say("both explorers of one page are drawn", True)
            before = seen(second)
            cell(first, ENCODER, 1, 2).click()
            self.say(
                "a click opens L2 H3 in the first: every row under its right token",
                rows_of(first) == ENCODER.rows(1, 2),
            )
            self.say("the second stays as it was, pixel for pixel", seen(second) == before)
            before = seen(first)
            cell(second, CROSS, 0, 0).focus()
            notebook.page.keyboard.press("ArrowDown")
            notebook.page.keyboard.press("Enter")
            self.say(
                "by keyboard L2 H1 opens in the second, and JupyterLab keeps its own keys",
                rows_of(second) == CROSS.rows(1, 0),
            )
            self.say("the first stays as it was", seen(first) == before)
            heights = [frame.evaluate(INNER) for frame in (first, second)]
            self.say(
                f"each frame is as high as its content: {heights}",
                all(0 <= high - inner <= 8 for inner, high in heights),
            )
            self._picture(notebook, "side-by-side")
            notebook.save()
        size = self.path.stat().st_size / 1e3
        stored = _outputs(self.path)
        self.say(f"the saved notebook holds both outputs, {size:.0f} kB", len(stored) == 2)

    def reopened(self) -> None:
        """The saved notebook, by a new server and a new tab of the same person."""
        shutil.rmtree(self.place / "home" / "settings")
        with self.opened("home", self.path) as notebook:
            first, second = _ready(notebook, 2)
            self.say("reopened: both are drawn without running a cell", _drawn([first, second]))
            cell(first, ENCODER, 1, 1).click()
            self.say("and heads open in them", rows_of(first) == ENCODER.rows(1, 1))
            notebook.page.locator(".jp-CodeCell").last.get_by_text("further").last.hover()
            notebook.page.wait_for_timeout(3000)
            first, _ = _ready(notebook, 2)
            held = rows_of(first) == ENCODER.rows(1, 1)
            self.say("scrolled far down and back, the same head is open", held)

    def untrusted(self) -> None:
        """The same file with a person whose JupyterLab did not make it."""
        theirs = self.place / "theirs"
        theirs.mkdir()
        shutil.copy(self.path, theirs)

        with self.opened("other", theirs / self.path.name) as notebook:
            notebook.page.wait_for_timeout(3000)
            outputs = notebook.page.locator(".jp-OutputArea-output")
            texts = [text.strip() for text in outputs.all_inner_texts()]
            self.say("not trusted: no script of the file runs", not notebook.frames())
            self.say(f"and the output says so: {texts[:1]}", all(texts) and bool(texts))
            self._picture(notebook, "untrusted")
            notebook.page.keyboard.press("Escape")
            notebook.page.keyboard.press("Control+Shift+C")
            palette = notebook.page.locator(".lm-CommandPalette-input")
            palette.fill("Trust Notebook")
            palette.press("Enter")
            notebook.page.locator(".jp-Dialog .jp-mod-accept").click()
            self.say("after “Trust Notebook” both are drawn", _drawn(_ready(notebook, 2)))

    def exported(self) -> None:
        """Convert the saved notebook to one HTML file with nbconvert."""
        subprocess.run(
            [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level=ERROR", self.path],
            check=True,
        )
        page = self.browser.new_page(offline=True)
        page.goto(self.path.with_suffix(".html").as_uri())
        page.locator("iframe").first.wait_for()
        frames = [frame for frame in page.frames if frame != page.main_frame]
        for frame in frames:
            frame.locator("[role=gridcell]").first.wait_for()
        self.say("as HTML by nbconvert, opened offline: both are drawn", _drawn(frames))
        page.close()

    def elsewhere(self) -> None:
        """The frames that other notebooks put around an output."""
        names: dict[str, Any] = {}
        exec(RINGS, names)
        output = eval(f"{ENCODER.code})", names)._repr_html_()
        for host, text in imitated(output).items():
            page = self.browser.new_page(viewport={"width": 1440, "height": 1000})
            faults: list[str] = []
            page.on("pageerror", lambda fault, faults=faults: faults.append(str(fault)))
            path = self.place / "host.html"
            path.write_text(text, "utf-8")
            page.goto(path.as_uri())
            page.wait_for_timeout(2000)
            frame = page.frames[-1]  # the innermost
            cell(frame, ENCODER, 1, 2).click()
            held = rows_of(frame) == ENCODER.rows(1, 2) and not faults
            self.say(f"imitated, {host}: drawn, and L2 H3 opens {faults or ''}", held)
            page.close()

    def themed(self, theme: Any) -> None:
        """Explorers of each theme in JupyterLab's own."""
        folder = self.place / theme
        folder.mkdir()
        names = ("light", "dark", "auto")
        path = folder / "themes.ipynb"
        write_notebook(path, [RINGS, *(f"{ENCODER.code}, theme={name!r})" for name in names)])

        with self.opened(f"{theme} home", path, theme=theme) as notebook:
            notebook.run_all(4)
            frames = _ready(notebook, 3)
            papers = [frame.evaluate(BACKGROUND) for frame in frames]
            held = len(set(papers[:2])) == 2
            description = ", ".join(f"{n} {paper}" for n, paper in zip(names, papers, strict=True))
            self.say(f"{theme}: {description}", held)
            follows = papers[2] == papers["Dark" in theme]
            self.say(f"{theme}: auto is as the notebook around it", follows)
            self._picture(notebook, theme.lower().replace(" ", "-"))

    def _picture(self, notebook: Notebook, name: str) -> None:
        if self.pictures:
            notebook.page.screenshot(path=self.pictures / f"{name}.png")


def _ready(notebook: Notebook, count: int) -> list[Frame]:
    """The explorers on the page, when all of them are drawn."""
    notebook.page.locator(".jp-OutputArea-output iframe").first.wait_for(timeout=60_000)
    for _ in range(50):
        frames = notebook.frames()
        if len(frames) == count:
            break
        notebook.page.wait_for_timeout(200)
    for frame in frames:
        frame.locator("[role=gridcell]").first.wait_for(timeout=60_000)
    notebook.page.wait_for_timeout(500)  # the heights have found their way out
    return frames


def _drawn(frames: list[Frame]) -> bool:
    return [rows_of(frame) for frame in frames] == [ENCODER.rows(0, 0), CROSS.rows(0, 0)]


def _outputs(path: Path) -> list[str]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    outputs = (output.get("data", {}) for cell in cells for output in cell["outputs"])
    pages = ("".join(data.get("text/html", ())) for data in outputs)
    return [page for page in pages if "srcdoc" in page]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError as error:
        raise HeadlightError(
            "JupyterLab is not installed: pip install -e '.[bench]', then look again."
        ) from error
