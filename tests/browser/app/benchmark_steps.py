"""The first step of each benchmark that asks a server."""

import time
from itertools import islice
from types import SimpleNamespace

from benchmarks import pages, readers
from tests.benchmarks.first_step import Step


async def _no_times(_server: object) -> dict[str, float]:
    return {}


SCHEDULE = tuple(control for control in pages.CONTROLS if control.page == "schedule")
SOON = pages.QUIET.replace("800", "50")
SENTENCES = readers.sentences
AT_ONCE = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: None)

STEPS = {
    "accessibility": Step("views", ["--pages", "schedule"]),  # test_screens.py looks at them
    "age": Step("_cached", ["--pages", "40", "--sessions", "20"]),
    "app": Step("_seconds", ["--sentences", "1"]),
    "class": Step("_run"),
    "failover": Step(
        "_row",
        ["--sessions", "2"],
        {"PAUSE": 0.2, "sentences": lambda: islice(SENTENCES(), 8)},
    ),
    "firefox": Step("Tab.open", ["--pages", "schedule"], {"time": AT_ONCE}),
    "frames": Step("_played", ["--rounds", "1"], {"PLAYED": 50}),
    "layout": Step("measure", ["tour.en"]),  # test_lessons.py lets it measure
    "lessons": Step("Player.__init__", ["tour.en"]),  # test_lessons.py lets it play
    "pages": Step(
        "_seconds", ["--clicks", "1"], {"CONTROLS": SCHEDULE, "QUIET": SOON, "WAIT": 100}
    ),
    "parts": Step("ask", ["--page", "schedule", "--sentences", "1"], {"_times": _no_times}),
    "pictures": Step("_save_still", ["masks", "--out", "."]),
    "readers": Step("ask", ["--readers", "1", "--every", "0.1", "--seconds", "1"]),
    "walk": Step("walk", ["--seeds", "1", "--minutes", "0.01"], {"STEPS": 0}),
}
