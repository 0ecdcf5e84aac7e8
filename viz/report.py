"""One sentence with all its heads as one HTML page, which needs no network and no server."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.heads.measures import measure
from transformer.analysis.heads.roles import head_roles
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.trace import AttentionTrace
from viz.draw.attention_map import encode_map
from viz.draw.caption import through
from viz.draw.head_grid import GridPart, encode_grid
from viz.draw.head_order import LAYER_ORDER, head_order
from viz.draw.head_view import encode_view
from viz.draw.labels import KIND_TITLES
from viz.draw.lens_words import (
    ALL_HEADS,
    LENS_NAMES,
    amount,
    row_note,
    tells_heads,
    title_end,
)
from viz.draw.open_head import Heads, OpenMap, crop_to_step, heads, open_map, outlined
from viz.draw.wire import encode

if TYPE_CHECKING:
    from transformer.analysis.lenses import LensName
    from viz.draw.attention_map import Scale
    from viz.draw.caption import Origin

PageTheme = Literal["light", "dark", "auto"]

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


@dataclass(frozen=True)
class View:
    """What is shown of a trace: the choices of the Heads page; layers and heads count from 0.

    Args:
        kind: of the map that is open first.
        layer: of that map; None for the mean over layers.
        head: None for the mean over heads, and where the lens does not tell heads apart.
        words: whole words instead of pieces.
        special: whether `<s>` and `</s>` are shown.
        kinds: shown in the grid.
        layers: shown in the grid; None for all.
        sort: one of `SORTS`, the order of the heads in the grid.
        scale: how a weight becomes a colour.
        threshold: weights below it are not drawn.
        over: layer and head of those whose ribbons lie over the open one's, of the same kind.
        step: of the decoder; what it had not written then is left out. None for all of them.
        compared: a second map; it stands under the open one, with their difference.
        lens: through which the trace is seen that is shown: `lensed` made it.
    """

    kind: Kind = "cross"
    layer: int | None = 0
    head: int | None = 0
    words: bool = False
    special: bool = True
    kinds: tuple[Kind, ...] = KINDS
    layers: tuple[int, ...] | None = None
    sort: str = LAYER_ORDER
    scale: Scale = "linear"
    threshold: float = 0.0
    over: tuple[tuple[int, int], ...] = ()
    step: int | None = None
    compared: OpenMap | None = None
    lens: LensName = "weights"


def report(
    trace: AttentionTrace,
    view: View | None = None,
    *,
    title: str = "Where each head looks",
    theme: PageTheme = "auto",
    origin: Origin | None = None,
    link: str = "",
) -> str:
    """A self-contained page: the sentence, its translation, every head, and one map open.

    All weights are in the page as they are, in float32.

    Args:
        trace: what `lensed` makes of one, where the lens of the view is another than the weights.
        view: what is shown, and how; `View()` unless given.
        title: heading of the page.
        theme: auto follows the reader's system.
        origin: the model, if it is to be told.
        link: address at which the app shows the same, if there is one.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    view = view or View()
    return _PAGE.format(
        title=escape(title),
        css=_css(theme),
        source=escape(trace.source),
        target=escape(trace.target),
        about=_about(trace, view, origin, link),
        weights=encode_explorer(trace, view, origin),
        script=_script(),
    )


def _about(trace: AttentionTrace, view: View, origin: Origin | None, link: str) -> str:
    """Log P, model, date, lens and address in sentences, escaped."""
    log_p = f"{float(trace.log_probs.sum()):.2f}".replace("-", "−")
    pieces = len(trace.log_probs)
    said = [f"log p of the German is {log_p}, {pieces} piece{'' if pieces == 1 else 's'}."]
    if origin is not None:
        said.append(f"Made by {origin.made_by}, on {date.today().isoformat()}.")
    one = "head" if tells_heads(view.lens) else "layer, all heads together"
    said.append(f"Each small map is one {one}; open one with a click or with Enter.")
    if view.lens != "weights":
        said.append(f"The lens is {LENS_NAMES[view.lens]}, not the weights themselves.")
    way = f'<br><a href="{escape(link)}">The same in the app</a>' if link else ""
    return escape(" ".join(said)) + way


