"""The pictures of README and documentation, taken of the app: stills, and one that moves."""

import argparse
import io
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from PIL import Image

from benchmarks.browser import chromium
from tests.server import ROOT, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = ROOT / "assets" / "images"
SIZE = (1280, 720)
FRAME, HOLD = 75, 2500  # milliseconds of a frame of the moving picture, and of its last one
QUALITY = 60


class Picture(NamedTuple):
    """Picture of a view of the app."""

    name: str
    path: str
    query: Mapping[str, str | Sequence[str]]  # parameters in the URL
    ready: str = "canvas"  # selector of what is drawn last
    part: str = ""  # selector of the picture; all of the screen if empty


KEYS = {"text": "The man who lost his keys is waiting in front of the house."}
REMOVED = {
    "roles_view": "Remove heads",
    "removed": "L6 H1 cross,L2 H5 cross",
    "kind": "cross-attention",
}
SNOW = {"lesson": "snow.en", "card": "1", "kind": "cross-attention", "layer": "4", "head": "5"}
PICTURES = (
    Picture("heads", "heads", {}),
    Picture("compare", "heads", {"view": "compare", "with": "another head"}),
    Picture(
        "ribbons",
        "heads",
        {"layer": "2", "head": "5", "over": ["L3 H8", "L4 H4"]},
        part=".st-key-heads-ribbons",
    ),
    Picture("inside", "inside", {}),
    Picture("roles", "roles", {}, ".st-key-measured-map"),
    Picture("take-away", "roles", KEYS | REMOVED),
    Picture("corpus", "corpus", {}, "[data-testid=stVegaLiteChart]"),
    Picture("masks", "masks", {"mask-view": "who sees whom"}),
    Picture("architecture", "architecture", {}),
    Picture("forming", "training", {"step": "12"}, ".hl-player-says"),
    Picture("lesson", "heads", SNOW),
    Picture("present", "heads", SNOW | {"present": "1"}),
    Picture("puzzle", "roles", {"lesson": "puzzles.en", "card": "3", "roles_view": "Remove heads"}),
)


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks pictures`."""
    parser = commands.add_parser("pictures", help="the pictures of README and documentation, anew")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a picture; all unless given")
    parser.add_argument("--out", type=Path, default=IMAGES, metavar="DIR")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Take the pictures."""
    guide = (ROOT / "docs" / "guides" / "own-lesson.md").read_text("utf-8")
    lesson = re.search(r"````markdown\n(.*?)````", guide, re.DOTALL)
    assert lesson, "the guide of own lessons begins with one"
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        Path(folder, "snow.en.md").write_text(lesson[1], "utf-8")
        environment = {"HEADLIGHT_LESSONS": folder}
        command = ["headlight", "app", "--port", "{port}"]
        with running(command, environment=environment) as server:
            size = {"width": SIZE[0], "height": SIZE[1]}
            for picture in PICTURES:
                if picture.name in (options.names or [picture.name]):
                    page = browser.new_page(viewport=size, reduced_motion="reduce")
                    _visit(page, server.address, picture)
                    shown = page.locator(picture.part).first if picture.part else page
                    _save_still(shown.screenshot(), options.out / f"{picture.name}.png")
                    page.close()
            if "watch" in (options.names or ["watch"]):
                page = browser.new_page(viewport=size, reduced_motion="no-preference")
                _save_moving(list(_frames(page, server.address)), options.out / "watch.webp")


def _visit(page: "Page", address: str, picture: Picture) -> None:
    page.goto(f"{address}/{picture.path}?{urlencode(picture.query, doseq=True)}")
    page.locator(".st-key-explanation").wait_for(state="attached", timeout=60_000)
    page.locator(picture.ready).first.wait_for()
    page.wait_for_timeout(2500)  # charts are fitted to their width, and fade in


def _frames(page: "Page", address: str) -> Iterator[bytes]:
    """Yield the frames of *Watch it translate* as it plays on a clock that is moved by hand."""
    _visit(page, address, Picture("watch", "", {"step": "1"}, ".hl-player-says"))
    page.clock.install(time=0)
    page.clock.pause_at(60_000)
    page.get_by_role("button", name="Play").click()
    while page.get_by_role("button", name="Pause").is_visible():
        yield page.screenshot()
        page.clock.run_for(FRAME)
    yield page.screenshot()


def _save_still(screen: bytes, path: Path) -> None:
    image = Image.open(io.BytesIO(screen)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {image.width} × {image.height}, {path.stat().st_size / 1000:.0f} kB")


def _save_moving(screens: list[bytes], path: Path) -> None:
    first, *others = (Image.open(io.BytesIO(screen)).convert("RGB") for screen in screens)
    durations = [FRAME] * len(others) + [HOLD]
    first.save(
        path, save_all=True, append_images=others, duration=durations, loop=0, quality=QUALITY,
        method=6,
    )  # fmt: skip
    print(f"{path.name}: {len(screens)} frames, {path.stat().st_size / 1000:.0f} kB")
