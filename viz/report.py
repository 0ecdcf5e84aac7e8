"""One sentence with all its heads as one HTML page, and the frame of every saved page."""

import base64
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

from transformer.analysis.heads.head import Head
from transformer.errors import InputError, quoted
from transformer.text.languages import Side, code_of_name
from transformer.trace import AttentionTrace
from transformer.translator import Translator
from viz.draw import explorer, formatting
from viz.draw.attention_map import is_alone
from viz.draw.caption import LENS_NAMES, WITHOUT_SINKS, Origin, map_unit, tells_heads
from viz.draw.heads_view import ExplorerOptions, HeadsView, shown_parts
from viz.draw.labels import capitalised
from viz.draw.left_out import left_out
from viz.findings import ranked
from viz.findings.weights import chosen_head
from viz.sentence_parts import part_pictures, parts_html

PageTheme = Literal["light", "dark", "auto"]

MAX_FINDINGS = 3  # largest number of findings at the head of a page

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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {policy}; \
style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
{description}<style>{css}</style>
</head>
<body>
<header>
{body}
<p id="unscripted">A script in this page draws the maps, but it has not run: allow scripts, or \
save the page as a file and open it.</p>
{data}<script type="module" async>{script}</script>
{blocks}</body>
</html>
"""
_DATA = '<script type="text/plain" id="{}">{}</script>\n'


def report(
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: Origin | None = None,
    link: str = "",
    translator: Translator | None = None,
) -> str:
    """Return a self-contained HTML page: the texts, the findings, every head, and one large map.

    With the translator that made the trace, it also has the player, word links, and what the model
    writes without its costliest heads, unless the options choose a lens or no sinks.

    The page stores up to 64 MiB of weights exactly, in float32 (`EXACT_BYTES` of
    `viz.draw.explorer`). Beyond that, it rounds them to 16 bits and says so. The page has no heads
    that the options leave out of the grid.

    Args:
        trace: a trace of any model; for options with a lens other than the weights, the result of
            `lens_trace`.
        options: the options of the explorer; by default, it opens the head of the first finding.
        title: the heading of the page; by default, it says what is shown, and through which lens.
        theme: the theme; "auto" follows the notebook, or the user's system.
        origin: the sentence and the model that the page names.
        link: the address at which the app shows the same.
        translator: the translator that made the trace.

    Raises:
        InputError: if there is no such kind, layer, head or theme, or no token is left to show; if
            there are more weights than a browser opens.
    """
    require_theme(theme)
    options = options or first_options(trace)
    if translator:
        origin = origin or Origin.from_translator(translator, trace.source, trace.target)
    # findings and parts are of the weights of the whole sentence
    is_whole = options.lens == "weights" and options.sinks
    has_parts = translator is not None and is_whole
    encoded = explorer.encode_page(trace, options, origin, carried=has_parts)
    notes = [*trace.notes, *encoded.notes]
    if not options.sinks:
        view = HeadsView(trace, options)
        notes.append(left_out(trace, view.kind, view.options))
    lines = "".join(f'<p class="note">{escape(note)}</p>\n' for note in notes)
    head = f"{format_texts(trace)}{_worth_seeing(trace, options) if is_whole else ''}{lines}"
    head += f"<p>{_about(trace, options, origin, link)}</p>\n</header>\n"
    name, main, blocks = "report", '<main id="heads"></main>', encoded.heads
    if translator and is_whole:
        name, blocks = "site", {**part_pictures(translator, trace), **blocks}
        main = f"""<main>
{parts_html(translator, trace)}<section id="heads"><h2>Every head</h2>
<div data-picture="weights"></div></section>
</main>"""
    return saved_page(
        name,
        heading(options) if title is None else title,
        theme,
        body=head + main,
        message=("weights", encoded.message),
        blocks=blocks,
    )


def first_options(trace: AttentionTrace, **chosen: Any) -> ExplorerOptions:
    """Return options that open the same head as the page All heads, unless `chosen` names one."""
    options = ExplorerOptions(**chosen)
    kind = shown_parts(options, trace).kind
    heads = [chosen_head(finding.choices) for finding in ranked("heads", trace)[:1]]
    last = max(layer for layer, count in enumerate(trace.head_count(kind)) if count)
    first = next((head for head in heads if head.kind == kind), Head(kind, last, 0))
    head = first.head if tells_heads(options.lens) else None
    return ExplorerOptions(**{"kind": kind, "layer": first.layer, "head": head, **chosen})


def format_texts(trace: AttentionTrace) -> str:
    """Format the source and the translation, with their languages where known."""
    lines = [
        f'<dt>{escape(name)}</dt><dd dir="auto" lang="{code}">{escape(text)}</dd>'
        for (name, code), text in zip(_text_sides(trace), (trace.source, trace.target), strict=True)
        if text
    ]
    return f"<dl>{''.join(lines)}</dl>\n" if lines else ""


def _worth_seeing(trace: AttentionTrace, options: ExplorerOptions) -> str:
    """Format the findings on a trace as buttons, each of which opens its head."""
    _, kinds, layers = shown_parts(options, trace)
    heads = [(chosen_head(finding.choices), finding.text) for finding in ranked("heads", trace)]
    buttons = [
        f'<li><button data-head="{".".join(map(str, head))}">{escape(text)}</button></li>\n'
        for head, text in heads
        if head.kind in kinds and head.layer in layers
    ]
    shown = "".join(buttons[:MAX_FINDINGS])
    return f'<h2>Worth seeing</h2>\n<ul class="findings">\n{shown}</ul>\n' if shown else ""


def heading(options: ExplorerOptions) -> str:
    """Return the heading of a page; only weights say where a head looks."""
    end = "" if options.sinks else f", {WITHOUT_SINKS}"
    if options.lens == "weights":
        return f"Where each head looks{end}"
    unit = "head" if tells_heads(options.lens) else "layer"
    return f"Each {unit}, seen through {LENS_NAMES[options.lens]}{end}"


def _about(
    trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None, link: str
) -> str:
    """Describe log probability, model, date, lens and address in sentences, escaped."""
    first = ""
    if pieces := len(trace.log_probs):
        log_p = formatting.format_number(float(trace.log_probs.sum()))
        name = "text" if is_alone(trace) else trace.languages.name("target")
        first = f"Log probability of the {name}: {log_p} ({formatting.counted(pieces, 'subword')})."
    made_by = f"Made by {origin.made_by}, on {date.today().isoformat()}." if origin else ""
    each = f"Each small map is one {map_unit(options.lens)}; choose one to open it."
    lens = f"The lens is {LENS_NAMES[options.lens]}, not the weights themselves."
    text = " ".join(filter(None, (first, made_by, each, lens * (options.lens != "weights"))))
    way = f"<br>{anchor(link, 'The same in the app')}" if link else ""
    return escape(text) + way


def anchor(address: str, text: str) -> str:
    """Format a link to a page; refuse an address of another kind, such as `javascript:`."""
    scheme = re.match(r"([A-Za-z][\w+.-]*):", re.sub(r"[\0-\x20]", "", address))
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise InputError(f"{quoted(address)} is not an address of a page: begin it with https://.")
    return f'<a href="{escape(address)}">{text}</a>'


def _text_sides(trace: AttentionTrace) -> list[tuple[str, str]]:
    """Name source and target, or “Text” for one alone; with the language's code, "" if unknown."""
    names = [trace.languages.name(side) for side in get_args(Side)]
    alone = is_alone(trace)
    return [("Text" if alone else capitalised(name), code_of_name(name)) for name in names]


