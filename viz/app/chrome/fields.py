"""Fields that several pages draw in the same way, each bound to the URL.

Only this module calls `st.text_input`, `st.text_area` and `st.file_uploader`. Every text and file
has a bound, held in the browser and on the server; whatever the browser sends, a text is a text.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from transformer import InputError
from transformer.files.reading import MIB
from viz.app.links.address import (
    choose_by_number,
    clamp_number,
    has_arrived,
    longest,
    restate,
)
from viz.app.streamlit_internals import release

T = TypeVar("T", bound=str)
Option = TypeVar("Option")
Made = TypeVar("Made")


def choose_one(
    label: str,
    options: Iterable[T],
    key: str,
    *,
    default: T | None = None,
    labelled: bool = False,
    disabled: bool = False,
) -> T:
    """Draw a choice of one of the words of the URL; its label is seen where it is `labelled`."""
    names = list(options)
    first = names[0] if default is None else default
    choose_first_of_link(key, first)
    chosen = st.segmented_control(
        label,
        names,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        disabled=disabled,
        label_visibility="visible" if labelled else "collapsed",
    )
    return chosen or first


def button(label: str, key: str, act: Callable[..., None], *values: Any, **options: Any) -> None:
    """Draw `st.button`, which calls a function with some values."""
    st.button(label, key=key, on_click=act, args=values, **options)


def whole_number(
    label: str, key: str, least: int, most: int, default: int, *, step: int = 1, width: int = 160
) -> int:
    """Draw the field of a whole number from `least` to `most`, `width` CSS pixels wide."""
    number = st.number_input(
        label, least, most, default, step, key=key, bind="query-params", width=width
    )
    return int(number)


def text_field(label: str, default: str = "", *, key: str, **options: Any) -> str:
    """Draw the field of a text that is followed as it is typed; see `text_input`."""
    return text_input(label, default, key=key, live="250ms", autocomplete="off", **options)


def text_input(
    label: str,
    default: str = "",
    *,
    key: str,
    most: int | None = None,
    in_link: bool = True,
    draw: Callable[..., object] = st.text_input,
    **options: Any,
) -> str:
    """Draw `st.text_input`, bound to the URL if `in_link`, of `most` characters or the URL's."""
    bind = "query-params" if in_link else None
    draw(label, default, key=key, max_chars=most or longest(key), bind=bind, **options)
    return read_text(key)


def text_area(label: str, default: str = "", *, key: str, **options: Any) -> str:
    """Draw `st.text_area` with a bound; see `text_input`."""
    return text_input(label, default, key=key, draw=st.text_area, **options)


def read_text(key: str) -> str:
    """Read the text of a field from the session; empty where the browser sent something else."""
    text = st.session_state.get(key)
    return text if isinstance(text, str) else ""


def clamp_choice(key: str, count: int) -> bool:
    """Keep the index of a menu below `count`; return False if it holds none."""
    index = st.session_state.get(key)
    if type(index) is int and index >= 0:
        st.session_state[key] = min(index, count - 1)
        return True
    if index is not None:
        del st.session_state[key]
    return False


def file_field(
    label: str, key: str, types: Sequence[str], most_bytes: int
) -> tuple[str, bytes] | None:
    """Draw a file field; return the name and content of the file until it is released."""
    file = st.file_uploader(label, types, key=key, max_upload_size=-(-most_bytes // MIB))
    if file is None or file.file_id == st.session_state.get(f"{key} released"):
        return None
    if file.size > most_bytes:
        release_file(key)
        raise InputError(
            f"The file has {file.size:,} bytes, and at most {most_bytes:,} are read: shorten it."
        )
    return file.name, file.getvalue()


def files_field(
    label: str, key: str, most_bytes: int, read: Callable[[str, bytes], Made]
) -> list[Made]:
    """Draw a field of several files; return what `read` makes of each, and free the files."""
    most = -(-most_bytes // MIB)
    st.file_uploader(label, accept_multiple_files=True, key=key, max_upload_size=most)
    before, made = st.session_state.get(f"{key} made", {}), {}
    for file in st.session_state.get(key) or ():  # with those that are freed
        if file.file_id in before:
            made[file.file_id] = before[file.file_id]
        elif isinstance(file, UploadedFile):
            made[file.file_id] = read(file.name, file.getvalue())
            release(file)
    st.session_state[f"{key} made"] = made
    return list(made.values())


def release_file(key: str) -> None:
    """Free the file of a field: called by the page once it has made of it what it needs."""
    file = st.session_state.get(key)
    if isinstance(file, UploadedFile):
        st.session_state[f"{key} released"] = file.file_id
        release(file)


def clamp_state(key: str, most: int, default: int = 1) -> None:
    """Clamp a number that counts from 1 before its field is drawn."""
    if key not in st.session_state:
        clamp_number(key, most)
    st.session_state[key] = min(max(st.session_state.get(key, default), 1), most)


def controls_row(key: str | None = None) -> DeltaGenerator:
    """Return a container for controls side by side, aligned at the bottom."""
    return st.container(key=key, horizontal=True, vertical_alignment="bottom", gap="small")


def choose_first_of_link(key: str, first: object, shown: str = "") -> None:
    """Choose the first option if the link names it: Streamlit drops defaults from the URL."""
    if has_arrived() and st.query_params.get(key) in (str(first), shown or str(first)):
        st.session_state[key] = first


def menu(
    label: str, options: Sequence[Option], key: str, *, width: int | None = None, **more: Any
) -> Option:
    """Draw a menu of one choice, bound to the URL; `more` are settings of `st.selectbox`.

    A link names a text as it is in the code or as the screen shows it.
    """
    bound: dict[str, Any] = {"key": key, "bind": "query-params", "width": width or "stretch"}
    first, shown = options[more.get("index") or 0], more.get("format_func", str)
    for option in options:
        if isinstance(option, str) and st.query_params.get(key) == option != shown(option):
            restate(key, shown(option))
    choose_first_of_link(key, first, shown(first))
    return st.selectbox(label, options, **bound, **more)


def numbered_menu(label: str, names: Iterable[str], key: str, *, first: int, width: int) -> int:
    """Draw a menu of names that count from 1, by which a link names them; return from 0."""
    numbered = [f"{n} {name}" for n, name in enumerate(names, start=1)]
    if not clamp_choice(key, len(numbered)):  # another kind or sentence may have fewer
        choose_by_number(key, numbered)
    first = min(first, len(numbered) - 1)
    if st.query_params.get(key, "").partition(" ")[0] == str(first + 1):
        st.session_state[key] = first  # of a link: Streamlit would drop it as the default
    places, named = range(len(numbered)), numbered.__getitem__
    return menu(label, places, key, width=width, index=first, format_func=named)
