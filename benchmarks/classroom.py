"""A class on one server: each student has a different card and different answers.

After every answer the address that the server writes has the tries of this student, and no others.
"""

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlencode

from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.machine import describe
from tests.server import ForgedSession, Server, served
from transformer import HeadlightError
from transformer.cli.arguments import number, whole_number
from viz.app.lessons import library
from viz.app.lessons.progress import card_view
from viz.lessons import Lesson
from viz.lessons.tries import read_tries

REST = 20.0  # seconds after the class, before memory is read again


class WrongAnswers(HeadlightError):
    """A student has other answers than those that were given."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks class`."""
    parser = commands.add_parser("class", help="a class that works on a lesson at the same time")
    parser.add_argument("lesson", nargs="?", default="attention.en", metavar="NAME")
    parser.add_argument("--students", type=whole_number(1, 1_000), default=30)
    parser.add_argument(
        "--every", type=number(0.1, 600), default=10.0, help="mean seconds of thought"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Let a class work, and print how long each waited, and the memory of the server."""
    lesson = library.read_offered().lessons[options.lesson]
    print(
        f"{describe()}, {lesson.name}, {options.students} students, {options.every:g} s of thought"
    )
    with served() as server:
        _class(server, lesson, 1, 0.1)  # the teacher, before the hour
        memory = []
        for _ in range(2):  # the second class shows whether the first left anything
            memory.append(server.megabytes())
            waits = sorted(_class(server, lesson, options.students, options.every))
            print(
                f"{len(waits)} runs: median {waits[len(waits) // 2]:.2f} s, "
                f"19 of 20 within {waits[len(waits) * 19 // 20]:.2f} s, longest {waits[-1]:.2f} s; "
                f"{server.megabytes():,.0f} MiB",
                flush=True,
            )
            time.sleep(REST)
        memory.append(server.megabytes())
    print("MiB before, between and after:", *(f"{size:,.0f}" for size in memory))
    return 0


def _class(server: Server, lesson: Lesson, students: int, every: float) -> list[float]:
    with ThreadPoolExecutor(students) as threads:
        each = threads.map(lambda own: _student(server, lesson, own, every), range(students))
        return [wait for waits in each for wait in waits]


def _student(server: Server, lesson: Lesson, own: int, every: float) -> list[float]:
    """Answer every card, the first one by the student's number; return how long each run took."""
    draw, waits, given, written = random.Random(own), [], {}, ""
    time.sleep(draw.uniform(0, 2 * every))
    with ForgedSession(server) as session:
        for step in range(len(lesson.cards)):
            place = (own + step) % len(lesson.cards)
            card, task = lesson.cards[place], lesson.tasks[place]
            view = card_view(lesson, card, "translate")
            query = {**view.choices, "lesson": lesson.name, "card": place + 1, "class": 1}
            query["answers"] = parse_qs(written).get("answers", [])
            url = "" if view.page == "translate" else view.page, urlencode(query, doseq=True)
            began = time.monotonic()
            opened = session.run(*url, goes_back=True)
            waits.append(time.monotonic() - began)
            time.sleep(draw.uniform(0, 2 * every))
            if not card.ask:
                continue
            # an id is that of Streamlit, a hash, and the key
            ids = {id_.partition("-")[2].partition("-")[2]: id_ for id_ in opened.widgets}
            # each student types a different number, and takes a choice by their own number
            choice = own % len(card.choices) if card.choices else 0
            given[task] = [str(choice + 1) if card.choices else str(1_000 + 37 * own + place)]
            field = f"lesson-{'chosen' if card.choices else 'typed'}-{place}"
            text = card.choices[choice].text if card.choices else given[task][0]
            states = [
                WidgetState(id=ids[field], string_value=text),
                WidgetState(id=ids[f"lesson-check-{place}"], trigger_value=True),
            ]
            began = time.monotonic()
            written = session.run(*url, states).query
            waits.append(time.monotonic() - began)
            shown = read_tries(parse_qs(written).get("answers", [""])[0])
            if shown != given:
                raise WrongAnswers(f"student {own} gave {given}, and the address has {shown}.")
            time.sleep(draw.uniform(0, 2 * every))
    return waits
