"""The paper's pages in a real Chromium: from a control to the redrawn picture, for 20 words."""

import argparse
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from benchmarks.browser import chromium
from benchmarks.machine import describe, spread
from tests.server import served
from transformer import Translator
from transformer.cli.arguments import whole_number

if TYPE_CHECKING:
    from playwright.sync_api import Page

SENTENCE = (
    "A young man in a blue jacket is carrying a heavy box across the street while two dogs "
    "are running."
)
COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "many")
"""In the place of “two”, where each click has a sentence of its own."""
WARM_UP = 2  # clicks that warm up what every later one finds warm

# notes when a picture was last touched: a canvas that is drawn on, a drawing of Vega or Plotly that
# changes; to read the pixels instead would take longer than the page does
NOTE = """() => {
  window.lastDrawn = 0;
  window.noted = performance.now();
  const note = () => (window.lastDrawn = performance.now());
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ["fillRect", "fillText", "drawImage", "putImageData", "stroke", "fill"]) {
    const draw = canvas[name];
    canvas[name] = function () { note(); return draw.apply(this, arguments); };
  }
  const drawing = "svg.marks, svg.main-svg";
  const drawn = (node) => node.closest?.(drawing) || node.querySelector?.(drawing);
  new MutationObserver((changes) => {
    const ours = ({ target, addedNodes }) =>
      target.closest?.(drawing) || [...addedNodes].some(drawn);
    if (changes.some(ours)) note();
  }).observe(document.querySelector(".stMainBlockContainer"), {
    subtree: true, childList: true, attributes: true,
  });
}"""
# the last picture counts; one frame later it is on the screen
REDRAWN = """(control) => new Promise((done) => {
  const started = performance.now();
  control.click();
  setTimeout(() => done(Math.max(0, window.lastDrawn - started)), {wait});
})"""
WAIT = 1500  # ms that are watched after a click
QUIET = """() => document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]")
  && performance.now() - Math.max(window.lastDrawn, window.noted) > 800"""


class Control(NamedTuple):
    """Two choices between which a page is switched back and forth."""

    page: str
    url: dict[str, str]  # further choices
    label: str
    choices: tuple[str, str]  # selectors of clicks
    menu: str | None = None  # opened before the clock starts
    prefix: str | None = None  # of its translations
    anew: str | None = None  # new text for each click, so that nothing is cached


def _buttons(key: str) -> tuple[str, str]:
    button = f".st-key-{key} button:nth-of-type"
    return f"{button}(1)", f"{button}(2)"


def _cells(key: str, first: int, second: int) -> tuple[str, str]:
    cell = f".st-key-{key} [role=gridcell] >> nth="
    return f"{cell}{first}", f"{cell}{second}"


TAKEN_AWAY, LOST_MASK = {"roles_view": "Remove heads"}, {"mask-view": "remove the mask"}
CONTROLS = (
    Control(
        *("", {}, "another word forced in the editor", (".hl-card [role=option] >> nth=0", "")),
        menu=".hl-editor-field", anew="heavy box",
    ),
    Control(
        *("", {}, "a forced prefix released"),
        (".st-key-release [role=button], .st-key-release button >> nth=0", ""),
        prefix="Ein junge Herr", anew="yellow kite",
    ),
    Control("heads", {}, "another kind", _buttons("kind")),
    *(
        Control(
            *("heads", {}, f"another lens: {lens}", (f"[role=option] >> text='{lens}'", "")),
            menu=".st-key-lens input", anew="heavy box",
        )
        for lens in ("norms", "ALTI", "value zeroing")
    ),
    Control("inside", {}, "another kind", _buttons("kind")),
    Control("masks", {}, "another use of attention", _buttons("kind")),
    Control(
        *("roles", TAKEN_AWAY, "another head switched off or on", _cells("roles-grid", 3, 19)),
        anew="heavy box",
    ),
    Control("masks", LOST_MASK, "another mask removed", _buttons("kind")),
    Control(
        "positions", {"pe_view": "Rotation"}, "all 512 × 512 numbers of M_k", _buttons("pe_part")
    ),
    Control("positions", {"pe_view": "Your sentence"}, "another stack", _buttons("pe_stack")),
    Control("schedule", {}, "other axes", _buttons("axes")),
    Control(
        *("architecture", {}, "another box opened"),
        (".st-key-arch-drawing .hl-box >> nth=3", ".st-key-arch-drawing .hl-box >> nth=6"),
    ),
    Control("figure2", {}, "the matrices of another kind", _buttons("kind")),
    Control("self_attention", {}, "another column of Table 1", _buttons("arch_quantity")),
    Control("additive", {}, "another kind", _buttons("kind")),
    Control(
        *("hooks", {}, "another box opened"),
        (".st-key-hooks-drawing .hl-box >> nth=4", ".st-key-hooks-drawing .hl-box >> nth=6"),
    ),
)  # fmt: skip


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks pages`."""
    parser = commands.add_parser("pages", help="from a control to the redrawn picture, in Chromium")
    parser.add_argument(
        "--clicks", type=whole_number(1, len(COUNTS) - WARM_UP), default=3,
        help="measured of each control",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    print(describe())
    with chromium() as browser, served() as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for control in CONTROLS:
            clicks = range(options.clicks + WARM_UP)
            seconds = [_seconds(page, server.address, control, n) for n in clicks][WARM_UP:]
            name = control.page or "translate"
            print(f"{name}, {control.label}: {spread(seconds)}", flush=True)


@cache
def _in_pieces(text: str) -> str:
    """As the address has it, in pieces of the bundled model."""
    return " ".join(piece.text for piece in Translator.load().target_tokenizer.pieces(text))


def _seconds(page: "Page", address: str, control: Control, click: int) -> float:
    """From one click to the last picture that it redraws."""
    if control.anew or not click:
        text = SENTENCE
        if control.anew:
            text = text.replace("heavy box", control.anew).replace("two", COUNTS[click])
        url = {"text": text, **control.url}
        if control.prefix:
            url["prefix"] = _in_pieces(control.prefix)
        page.goto(f"{address}/{control.page}?{urlencode(url)}")
        page.locator(".st-key-explanation").wait_for(state="attached")
        page.evaluate(NOTE)
        page.wait_for_function(QUIET)  # all that is drawn first is there
    if control.menu:
        if not page.locator(control.menu).is_visible():
            page.get_by_role("button", name="Options", exact=True).click()
        page.locator(control.menu).click()
    choice = page.locator(control.choices[0 if control.anew else (click + 1) % 2])
    choice.wait_for()
    return float(choice.evaluate(REDRAWN.replace("{wait}", str(WAIT)))) / 1000
