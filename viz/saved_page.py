"""The frame of every saved page: its inks, its script and the data that it carries."""

import base64
import gzip
from collections.abc import Mapping
from functools import cache
from html import escape
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
_PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
{description}<style>{css}</style>
</head>
<body>
<header>
{body}
<p id="unscripted">A script in this page draws the maps, but it has not run: allow scripts, or \
save the page as a file and open it.</p>
{data}<script type="module" async>
{script}</script>
{blocks}</body>
</html>
"""
_DATA = '<script type="text/plain" id="{}">{}</script>\n'


def require_theme(theme: PageTheme) -> None:
    """Refuse an unknown theme before any work is done."""
    themes = [*get_args(PageTheme)]
    if theme not in themes:  # a notebook may hand over what has no hash
        raise InputError(f"There is no theme {quoted(theme)}: choose one of {', '.join(themes)}.")


def _style(theme: PageTheme, *own: str) -> str:
    """Return the style sheet of a page; `own` are the files with the rules of this page alone."""
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
        # a script knows which theme a notebook around the page has
        inks += "".join(f":root[data-theme={name}]{{{ink}}}" for name, ink in _INKS.items())
    return inks + "".join(map(_file, dict.fromkeys(("page.css", *own))))


def saved_page(
    name: str,
    title: str,
    theme: PageTheme,
    *,
    body: str,
    blocks: Mapping[str, str],
    message: tuple[str, str] | None = None,
    description: str = "",
    style: str = "",
) -> str:
    """Return a page that needs no server; the script draws before the last block is there.

    The body begins inside the header. With a description, it has the heading, too. `name` is that
    of the script and its style sheet; the rules of the file `style` come after them.
    """
    about = f'<meta name="description" content="{escape(description)}">\n' if description else ""
    return _PAGE.format(
        title=escape(title),
        description=about,
        theme=theme,
        css=_style(theme, f"{name}.css", *filter(None, [style])),
        body=body if description else f"<h1>{escape(title)}</h1>\n{body}",
        data=_DATA.format(*message) if message else "",
        script=_file(f"draw/{name}_bundle.js"),
        blocks="".join(_DATA.format(escape(block), text) for block, text in blocks.items()),
    )


def packed(message: bytes) -> str:
    """Pack a message as text of a page: in base64, no character of it can close a tag."""
    return base64.b64encode(gzip.compress(message, mtime=0)).decode()


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
