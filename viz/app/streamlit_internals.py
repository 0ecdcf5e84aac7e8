"""Private names of Streamlit, and changes to its `index.html`: all that a new version may break.

Streamlit has no public way to end a long run, to detect a run for Back, to write the whole address
at once, or to check for a session. Nor can it release a file, or put a script into the page before
its own.
"""

from pathlib import Path
from typing import cast
from urllib.parse import urlencode

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
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


def is_connected(session: str) -> bool:
    """Return whether a browser is there for a session now, asked from any thread."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


def uploaded_bytes() -> int:
    """Return the size of the files that the server holds."""
    files = cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)
    held = list(files.file_storage.values())
    return sum(len(file.data) for of_session in held for file in list(of_session.values()))


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
