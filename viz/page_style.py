"""Inks and papers of a saved page: those of the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

from transformer.errors import InputError, quoted

PageTheme = Literal["light", "dark", "auto"]

_INKS = {
    "light": "--st-text-color:#1F2123;--st-background-color:#FCFCFB;--st-border-color:#DCDCD8;"
    "color-scheme:light;",
    "dark": "--st-text-color:#E8E8E6;--st-background-color:#131415;--st-border-color:#34373A;"
    "color-scheme:dark;",
}


def require_theme(theme: PageTheme) -> None:
    """Say before any work is done that there is no such theme.

    Raises:
        InputError: if there is none.
    """
    if theme not in [*get_args(PageTheme)]:  # a notebook may hand over what has no hash
        raise InputError(
            f"There is no theme {quoted(theme)}: choose one of {', '.join(get_args(PageTheme))}."
        )


def page_style(theme: PageTheme, own: str) -> str:
    """Return the style sheet of a page, as text of a `<style>`.

    Args:
        theme: auto follows the page around it in a notebook, else the reader's system.
        own: file beside this one with the rules of the page alone.

    Raises:
        InputError: if there is no such theme.
    """
    require_theme(theme)
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
        # a script knows which theme a notebook around the page has
        inks += "".join(f":root[data-theme={name}]{{{ink}}}" for name, ink in _INKS.items())
    return inks + _file("page.css") + _file(own)


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
