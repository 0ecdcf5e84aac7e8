"""Hostile input to a running server: forged messages of a browser, and bodies that nobody takes.

What needs no server is tried in `tests/fuzz`.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.client
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.request import urlopen

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from benchmarks.server import ROOT, Answer, ForgedSession, NoServer, Server, headlight_app
from transformer.cli.arguments import whole_number

Verdict = Literal["accepted", "refused", "bad"]


@dataclass(frozen=True)
class Outcome:
    """What became of one hostile input.

    Args:
        entrance: `messages` or `uploads`.
        name: the input, in a few words.
        verdict: `accepted` with a sound result, `refused` in one plain sentence, or `bad`: a
            traceback, an error box, something lost, too long or too much memory.
        why: the sentence of a refusal, or what was bad.
        seconds: how long it took.
        megabytes: peak memory that it added; 0 where it was not measured.
    """

    entrance: str
    name: str
    verdict: Verdict
    why: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0


VIEWS: dict[str, tuple[Mapping[str, str], ...]] = {
    "translate": ({},),
    "heads": (
        {},
        {"view": "step by step"},
        {"view": "compare"},
        {"view": "compare", "with": "another sentence"},
    ),
    "inside": ({},),
    "roles": (
        {},
        *({"roles_view": "Take away", "removed_how": how} for how in ("painted", "patched z")),
        *({"roles_view": view} for view in ("Why this word", "Layer by layer", "Faithful?")),
        {"roles_view": "Faithful?", "faithful_test": "permuted attention"},
    ),
    "masks": ({}, {"mask-view": "shift right"}, {"mask-view": "take it away"}),
    "positions": (
        {},
        *({"pe_view": view} for view in ("Curves", "Similarity", "Rotation")),
        *({"pe_view": view} for view in ("Your sentence", "Learned", "Beyond", "Without")),
    ),
    "schedule": ({},),
    "training": ({}, {"training_view": "Heads forming"}),
    "architecture": (
        {},
        *({"arch_view": view} for view in ("parameters", "work and memory", "norms")),
        {"arch_view": "tables 2 and 3"},
    ),
}
"""What opens each view: its parameters are those of its widgets."""


LIMIT = 20.0
"""Seconds that an answer may take."""

FIELDS: dict[str, tuple[object, ...]] = {
    "trigger_value": (True, False),
    "bool_value": (True, False),
    "double_value": (0.0, -1.0, 1e308, float("inf"), float("nan")),
    "int_value": (0, -1, 2**31, -(2**63), 2**63 - 1),
    "string_value": ("", " ", "none", "1", "-1", "\x00", "😀" * 9, "<b>", "x" * 300_000),
    "double_array_value": ((), (1.0,), (float("nan"), float("inf")), (0.0,) * 999),
    "int_array_value": ((), (-1,), (2**40,), (0, 0), (1,) * 999),
    "string_array_value": ((), ("",), ("none",), ("1 · 2",) * 9, ("x" * 99_999,)),
    "bytes_value": (b"", b"\xff\x00"),
}
"""Values of each field of a state."""

FIELD_OF_KIND = {
    **dict.fromkeys(
        ("text_input", "text_area", "selectbox", "arrow_vega_lite_chart"), "string_value"
    ),
    **dict.fromkeys(("button_group", "multiselect", "select_slider"), "string_array_value"),
    "number_input": "double_value",
    "slider": "double_array_value",
    "button": "trigger_value",
    "checkbox": "bool_value",
    "menu_button": "string_trigger_value",
}
"""The field that the state of each widget has; another one is refused by Streamlit itself."""

VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**70, 1e400, "", "cross", "x" * 300_000, [], {}, [[]], [0, 0], [0, -1]),
    *(["cross", 0, 0], ["cross", 0.0, 0], [{}, 0, 0], [None] * 3, {"node": 0}, {"step": []}),
    *({"node": 0, "prefix": 1}, {"text": 1, "revision": 1}, {"text": "\ud800", "revision": 2}),
    *({"text": "x" * 99_000, "revision": 3}, {"force": {}, "alternative": 0, "prefix": None}),
    *({"step": 0, "alternative": 0, "prefix": [{}]}, {"title": {}, "queries": 0, "squares": [[]]}),
)
"""Values that a forged message says were picked in a component."""

EVENTS = ("picked", "other", "", 7, None)


def try_messages(count: int, chance: random.Random) -> Iterator[Outcome]:
    """Send so many messages, each to a page that has just been opened in a session of its own."""
    opened = [(page, view) for page, views in VIEWS.items() for view in views]
    with (
        tempfile.TemporaryDirectory() as folder,
        # a log in which each line of a traceback is one line
        headlight_app(Path(folder) / "log", "--logger.enableRich=false") as server,
    ):
        for _ in range(count):
            page, view = chance.choice(opened)
            query = "&".join(f"{name}={value}" for name, value in view.items())
            path = "" if page == "translate" else page
            yield _try(server, path, query.replace(" ", "+"), chance)


def _try(server: Server, page: str, query: str, chance: random.Random) -> Outcome:
    before, begin = len(server.log.read_bytes()), time.perf_counter()
    name, why, refused = f"{page}?{query}", "", ""
    try:
        with ForgedSession(server) as session:
            answer = session.run(page, query)
            states = made_states(answer, chance)
            name = f"{name}: {' '.join(map(shown, states))}"
            begin = time.perf_counter()
            try:
                session.run(page, query, states)
            except ConnectionClosed as closed:
                refused = f"{closed}"
            if not refused:
                session.run(page, query)  # the session goes on
    except NoServer as error:
        why = str(error)
    seconds = time.perf_counter() - begin
    log = server.log.read_bytes()[before:].decode("utf-8", "replace")
    why = why or own_error(log) or (f"took {seconds:.0f} s" if seconds > LIMIT else "")
    verdict = "bad" if why else "refused" if refused or "Traceback" in log else "accepted"
    return Outcome("messages", name, verdict, why or refused, seconds, 0.0)  # type: ignore[arg-type]


def made_states(answer: Answer, chance: random.Random) -> list[WidgetState]:
    """Forge the states of one to three widgets of a page."""
    widgets = list(answer.widgets.items())
    chosen = chance.sample(widgets, min(len(widgets), chance.randint(1, 3)))
    return [_made_state(identifier, kind, chance) for identifier, kind in chosen]


def _made_state(identifier: str, kind: str, chance: random.Random) -> WidgetState:
    if kind == "bidi_component" and chance.random() < 0.8:
        value = chance.choice(VALUES)
        if chance.random() < 0.3:
            return WidgetState(id=identifier, json_value=json.dumps(value))
        event = {"event": chance.choice(EVENTS), "value": value}
        sent = chance.choice((event, [event], [event, event], [], value))
        return trigger(identifier, sent)
    state = WidgetState(id=identifier)
    if chance.random() < 0.05:  # a state without a value
        return state
    field = FIELD_OF_KIND.get(kind, "") if chance.random() < 0.8 else chance.choice([*FIELDS])
    value = chance.choice(FIELDS.get(field) or FIELDS["string_value"])
    if field == "string_trigger_value":
        state.string_trigger_value.data = str(value)
    elif field not in FIELDS:
        state.string_value = str(value)
    elif isinstance(value, tuple):
        getattr(state, field).SetInParent()
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return state


def trigger(component: str, sent: object) -> WidgetState:
    """Forge the trigger of a component without its state."""
    identifier = _make_trigger_id(component, "events")
    return WidgetState(id=identifier, json_trigger_value=json.dumps(sent))


def shown(state: WidgetState) -> str:
    """Name a forged state in a few words."""
    text = " ".join(str(state).split())
    return text if len(text) < 160 else f"{text[:150]}…"


def own_error(log: str) -> str:
    """Give the line of ours that raised; or nothing, as where Streamlit refuses a wrong type."""
    for traceback in log.split("Traceback (most recent call last)")[1:]:
        frames = re.findall(r'File "([^"]+)", line (\d+)', traceback)
        # a name that the session does not have is raised by Streamlit, and read by us
        path, line = [one for one in frames if "/streamlit/runtime/state/" not in one[0]][-1]
        if Path(path).is_relative_to(ROOT) and ".venv" not in path:
            return f"raised at {Path(path).relative_to(ROOT)}:{line}"
    return ""


METHODS = ("PUT", "POST", "DELETE", "PATCH")
PATHS = (
    *("/_stcore/upload_file/{session}/{file}", "/_stcore/upload_file/none/{file}"),
    *("/_stcore/host-config", "/_stcore/stream", "/media/{file}", "/", "/heads"),
)
SIZES = (0, 1, 100_000, 20_000_000)
"""Bytes of a body."""

MOST_MEGABYTES = 8.0
"""By which the memory of the server may rise with one request; a large body is 20."""


def try_uploads(count: int, chance: random.Random) -> Iterator[Outcome]:
    """Send so many bodies to one server."""
    with (
        tempfile.TemporaryDirectory() as folder,
        headlight_app(Path(folder) / "log") as server,
        ForgedSession(server) as session,
    ):
        session.run()
        before = server.megabytes()
        for number in range(count):
            method, size = chance.choice(METHODS), chance.choice(SIZES)
            path = chance.choice(PATHS).format(session=session.id, file=number)
            begin = time.perf_counter()
            status = send(server, method, path, size)
            seconds = time.perf_counter() - begin
            now = server.megabytes()
            rise, before = max(0.0, now - before), max(now, before)
            why = ""
            if not 400 <= status < 500:
                why = f"answered with {status}"
            elif rise > MOST_MEGABYTES:
                why = f"memory rose by {rise:.0f} MB"
            name = f"{method} {path} of {size:,} bytes"
            yield Outcome("uploads", name, "bad" if why else "refused", why, seconds, rise)


def send(server: Server, method: str, path: str, size: int) -> int:
    """Send a multipart body of one file with the token that the server gave; the status."""
    with urlopen(f"{server.address}/_stcore/health", timeout=10) as reply:
        cookie = (reply.headers.get("Set-Cookie") or "").split(";")[0]
    name = 'form-data; name="file"; filename="x"'
    begin = f"--x\r\nContent-Disposition: {name}\r\n\r\n".encode()
    body = begin + b"a" * size + b"\r\n--x--\r\n"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Cookie": cookie,
        "X-Xsrftoken": cookie.partition("=")[2],
    }
    try:
        # refused before all of it was sent; the answer may be there
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, headers)
        return connection.getresponse().status
    except ConnectionError:  # the answer went with the connection
        return http.client.FORBIDDEN
    finally:
        connection.close()


ENTRANCES = {"messages": (try_messages, 600), "uploads": (try_uploads, 200)}
"""Each entrance: the function that tries it, and how many inputs it gets."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks campaign`."""
    parser = commands.add_parser("campaign", help="hostile input to a running server")
    parser.add_argument(
        "--entrance", nargs="+", choices=list(ENTRANCES), default=list(ENTRANCES), metavar="NAME",
        help=f"which ones: {', '.join(ENTRANCES)}; all unless given",
    )  # fmt: skip
    parser.add_argument("--count", type=whole_number(1), help="inputs of each entrance")
    parser.add_argument("--seed", type=whole_number(0), default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object for each input")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Try all inputs and print the outcomes; the exit status is 1 if any was bad."""
    outcomes: dict[str, list[Outcome]] = {}
    for name in options.entrance:
        try_entrance, count = ENTRANCES[name]
        chance = random.Random(options.seed)
        outcomes[name] = list(try_entrance(options.count or count, chance))
    every = [outcome for listed in outcomes.values() for outcome in listed]
    if options.json:
        for outcome in every:
            print(json.dumps(dataclasses.asdict(outcome)))
    else:
        print(table(outcomes))
    return int(any(outcome.verdict == "bad" for outcome in every))


def table(outcomes: dict[str, list[Outcome]]) -> str:
    """Write one row for each entrance, then a line for each input that was bad."""
    lines = [
        "| entrance | tried | accepted | refused | bad | slowest | most memory |",
        "|---|---|---|---|---|---|---|",
    ]
    bad = []
    for name, listed in outcomes.items():
        count = Counter(outcome.verdict for outcome in listed)
        lines.append(
            f"| {name} | {len(listed):,} | {count['accepted']:,} | {count['refused']:,} "
            f"| {count['bad']:,} | {max(outcome.seconds for outcome in listed):.1f} s "
            f"| {max(outcome.megabytes for outcome in listed):,.0f} MB |"
        )
        bad += [f"bad: {name}: {o.name}: {o.why}" for o in listed if o.verdict == "bad"]
    return "\n".join(lines + bad)
