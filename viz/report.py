"""One sentence with all its heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.roles import head_roles
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.trace import AttentionTrace
from viz.draw.attention_map import NOTE, encode_map
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.head_view import encode_view
from viz.draw.open_head import heads
from viz.draw.wire import encode

if TYPE_CHECKING:
    from viz.draw.head_grid import Head

PageTheme = Literal["light", "dark", "auto"]

_TITLES: dict[Kind, str] = {
    "encoder_self": "encoder self-attention",
    "decoder_self": "decoder self-attention",
    "cross": "cross-attention",
}
_DROPPED = "Each row is one word that looks; what <s> and </s> absorb is left out of its sum."
_INKS = {
    "light": "--st-text-color:#1F2123;--st-background-color:#FCFCFB;--st-border-color:#DCDCD8;"
    "color-scheme:light;",
    "dark": "--st-text-color:#E8E8E6;--st-background-color:#131415;--st-border-color:#34373A;"
    "color-scheme:dark;",
}
_PAGE = """<!doctype html>
<html lang="en">
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
<dl><dt>English</dt><dd lang="en">{source}</dd><dt>German</dt><dd lang="de">{target}</dd></dl>
<p>{about}</p>
</header>
<main id="heads"></main>
<noscript>The maps are drawn by the script in this page: allow it to run.</noscript>
<script type="text/plain" id="weights">{weights}</script>
<script type="module">
{script}</script>
</body>
</html>
"""


def report(
    trace: AttentionTrace,
    *,
    title: str = "Where each head looks",
    selected: Head = ("cross", 0, 0),
    words: bool = False,
    special: bool = True,
    theme: PageTheme = "auto",
    checkpoint: str = "",
) -> str:
    """A self-contained page: the sentence, its translation, every head, and one of them open.

    All weights are in the page as they are, in float32.

    Args:
        title: heading of the page.
        selected: kind, layer and head, from 0, that is open first.
        words: whole words instead of pieces.
        special: whether `<s>` and `</s>` are shown.
        theme: auto follows the reader's system.
        checkpoint: name of the model, if it is to be told.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    about = [f"Checkpoint: {checkpoint}."] if checkpoint else []
    about.append("Each small map is one head; open one with a click or with Enter.")
    return _PAGE.format(
        title=escape(title),
        css=_css(theme),
        source=escape(trace.source),
        target=escape(trace.target),
        about=escape(" ".join(about)),
        weights=encode_explorer(trace, selected=selected, words=words, special=special),
        script=_script(),
    )


def encode_explorer(
    trace: AttentionTrace, *, selected: Head, words: bool = False, special: bool = True
) -> str:
    """What `js/explorer` draws, gzip in base64: no character of it can close a tag.

    It holds the grid's bytes as an array, and for each kind those of one map and of one view, from
    which the browser takes labels and colours, and the weights of all heads,
    `[layer, head, query, key]`.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    kind, layer, head = selected
    layers, count = trace.weights(kind).shape[:2]
    if not (0 <= layer < layers and 0 <= head < count):
        raise InputError(
            f"There is no layer {layer + 1} with a head {head + 1}: this model has {layers} layers "
            f"of {count} heads."
        )
    shown = {kind: heads(trace, kind, words=words, special=special) for kind in KINDS}
    # as on the page: a head is named by all that it looks at, shown or not
    parts = [
        GridPart(kind, of.axes.weights, of.axes.labels, head_roles(of.whole, kind))
        for kind, of in shown.items()
    ]
    arrays: dict[str, NDArray] = {"grid": _as_array(encode_grid(parts, selected=selected))}
    for kind, of in shown.items():
        first, labels = of.axes.weights[0, 0], of.axes.labels
        reads, writes = of.axes.reads, of.axes.writes
        note = NOTE if special else _DROPPED
        a_map = encode_map(
            first, labels, kind, title=_TITLES[kind], reads=reads, writes=writes, note=note
        )
        arrays[f"{kind}.map"] = _as_array(a_map)
        a_view = encode_view([("L1 H1", first)], labels, kind, reads=reads, writes=writes)
        arrays[f"{kind}.view"] = _as_array(a_view)
        arrays[f"{kind}.weights"] = of.axes.weights
    run = encode({"component": "explorer", "selected": list(selected)}, arrays)
    return base64.b64encode(gzip.compress(run, mtime=0)).decode()


def _as_array(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)


@cache
def _script() -> str:
    return (Path(__file__).parent / "draw" / "report_bundle.js").read_text(encoding="utf-8")


def _css(theme: PageTheme) -> str:
    own = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
    return inks + own