def encode_explorer(trace: AttentionTrace, view: View, origin: Origin | None = None) -> str:
    """What `js/explorer` draws, gzip in base64: no character of it can close a tag.

    It holds the grid's bytes as an array, and for each kind those of one map and of one view, from
    which the browser takes labels and colours, and the weights of all heads,
    `[layer, head, query, key]`; and the maps that stand beside the open one.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    _check_heads(trace, view)
    every = {
        kind: heads(trace, kind, words=view.words, special=view.special, lens=view.lens)
        for kind in KINDS
    }
    parts = [_part(every[kind], view.sort) for kind in view.kinds]
    layers = view.layers or tuple(range(trace.cross.shape[0]))
    grid = encode_grid(
        parts,
        selected=(view.kind, *outlined(view.lens, view.layer, view.head)),
        order=head_order(parts, layers, view.sort),
        step=view.step,
        caption=() if origin is None else origin.caption(),
    )
    arrays: dict[str, NDArray] = {"grid": _as_array(grid)}
    if view.step is not None:
        every = {kind: crop_to_step(of, view.step) for kind, of in every.items()}
    for kind, of in every.items():
        caption = (
            () if origin is None else origin.caption(f"{KIND_TITLES[kind]}, {through(view.lens)}")
        )
        arrays |= _of_kind(of, view, caption)
    first = open_map(every[view.kind], view.layer, view.head)
    compared = _compared(first, view)
    arrays |= {f"compared.{n}": _as_array(content) for n, content in enumerate(compared)}
    meta = {
        "component": "explorer",
        "selected": [view.kind, view.layer, view.head if tells_heads(view.lens) else None],
        "title": first.title,
        "over": view.over,
        "together": None if tells_heads(view.lens) else ALL_HEADS,
        "kinds": {kind: of.axes.weights.shape[:2] for kind, of in every.items()},
        "compared": len(compared),
    }
    return base64.b64encode(gzip.compress(encode(meta, arrays), mtime=0)).decode()


def _check_heads(trace: AttentionTrace, view: View) -> None:
    """Raises InputError where a head is asked for that is not there."""
    layers, count = trace.weights(view.kind).shape[:2]
    if view.head and not tells_heads(view.lens):
        raise InputError(
            f"The lens {LENS_NAMES[view.lens]} sees all heads of a layer together: there is no "
            f"head {view.head + 1} in it, so name a layer alone."
        )
    for layer, head in ((view.layer or 0, view.head or 0), *view.over):
        if not (0 <= layer < layers and 0 <= head < count):
            raise InputError(
                f"There is no layer {layer + 1} with a head {head + 1}: this model has {layers} "
                f"layers of {count} heads."
            )


def _part(of: Heads, sort: str) -> GridPart:
    """As on the page: a head is named and sorted by all that it looks at, shown or not."""
    values = None if sort == LAYER_ORDER else measure(of.whole, of.kind, sort)
    return GridPart(
        of.kind,
        of.axes.weights,
        of.axes.labels,
        head_roles(of.whole, of.kind),
        values,
        together=not tells_heads(of.lens),
    )


def _of_kind(of: Heads, view: View, caption: Sequence[str]) -> dict[str, NDArray]:
    """Map and view of the first head, which have the labels of all, and everybody's weights."""
    first, labels = of.axes.weights[0, 0], of.axes.labels
    reads, writes = of.axes.reads, of.axes.writes
    a_map = encode_map(
        first,
        labels,
        of.kind,
        title=" · ".join([KIND_TITLES[of.kind], *title_end(of.lens)]),
        reads=reads,
        writes=writes,
        scale=view.scale,
        threshold=view.threshold,
        amount=amount(view.lens),
        note=row_note(view.lens, of.kind, special=view.special),
        caption=caption,
    )
    # a colour for the open head and for each that lies over it
    names = [str(n) for n in range(len(view.over) + 1)]
    a_view = encode_view(
        [(name, first) for name in names],
        labels,
        of.kind,
        threshold=view.threshold,
        reads=reads,
        writes=writes,
        caption=caption,
    )
    return {
        f"{of.kind}.map": _as_array(a_map),
        f"{of.kind}.view": _as_array(a_view),
        f"{of.kind}.weights": of.axes.weights,
    }


def _compared(first: OpenMap, view: View) -> list[bytes]:
    """The second map, and the difference where both are of the same tokens."""
    if (second := view.compared) is None:
        return []
    maps = [
        encode_map(
            second.weights,
            second.labels,
            view.kind,
            title=f"second: {second.title}",
            reads=second.reads,
            writes=second.writes,
            scale=view.scale,
            threshold=view.threshold,
            amount=amount(second.lens),
            note=row_note(second.lens, view.kind, special=view.special),
        )
    ]
    if first.labels == second.labels:
        difference = encode_map(
            first.weights - second.weights,
            first.labels,
            view.kind,
            title="first minus second",
            reads=first.reads,
            writes=first.writes,
            signed=True,
            note=None if view.special else "Each square is first minus second.",
        )
        maps.append(difference)
    return maps


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
