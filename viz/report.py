"""One sentence with all its heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

import base64
import gzip
import struct
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.roles import head_roles
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.trace import AttentionTrace
from viz.draw.bundle import script, style
from viz.draw.head_grid import GridPart, grid_packet
from viz.draw.open_head import heads
from viz.draw.packet import NOTE, map_packet, view_packet

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
{script}
const text = document.getElementById("weights").textContent;
render(document.getElementById("heads"), await unpackExplorer(text));
const frame = window.frameElement; // a notebook gives the page a frame: as high as it needs
if (frame) new ResizeObserver(() => {{
  frame.style.height = `${{document.body.scrollHeight + 4}}px`;
}}).observe(document.body);
</script>
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
        weights=explorer_packet(trace, selected=selected, words=words, special=special),
        script=_explorer(),
    )


def explorer_packet(
    trace: AttentionTrace, *, selected: Head, words: bool = False, special: bool = True
) -> str:
    """What `explorer.js` draws, gzip in base64: no character of it can close a tag.

    uint32 n | n bytes of the grid's packet | then for each kind, likewise with their lengths:
    one map's packet and one view's packet, from which the browser takes labels and colours, and
    the float32 weights of all heads, `[layer, head, query, key]`.

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
    blocks = [grid_packet(parts, selected=selected)]
    for kind, of in shown.items():
        blocks += _blocks(kind, of.axes, NOTE if special else _DROPPED)
    run = b"".join(struct.pack("<I", len(block)) + block for block in blocks)
    return base64.b64encode(gzip.compress(run, mtime=0)).decode()


def _blocks(kind: Kind, axes: LabelledWeights, note: str) -> list[bytes]:
    first, labels, reads = axes.weights[0, 0], axes.labels, axes.reads
    return [
        map_packet(first, labels, kind, title=_TITLES[kind], reads=reads, note=note),
        view_packet([("L1 H1", first)], labels, kind, reads=reads),
        axes.weights.astype("<f4").tobytes(),
    ]


@cache
def _explorer() -> str:
    # in a page, a script ends at this tag even inside of a string
    return script("explorer.js").replace("</script", r"<\/script")


def _css(theme: PageTheme) -> str:
    own = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    inks = f":root{{--st-font:system-ui,sans-serif;{_INKS['light' if theme == 'auto' else theme]}}}"
    if theme == "auto":
        inks += f"@media(prefers-color-scheme:dark){{:root{{{_INKS['dark']}}}}}"
    return inks + own + style()
