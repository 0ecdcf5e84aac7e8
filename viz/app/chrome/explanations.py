"""Explanations in Markdown with their line of code, and an escape for foreign text."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

from transformer.files.installed import PACKAGES

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit writes these as one sign where they stand alone, even if each character is escaped
_ARROWS = re.compile(r"(?<!\S)([-<>~])(->|[->=])(?!\S)")


def as_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is."""
    apart = _ARROWS.sub("\\1\u2060\\2", text)  # WORD JOINER, which nobody sees
    return _SPECIAL.sub(r"\\\1", apart)


def explain(text: str) -> None:
    """Draw two or three sentences on what a page shows, in our own Markdown, never user input."""
    with st.container(key="explanation"):
        st.markdown(text)


def sources(paper: str, *functions: Callable[..., object]) -> str:
    """Return the last line of an explanation: sections of the paper, and functions of the code.

    Either may be missing.
    """
    places = {"In the paper": paper, "In the code": ", ".join(map(code_line, functions))}
    line = " · ".join(f"{name}: {place}" for name, place in places.items() if place)
    return f"\n\n{line}" if line else ""


@cache
def code_line(function: Callable[..., object]) -> str:
    """Return where a function begins, as `file:line name`, in Markdown."""
    function = inspect.unwrap(function)  # torch.inference_mode() wraps what it decorates
    _, first = inspect.getsourcelines(function)
    path = Path(inspect.getsourcefile(function) or "").resolve().relative_to(PACKAGES)
    return f"`{path.as_posix()}:{first} {function.__qualname__}`"


@cache
def source_line(function: Callable[..., object], fragment: str) -> str:
    """Return the first line of a function that holds a fragment, as `file:line  code`.

    Raises:
        ValueError: if no line does.
    """
    lines, first = inspect.getsourcelines(function)
    path = Path(inspect.getsourcefile(function) or "").resolve().relative_to(PACKAGES)
    for number, line in enumerate(lines, start=first):
        if fragment in line:
            code = line.split("  #")[0].strip()
            return f"{path.as_posix()}:{number}  {code}"
    raise ValueError(f"{function.__qualname__} has no line with '{fragment}'")
