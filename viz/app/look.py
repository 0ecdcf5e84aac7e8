"""What all pages share: names of the kinds, the style sheet, the choice of a view, explanations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from transformer import Kind
from transformer.files import PACKAGES

STYLE = Path(__file__).with_name("style.css")
ABOUT = (
    "**Headlight** shows what every attention head of a Transformer looks at, on your own "
    "sentence. The model follows Vaswani et al., *Attention Is All You Need* (2017)."
)
KIND_NAMES: dict[str, Kind] = {
    "encoder": "encoder_self",
    "decoder": "decoder_self",
    "cross": "cross",
}
"""What the screen calls the kinds of attention."""


def choose_view(name: str, views: Mapping[str, Callable[[], None]]) -> None:
    """Draw the choice among the views of a page, then the chosen one; at first the first.

    Args:
        name: of the choice in the URL.
        views: what draws each of them.
    """
    first = next(iter(views))
    view = st.segmented_control(
        "View",
        list(views),
        default=first,
        required=True,
        key=name,
        bind="query-params",
        label_visibility="collapsed",
    )
    views[view or first]()


def explain(text: str) -> None:
    """Two or three sentences on what a page shows, in Markdown of our own, never a person's."""
    with st.container(key="explanation"):
        st.markdown(text)


@cache
def code_line(function: Callable[..., object]) -> str:
    """Where a function begins, as `file:line name`, in Markdown."""
    function = inspect.unwrap(function)  # torch.inference_mode() wraps what it decorates
    _, first = inspect.getsourcelines(function)
    path = Path(inspect.getsourcefile(function) or "").resolve().relative_to(PACKAGES)
    return f"`{path.as_posix()}:{first} {function.__qualname__}`"


@cache
def source_line(function: Callable[..., object], fragment: str) -> str:
    """The first line of a function that holds a fragment, as `file:line  code`.

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


def minus(number: float, digits: int = 2, *, sign: bool = False) -> str:
    """A number with a real minus sign, as wide as a plus; with `sign` the plus is shown, too."""
    text = f"{number:+.{digits}f}" if sign else f"{number:.{digits}f}"
    return text.replace("-", "−")


def changed_words(text: str, other: str) -> str:
    """A text as HTML, with the words that another text does not have in bold.

    The words are escaped here and nowhere else: both texts can hold what a person typed.
    """
    words, others = text.split(), other.split()
    html = []
    for change, first, last, *_ in SequenceMatcher(None, words, others, False).get_opcodes():
        if first < last:
            inside = escape(" ".join(words[first:last]))
            same = change == "equal"
            html.append(f'<span class="same">{inside}</span>' if same else f"<b>{inside}</b>")
    return " ".join(html)
