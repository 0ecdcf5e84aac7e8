"""Every lesson in a real Chromium: played by keyboard alone, and the layout of each card."""

import argparse
import time
from collections import Counter
from typing import Any

from benchmarks import machine
from benchmarks.browser import chromium
from tests.browser.lesson_layout import SIZES, measure
from tests.browser.lesson_player import Player, Score
from tests.server import served
from transformer import Translator
from viz.app.lessons import library
from viz.lessons.grading import answer_key

SCREENS = ((1280, 720), (390, 844))  # width and height in CSS pixels


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks lessons`."""
    parser = commands.add_parser(
        "lessons", help="every lesson by keyboard, and every card's layout"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of lessons; all unless given")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play and measure, and print what was reached; the status is 1 if anything failed."""
    print(machine.describe())
    translator = Translator.load()
    lessons = library.read_offered().lessons
    played, laid_out, failures = [], [], []
    with chromium() as browser, served() as server:
        page = browser.new_page(reduced_motion="reduce")
        for name in options.names or lessons:
            lesson = lessons[name]
            key = list(answer_key(lesson, translator))
            for width, height in SCREENS:
                # others are behind its name in the menu
                screen = {"viewport": {"width": width, "height": height}, "locale": lesson.language}
                began, score = time.monotonic(), Score()
                failed = Player(browser, screen, server.address, lesson, score).play(key)
                seconds = f"{time.monotonic() - began:.0f}"
                played.append((name, width, len(key), *vars(score).values(), seconds))
                print(*played[-1], flush=True)
                failures += [f"{name}, {width} px, {problem}" for problem in failed]
            faults = list(measure(page, lambda view: page.goto(f"{server.address}/{view}"), lesson))
            count = Counter(size for size, _ in faults)
            laid_out.append((name, len(lesson.cards), *(count[size] for size in SIZES)))
            failures += [f"{name}, {w}×{h}, {text}" for (w, h), text in faults]
    header = ("lesson", "width", "cards", *vars(Score()), "seconds")
    print(machine.table(header, played))
    sizes = (f"faults at {width}×{height}" for width, height in SIZES)
    print(machine.table(("lesson", "cards", *sizes), laid_out), *failures, sep="\n")
    return 1 if failures else 0
