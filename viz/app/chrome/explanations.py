"""Explanations in Markdown with their line of code, and words of the field in one sentence each."""

import inspect
import re
from collections.abc import Callable, Iterable
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
    """Return the last line of an explanation: sections of the paper, and functions of the code."""
    places = {"In the paper": paper, "In the code": ", ".join(map(function_name, functions))}
    line = " · ".join(f"{name}: {place}" for name, place in places.items() if place)
    return f"\n\n{line}" if line else ""


_NAMED = "explanations.named"  # in the session: the functions that this run has named


def function_name(function: Callable[..., object]) -> str:
    """Return the name of a function in Markdown; `named_lines` says where it stands."""
    line, name = place_of(function).split(" ")
    st.session_state.setdefault(_NAMED, {})[name] = line
    return f"`{name}`"


def named_lines() -> dict[str, str]:
    """Return where each function begins that was named since the last call, by its name."""
    lines: dict[str, str] = st.session_state.pop(_NAMED, {})
    return lines


@cache
def place_of(function: Callable[..., object]) -> str:
    """Return where a function begins, as `file:line name`."""
    function = inspect.unwrap(function)  # torch.inference_mode() wraps what it decorates
    _, first = inspect.getsourcelines(function)
    return f"{_file_of(function)}:{first} {function.__qualname__}"


@cache
def source_line(function: Callable[..., object], fragment: str) -> str:
    """Return the first line of a function that holds a fragment, without its comment."""
    for line in inspect.getsourcelines(function)[0]:
        if fragment in line:
            return line.split("  #")[0].strip()
    raise ValueError(f"{function.__qualname__} has no line with '{fragment}'")


def _file_of(function: Callable[..., object]) -> str:
    path = Path(inspect.getsourcefile(function) or "").resolve()
    return path.relative_to(PACKAGES).as_posix()


TERMS = {
    "log probability": "logarithm of the model’s probability for the whole translation; 0 is "
    "certain; the more negative, the less likely.",
    "subword": "the unit that the model reads and writes: a word, or a part of a rare one.",
    "head": "one of several attention maps that a layer computes side by side; L3 H5 is head 5 of "
    "layer 3.",
    "encoder": "the half of the model that reads the source sentence.",
    "decoder": "the half that writes the translation, one subword at each step.",
    "cross-attention": "where the decoder looks in the source sentence.",
    "weight": "the share of its attention that a row gives to a column, from 0 to 1.",
    "lens": "a measure of how much a row takes from each column; the attention weights are one.",
    "entropy": "how evenly a row spreads its weight: 0 bits is all on one token.",
    "end": "the token after the last word, `</s>`; *start*, `<s>`, stands before the first one.",
    "auto-regressive": "writing one token at a time, each from those written before.",
    "beam": "the partial translations that the search keeps at each step.",
    "alignment error": "the share of word links that differ from those that people drew.",
    "nat": "unit of a natural logarithm: 1 nat less is a probability 2.7 times smaller.",
    "loss": "the mean of −log probability of a subword; lower is better.",
}
"""Definitions by the word on the screen."""

SOURCE_SHARE_LIMITS = (
    "They say what the model used, not whether the word is right: left-out text in whole sentences "
    "is found no better than chance (AUC 0.46 to 0.49 in HalOmi, Dale et al. 2023), and in a "
    "six-layer German-English model the last layer points the other way (arXiv 2606.13216). In a "
    "translation that you type they follow what the model would have written instead."
)
"""Limits of the shares of the source, wherever these are shown."""


def help_of(terms: Iterable[str]) -> str:
    """Return the help that explains some terms: a line in Markdown for each."""
    words = {word: word.replace("<", "\\<") for word in terms}
    return "  \n".join(f"**{shown}**: {TERMS[word]}" for word, shown in words.items())
