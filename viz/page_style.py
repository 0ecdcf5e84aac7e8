"""Inks and papers of a saved page: those of the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viz.report import PageTheme

_INKS = {
    "light": "--st-text-color:#1F2123;--st-background-color:#FCFCFB;--st-border-color:#DCDCD8;"
    "color-scheme:light;",
    "dark": "--st-text-color:#E8E8E6;--st-background-color:#131415;--st-border-color:#34373A;"
    "color-scheme:dark;",
}


def page_style(theme: PageTheme, own: str) -> str:
    """The style sheet of a page, as text of a `<style>`.

    Args:
        theme: auto follows the page around it in a notebook, else the reader's system.
        own: file beside this one with the rules of the page alone.
    """
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
        # a script knows which theme a notebook around the page has
        inks += "".join(f":root[data-theme={name}]{{{ink}}}" for name, ink in _INKS.items())
    return inks + _file("page.css") + _file(own)


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
