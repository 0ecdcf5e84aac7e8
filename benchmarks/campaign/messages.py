"""Forged messages of a browser: the states of every widget with values of every shape and type."""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from benchmarks.campaign.forged_session import (
    ROOT,
    Answer,
    ForgedSession,
    NoServer,
    Server,
    served,
)
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.pages import VIEWS

ENTRANCE = "messages"
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


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Send so many messages, each to a page that has just been opened in a session of its own."""
    chance = random.Random(seed)
    opened = [(page, view) for page, views in VIEWS.items() for view in views]
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as server:
        for _ in range(count):
            page, view = chance.choice(opened)
            query = "&".join(f"{name}={value}" for name, value in view.items()).replace(" ", "+")
            path = "" if page == "translate" else page
            yield _try(server, path, query, chance)


def _served(folder: Path) -> AbstractContextManager[Server]:
    """Serve with a log in which each line of a traceback is one line."""
    return served(folder / "log", "--logger.enableRich=false")


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
    return Outcome(ENTRANCE, name, verdict, why or refused, seconds, 0.0)  # type: ignore[arg-type]


def made_states(answer: Answer, chance: random.Random) -> list[WidgetState]:
    """Forge the states of one to three widgets of a page.

    Args:
        answer: the page that the server sent.
        chance: what decides.
    """
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
    """Forge the trigger of a component without its state.

    Args:
        component: its id.
        sent: the event, as an object of JSON.
    """
    identifier = _make_trigger_id(component, "events")
    return WidgetState(id=identifier, json_trigger_value=json.dumps(sent))


def shown(state: WidgetState) -> str:
    """Name a forged state in a few words."""
    text = " ".join(str(state).split())
    return text if len(text) < 160 else f"{text[:150]}…"


def own_error(log: str) -> str:
    """Give the line of ours that raised; or nothing, as where Streamlit refuses a wrong type.

    Args:
        log: what the server printed.
    """
    for traceback in log.split("Traceback (most recent call last)")[1:]:
        frames = re.findall(r'File "([^"]+)", line (\d+)', traceback)
        # a name that the session does not have is raised by Streamlit, and read by us
        path, line = [one for one in frames if "/streamlit/runtime/state/" not in one[0]][-1]
        if Path(path).is_relative_to(ROOT) and ".venv" not in path:
            return f"raised at {Path(path).relative_to(ROOT)}:{line}"
    return ""
