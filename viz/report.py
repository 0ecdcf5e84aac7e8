"""One sentence with all its heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

from datetime import date
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from transformer.trace import AttentionTrace
from viz.draw.explorer import encode_page
from viz.draw.explorer_notes import is_alone, named_texts
from viz.draw.explorer_options import ExplorerOptions
from viz.draw.formatting import counted, format_number
from viz.draw.lens_words import LENS_NAMES, tells_heads
from viz.page_style import PageTheme, page_style, require_theme

if TYPE_CHECKING:
    from viz.draw.caption import Origin

_PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{texts}{notes}<p>{about}</p>
</header>
<main id="heads"></main>
<noscript>The maps are drawn by the script in this page: allow it to run.</noscript>
<script type="text/plain" id="weights">{weights}</script>
<script type="module" async>
{script}</script>
{heads}</body>
</html>
"""
# one for each head, after the script: it draws before the last one is there
_HEAD = '<script type="text/plain" id="{}">{}</script>\n'


def report(
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: Origin | None = None,
    link: str = "",
) -> str:
    """Make a self-contained page: the texts, every head, and one map open.

    The weights are in the page as they are, in float32, up to 64 MiB of them (`EXACT_BYTES` of
    `viz.draw.packed_heads`), and beyond in steps of 16 bits, which the page then says. Heads that
    the options leave out of the grid are left out of the page.

    Args:
        trace: our own or anybody's; what `lens_trace` makes of one, where the options have a lens
            other than the weights.
        options: what is shown, and how; `ExplorerOptions()` unless given.
        title: heading of the page; it says what is seen, and through which lens, unless given.
        theme: auto follows the page around it in a notebook, else the reader's system.
        origin: the model, if it is to be told.
        link: address at which the app shows the same, if there is one.

    Raises:
        InputError: if there is no such kind, layer, head or theme, or no token is left to show; if
            there are more weights than a browser opens.
    """
    require_theme(theme)
    options = options or ExplorerOptions()
    encoded = encode_page(trace, options, origin)
    notes = [*trace.notes, *([encoded.note] if encoded.note else [])]
    return _PAGE.format(
        title=escape(_heading(options) if title is None else title),
        theme=theme,
        css=page_style(theme, "report.css"),
        texts=_texts(trace),
        notes="".join(f'<p class="note">{escape(note)}</p>\n' for note in notes),
        about=_about(trace, options, origin, link),
        weights=encoded.message,
        script=_script(),
        heads="".join(_HEAD.format(escape(name), text) for name, text in encoded.heads.items()),
    )


def _texts(trace: AttentionTrace) -> str:
    """Format the source and the translation, with their languages where known."""
    lines = [
        f'<dt>{escape(text.name)}</dt><dd dir="auto" lang="{text.code}">{escape(text.text)}</dd>'
        for text in named_texts(trace)
    ]
    return f"<dl>{''.join(lines)}</dl>\n" if lines else ""


def _heading(options: ExplorerOptions) -> str:
    """Only weights say where a head looks."""
    if options.lens == "weights":
        return "Where each head looks"
    unit = "head" if tells_heads(options.lens) else "layer"
    return f"Each {unit}, seen through {LENS_NAMES[options.lens]}"


def _about(
    trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None, link: str
) -> str:
    """Log P, model, date, lens and address in sentences, escaped."""
    lines = []
    if pieces := len(trace.log_probs):
        log_p = format_number(float(trace.log_probs.sum()))
        name = "text" if is_alone(trace) else trace.languages.name("target")
        count = counted(pieces, "piece")
        lines.append(f"log p of the {name} is {log_p}, {count}.")
    if origin is not None:
        lines.append(f"Made by {origin.made_by}, on {date.today().isoformat()}.")
    unit = "head" if tells_heads(options.lens) else "layer, all heads together"
    lines.append(f"Each small map is one {unit}; open one with a click or with Enter.")
    if options.lens != "weights":
        lines.append(f"The lens is {LENS_NAMES[options.lens]}, not the weights themselves.")
    way = f'<br><a href="{escape(link)}">The same in the app</a>' if link else ""
    return escape(" ".join(lines)) + way


@cache
def _script() -> str:
    return (Path(__file__).parent / "draw" / "report_bundle.js").read_text(encoding="utf-8")
