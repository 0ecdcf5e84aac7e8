"""Private names of Streamlit, and changes to its `index.html`: all that a new version may break.

Streamlit has no public way to end a long run, to detect a run for Back, to write the whole address
at once, or to check for a session. Nor can it release a file, drop a forged value, or put a script
into the page before its own.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.session_state import Serialized, Value, WStates
from streamlit.runtime.uploaded_file_manager import UploadedFile

Query = dict[str, list[str]]

_INDEX = Path(st.__file__).parent / "static" / "index.html"
_ANY = "streamlit_internals.any"


def end_if_unwanted() -> None:
    """Let Streamlit end this run, by an exception, if a newer one or nobody waits for it."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        _ = _ANY in st.session_state


def is_history_navigation() -> bool:
    """Return whether this run is one for Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def query_string() -> str:
    """Return the query of the address, which changes as widgets are read."""
    return _context().query_string


def replace_query(query: Query) -> None:
    """Write the whole query, and let the widgets of this run read it."""
    with _context().session_state.query_params() as in_address:
        in_address.populate_from_query_string(urlencode(query, doseq=True))
        in_address.set_initial_query_params_from_current()
        in_address._send_query_param_msg()


def write_to_query(name: str, value: str | None) -> None:
    """Write one name of the query, or remove it, even if a widget has been bound to it."""
    with _context().session_state.query_params() as in_address:
        if value is None:
            in_address.remove_param(name)
        else:
            in_address.set_corrected_value(name, value, "string_value")


def reread_query() -> None:
    """Let the widgets of this run read what now stands in `st.query_params`."""
    with _context().session_state.query_params() as in_address:
        in_address.set_initial_query_params_from_current()


def session_name() -> str:
    """Return the name of this run's session, which nobody can guess."""
    return _context().session_id


def client_address() -> str | None:
    """Return the address that the browser of this run has; None on this machine or without one."""
    return st.context.ip_address if get_script_run_ctx(suppress_warning=True) else None


def is_connected(session: str) -> bool:
    """Return whether a browser is there for a session now, asked from any thread."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


def uploaded_bytes() -> dict[str, int]:
    """Return the size of the files that the server holds, by their sessions."""
    files = cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)
    return {
        session: sum(len(file.data) for file in list(held.values()))
        for session, held in list(files.file_storage.items())
    }


DEEPEST = 32  # nested lists and objects in a value that a component sends; ours have two


def drop_forged_values(count: Callable[[], None]) -> None:
    """Let widgets whose values no browser sends keep their defaults; `count` is called for each.

    Such a value would end the run, with a traceback of Streamlit's in the log.
    """
    get = WStates.__getitem__

    @wraps(get)
    def get_checked(states: WStates, widget: str) -> Any:
        sent, metadata = states.states.get(widget), states.widget_metadata.get(widget)
        if not isinstance(sent, Serialized) or metadata is None:
            return get(states, widget)
        try:
            kind = sent.value.WhichOneof("value")
            whole = (kind, metadata.value_type) == ("int_value", "double_value")  # a number field
            if not whole and kind not in (None, metadata.value_type):
                raise TypeError
            value = get(states, widget)
            if _is_deeper(value, DEEPEST):
                raise RecursionError
        except Exception:  # noqa: BLE001  whatever it is, the browser would not have sent it
            count()
            value = metadata.deserializer(None)
            states.states[widget] = Value(value)
        return value

    WStates.__getitem__ = get_checked  # type: ignore[method-assign]


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if type(value) is list else ()
    return levels < 0 or any(_is_deeper(part, levels - 1) for part in inner)


def release(file: UploadedFile) -> None:
    """Free the memory of a file; Streamlit would hold it until the session ends, or longer."""
    files = cast(MemoryUploadedFileManager, _context().uploaded_file_mgr)
    files.remove_file(session_name(), file.file_id)
    file.truncate(0)


def index_html(head: str, body: str) -> str:
    """Return Streamlit's page with a head before its own scripts, and a body before the app."""
    return (
        _INDEX.read_text("utf-8")
        .replace("<title>Streamlit</title>", head)
        .replace('<div id="root">', f'{body}<div id="root">')
    )


def _context() -> ScriptRunContext:
    context = get_script_run_ctx()
    assert context is not None  # a run has one
    return context
