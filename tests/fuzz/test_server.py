"""A running server: who can reach it, and forged messages and bodies that it refuses."""

import http.client
import itertools
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from tests.fuzz.bounds import IS_LONG, SECONDS, examples
from tests.fuzz.views import VIEWS
from tests.server import ROOT, ForgedSession, Server, headlight_app
from viz.app.served import MAX_UPLOAD_BYTES

pytestmark = [pytest.mark.timeout(0 if IS_LONG else 120), pytest.mark.slow]
TEXTS = st.sampled_from(["", "none", "1 · 2", "<b>", "x" * 300_000]) | st.text()
WHOLE = st.integers(-(2**63), 2**63 - 1)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "trigger_value": st.booleans(),
    "bool_value": st.booleans(),
    "double_value": st.floats(),
    "int_value": WHOLE,
    "string_value": TEXTS,
    "double_array_value": st.lists(st.floats()),
    "int_array_value": st.lists(WHOLE),
    "string_array_value": st.lists(TEXTS),
    "bytes_value": st.binary(),
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
}
"""The field that the state of each widget has; another one is refused by Streamlit itself."""

NAMES = "node prefix text revision force alternative step title queries squares".split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just("cross"),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.sampled_from(NAMES), values),
    max_leaves=6,
)
EVENTS = st.fixed_dictionaries({"event": st.sampled_from(["picked", "other", 7]), "value": JSON})
UPLOAD = "/_stcore/upload_file/{session}/{number}"
PATHS = [
    *(UPLOAD, "/_stcore/upload_file/none/{number}", "/_stcore/host-config", "/_stcore/stream"),
    *("/media/{number}", "/", "/heads"),
]
BODIES = [("PUT", UPLOAD, MAX_UPLOAD_BYTES), ("POST", UPLOAD, 50_000_000)]
if IS_LONG:
    sizes = (0, 1, 100_000, 20_000_000)
    others = itertools.product(("PUT", "POST", "DELETE", "PATCH"), PATHS, sizes)
    # what the one route of files takes is not a refusal
    BODIES += [body for body in others if body[0] in ("POST", "PATCH") or "upload" not in body[1]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as `headlight app` serves it."""
    log = tmp_path_factory.mktemp("server") / "log"
    with headlight_app(log) as running:
        yield running


def listening(port: int) -> set[str]:
    """The addresses at which something listens on a port, by the tables of Linux."""
    addresses = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        path = Path("/proc/net") / table
        rows = path.read_text("ascii").splitlines()[1:] if path.exists() else []
        for _, local, _, state, *_ in map(str.split, rows):
            address, at = local.split(":")
            if state == "0A" and int(at, 16) == port:
                words = [bytes.fromhex(address[n : n + 8])[::-1] for n in range(0, len(address), 8)]
                addresses.add(socket.inet_ntop(family, b"".join(words)))
    return addresses


def test_the_app_listens_on_this_machine_alone(server):
    assert {"127.0.0.1"} <= listening(server.port) <= {"127.0.0.1", "::1"}
    assert "this machine alone" in server.log.read_text("utf-8")


@pytest.mark.parametrize(("method", "path", "size"), BODIES)
def test_a_body_is_refused_and_takes_no_memory(
    server: Server, method: str, path: str, size: int
) -> None:
    with ForgedSession(server) as session:
        session.run()
        before = server.megabytes()
        for number in range(2):
            status = _send(server, method, path.format(session=session.id, number=number), size)
            assert 400 <= status < 500
        assert server.megabytes() - before < 20


def test_no_metrics_are_answered(server: Server) -> None:
    with pytest.raises(HTTPError) as error:
        urlopen(f"{server.address}/_stcore/metric%73", timeout=10)
    assert error.value.code == 404
    assert error.value.headers["X-Content-Type-Options"] == "nosniff"


def _send(server: Server, method: str, path: str, size: int, name: str = "x") -> int:
    """Send a multipart body of one file with the token that the server gave; the status."""
    with urlopen(f"{server.address}/_stcore/health", timeout=10) as reply:
        cookie = (reply.headers.get("Set-Cookie") or "").split(";")[0]
    file = f'form-data; name="file"; filename="{name}"'
    begin = f"--x\r\nContent-Disposition: {file}\r\n\r\n".encode()
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


def _trigger(component: str, sent: object) -> WidgetState:
    """Forge the trigger of a component without its state."""
    identifier = _make_trigger_id(component, "events")
    return WidgetState(id=identifier, json_trigger_value=json.dumps(sent))


@st.composite
def _states(draw: st.DrawFn, widget: tuple[str, str]) -> WidgetState:
    """Forge the state of a widget, with a value of any type."""
    identifier, kind = widget
    if kind == "bidi_component" and draw(st.booleans()):
        sent = draw(JSON | EVENTS | st.lists(EVENTS, max_size=2))
        if draw(st.booleans()):
            return WidgetState(id=identifier, json_value=json.dumps(sent))
        return _trigger(identifier, sent)
    state = WidgetState(id=identifier)
    field = draw(st.just(FIELD_OF_KIND.get(kind, "string_value")) | st.sampled_from([*FIELDS, ""]))
    if not field:  # a state without a value
        return state
    value = draw(FIELDS[field])
    if isinstance(value, list):
        getattr(state, field).SetInParent()
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return state


@examples(2, 600)
@given(
    place=st.sampled_from([(page, view) for page, views in VIEWS.items() for view in views]),
    data=st.data(),
)
def test_forged_messages_raise_nowhere_in_our_code(
    server: Server, place: tuple[str, dict[str, str]], data: st.DataObject
) -> None:
    page, view = place
    query = "&".join(f"{name}={value}" for name, value in view.items()).replace(" ", "+")
    path = "" if page == "translate" else page
    logged = len(server.log.read_bytes())
    with ForgedSession(server) as session:
        widgets = sorted(session.run(path, query).widgets.items())
        states = st.sampled_from(widgets).flatmap(_states)
        forged = data.draw(st.lists(states, min_size=1, max_size=3, unique_by=lambda s: s.id))
        began = time.perf_counter()
        try:
            session.run(path, query, forged)
            session.run(path, query)  # the session goes on
            event("accepted")
        except ConnectionClosed:
            event("refused")
        assert time.perf_counter() - began < SECONDS
    assert _own_error(server.log.read_bytes()[logged:].decode("utf-8", "replace")) == ""


def test_a_forged_click_and_states_of_another_type_touch_nobody(server: Server) -> None:
    with ForgedSession(server) as session:
        opened = session.run("heads")
        (grid,) = (widget for widget in opened.widgets if widget.endswith("-grid"))
        (text,) = (widget for widget in opened.widgets if widget.endswith("-text"))
        for state in (
            _trigger(grid, {"event": "picked", "value": ["cross", 0, 0]}),
            WidgetState(id=text),
            WidgetState(id=text, bytes_value=b"a"),
        ):
            session.run("heads", "", [state])
    with ForgedSession(server) as session:
        (word,) = (widget for widget in session.run("inside").widgets if widget.endswith("-word"))
        session.run("inside", "", [WidgetState(id=word, bool_value=False)])
        session.run("inside")
    with ForgedSession(server) as other:
        assert other.run("heads").exceptions == []
    assert _own_error(server.log.read_text("utf-8")) == ""


def test_what_no_browser_sends_is_one_line_in_the_log_and_the_page_goes_on(server: Server) -> None:
    def lines() -> list[str]:
        text = server.log.read_text("utf-8").splitlines()
        return [line for line in text if " session " not in line]

    deep, events = "[" * 900 + "]" * 900, '[{"event": "picked", "value": %s}]'
    with ForgedSession(server) as session:
        widgets = session.run().widgets
        (model,) = (widget for widget in widgets if widget.endswith("-model"))
        player = next(w for w, kind in widgets.items() if kind == "bidi_component")
        player_events = _make_trigger_id(player, "events")
        before = lines()
        for _ in range(3):
            for state in (
                WidgetState(id=model, bool_value=True),
                WidgetState(id=model, json_value=deep),
                WidgetState(id=player, json_value="{"),
                WidgetState(id=player_events, json_trigger_value=events % deep),
                WidgetState(id=player_events, json_trigger_value=events % ("1" * 5_000)),
            ):
                assert session.run("", "", [state]).exceptions == []
        own = session.run("corpus", "corpus_lines=your+lines").widgets
        (file,) = (widget for widget in own if widget.endswith("corpus-result-file"))
        path = UPLOAD.format(session=session.id, number=7)
        assert _send(server, "PUT", path, 5, name="x.exe") == 204
        state = WidgetState(id=file)
        state.file_uploader_state_value.uploaded_file_info.add(name="x.exe", size=5, file_id="7")
        answer = session.run("corpus", "corpus_lines=your+lines", [state])
        assert answer.exceptions == []
        assert file in answer.widgets
        session._connection.send("no bytes")
        with pytest.raises(ConnectionClosed):  # after what is on its way
            [session._connection.recv(10) for _ in range(999)]
    logged = [line for line in lines() if line not in before]
    assert 1 <= len(logged) <= 17  # of as many messages: within a second, the others are counted
    assert all(" refused: forged " in line for line in logged)


def _own_error(log: str) -> str:
    """Give the line of ours that raised; or nothing, as where Streamlit refuses a wrong type."""
    for traceback in log.split("Traceback (most recent call last)")[1:]:
        frames = re.findall(r'File "([^"]+)", line (\d+)', traceback)
        # a name that the session does not have is raised by Streamlit, and read by us
        path, line = [frame for frame in frames if "/streamlit/runtime/state/" not in frame[0]][-1]
        if Path(path).is_relative_to(ROOT) and ".venv" not in path:
            return f"raised at {Path(path).relative_to(ROOT)}:{line}"
    return ""
