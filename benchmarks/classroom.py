"""A class on one server: each student has a different card and different answers.

After every answer the address that the server writes has the tries of this student, and no others.
"""

import argparse
import asyncio
import random
import time
from typing import Any
from urllib.parse import parse_qs, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection

from benchmarks.machine import describe
from benchmarks.readers import LONGEST, NoAnswer, session
from tests.server import served
from transformer.cli.arguments import number, whole_number
from viz.app.lessons import library
from viz.app.lessons.progress import card_view
from viz.lessons import Lesson
from viz.lessons.tries import read_tries

REST = 20.0  # seconds after the class, before memory is read again


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
        asyncio.run(_class(server.address, lesson, 1, 0.1))  # the teacher, before the hour
        memory = []
        for _ in range(2):  # the second class shows whether the first left anything
            memory.append(server.megabytes())
            waits = asyncio.run(_class(server.address, lesson, options.students, options.every))
            waits.sort()
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


async def _class(address: str, lesson: Lesson, students: int, every: float) -> list[float]:
    waits = await asyncio.gather(*(_student(address, lesson, n, every) for n in range(students)))
    return [wait for each in waits for wait in each]


async def _student(server_address: str, lesson: Lesson, own: int, every: float) -> list[float]:
    """Answer every card, the first one by the student's number; return how long each run took."""
    draw, waits, given = random.Random(own), [], {}
    await asyncio.sleep(draw.uniform(0, 2 * every))
    async with session(server_address) as server:
        address = ""
        for step in range(len(lesson.cards)):
            place = (own + step) % len(lesson.cards)
            card, task = lesson.cards[place], lesson.tasks[place]
            view = card_view(lesson, card, "translate")
            query = {**view.choices, "lesson": lesson.name, "card": place + 1, "class": 1}
            query["answers"] = parse_qs(address).get("answers", [])
            asked = BackMsg()
            asked.rerun_script.query_string = urlencode(query, doseq=True)
            asked.rerun_script.page_name = "" if view.page == "translate" else view.page
            asked.rerun_script.is_history_navigation = True
            wait, _, widgets = await _run(server, asked)
            waits.append(wait)
            await asyncio.sleep(draw.uniform(0, 2 * every))
            if not card.ask:
                continue
            # each student types a different number, and takes a choice by their own number
            choice = own % len(card.choices) if card.choices else 0
            given[task] = [str(choice + 1) if card.choices else str(1_000 + 37 * own + place)]
            field = f"lesson-{'chosen' if card.choices else 'typed'}-{place}"
            asked.rerun_script.is_history_navigation = False
            typed = asked.rerun_script.widget_states.widgets.add(id=widgets[field])
            typed.string_value = card.choices[choice].text if card.choices else given[task][0]
            pressed = asked.rerun_script.widget_states.widgets.add(
                id=widgets[f"lesson-check-{place}"]
            )
            pressed.trigger_value = True
            wait, address, _ = await _run(server, asked)
            waits.append(wait)
            shown = read_tries(parse_qs(address).get("answers", [""])[0])
            if shown != given:
                raise NoAnswer(f"student {own} gave {given}, and the address has {shown}.")
            await asyncio.sleep(draw.uniform(0, 2 * every))
    return waits


async def _run(server: ClientConnection, asked: BackMsg) -> tuple[float, str, dict[str, str]]:
    """Ask for a run; return its seconds, the address it wrote, and the ids of widgets by key."""
    began, address, widgets = time.monotonic(), "", {}
    await server.send(asked.SerializeToString())
    async with asyncio.timeout(LONGEST):
        async for message in server:
            assert isinstance(message, bytes)  # of a protocol buffer
            reply = ForwardMsg.FromString(message)
            kind = reply.WhichOneof("type")
            if kind == "page_info_changed":
                address = reply.page_info_changed.query_string
            elif kind == "delta":
                element = reply.delta.new_element
                named = getattr(element, element.WhichOneof("type") or "", None)
                identity = getattr(named, "id", "")
                # an identity is that of Streamlit, a hash, and the key
                widgets[identity.partition("-")[2].partition("-")[2]] = identity
            elif kind == "script_finished":
                break
    return time.monotonic() - began, address, widgets