def require_theme(theme: PageTheme) -> None:
    """Refuse an unknown theme before any work is done."""
    themes = [*get_args(PageTheme)]
    if theme not in themes:  # a notebook may hand over what has no hash
        raise InputError(f"There is no theme {quoted(theme)}: choose one of {', '.join(themes)}.")


def _style(theme: PageTheme, own: str) -> str:
    """Return the style sheet of a page; `own` is the file with the rules of this page alone."""
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
        # a script knows which theme a notebook around the page has
        inks += "".join(f":root[data-theme={name}]{{{ink}}}" for name, ink in _INKS.items())
    return inks + _file("page.css") + _file(own)


def saved_page(
    name: str,
    title: str,
    theme: PageTheme,
    *,
    body: str,
    blocks: Mapping[str, str],
    message: tuple[str, str] | None = None,
    description: str = "",
    is_live: bool = False,
) -> str:
    """Return a page that needs no server; the script draws before the last block is there.

    The body begins inside the header. With a description, it has the heading, too. A live page may
    load an engine, as WebAssembly, and the model's weights from its own server.
    """
    code = "\n" + script(name)
    about = f'<meta name="description" content="{escape(description)}">\n' if description else ""
    return _PAGE.format(
        title=escape(title),
        description=about,
        policy=_live_policy(code) if is_live else "script-src 'unsafe-inline'",
        theme=theme,
        css=_style(theme, f"{name}.css"),
        body=body if description else f"<h1>{escape(title)}</h1>\n{body}",
        data=_DATA.format(*message) if message else "",
        script=code,
        blocks="".join(_DATA.format(escape(block), text) for block, text in blocks.items()),
    )


def script(name: str) -> str:
    """Return one of the scripts that `npm run build` makes of `viz/browser`."""
    return _file(f"draw/{name}_bundle.js")


def _live_policy(code: str) -> str:
    checksum = base64.b64encode(sha256(code.encode()).digest()).decode()
    return (
        f"script-src 'sha256-{checksum}' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
        "connect-src 'self'"
    )


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
