"""Inks and papers of a saved page: those of the app."""

from __future__ import annotations

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
        theme: auto follows the reader's system.
        own: rules of the page, which use the variables that this sets.
    """
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
    return inks + own
