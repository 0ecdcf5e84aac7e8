"""What each decoder layer would write at each step, as a table that a screen reader reads, too."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from transformer.analysis.logits.logit_lens import LayerPredictions
from viz.draw.formatting import format_probability
from viz.draw.labels import display_tokens
from viz.figures.colors import VIOLET
from viz.pages.roles.other_piece import shown_piece

_DEEPEST = 60  # per cent of the colour at probability 1: words stay readable on it
_QUIET = "color:color-mix(in srgb,currentColor 70%,transparent)"
_CELL = "padding:.25rem .5rem;border:0;text-align:start;white-space:nowrap;line-height:1.3"


def stays_from(rank: npt.NDArray[np.int64]) -> list[int | None]:
    """At each step the first layer from which the written piece is the most probable one for good.

    Args:
        rank: `[layer, target]`, 0 where it is.

    Returns:
        Layers from 0; None where even the last one has another piece first.
    """
    first = rank == 0
    held = np.logical_and.accumulate(first[::-1])[::-1]  # [layer, target]
    return [int(steps.argmax()) if steps.any() else None for steps in held.T]


def predictions_html(found: LayerPredictions, tokens: Sequence[str], step: int) -> str:
    """The table: layers down, steps across, in each cell the piece that this layer has first.

    Args:
        found: of every step.
        tokens: `[target]`, what was written.
        step: the chosen one.
    """
    stays = stays_from(found.rank)
    head = "".join(_heading(name, n == step) for n, name in enumerate(display_tokens(tokens)))
    body = "".join(
        f'<tr style="border:0"><th scope="row" style="{_CELL};font-weight:600">L{layer + 1}</th>'
        + "".join(_cell(found, layer, n, stays[n] == layer) for n in range(len(tokens)))
        + "</tr>"
        for layer in range(len(found.pieces))
    )
    return (
        '<div role="region" tabindex="0" aria-label="What each layer would write" '
        'style="position:relative;overflow-x:auto;padding-block:2px">'  # what is unseen stays in it
        '<table style="border-collapse:separate;border-spacing:2px;border:0;margin:0;'
        'width:auto;font-size:.875rem">'
        f'<thead><tr style="border:0"><th scope="col" style="{_CELL};{_QUIET};font-weight:400">'
        f"written</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def top_html(found: LayerPredictions, step: int) -> str:
    """The most probable pieces of each layer at one step, as the Translate page lists choices."""
    items = []
    for layer, steps in enumerate(found.pieces):
        best = zip(steps[step], found.probabilities[layer, step], strict=True)
        lines = "".join(
            f"<small><bdi>{escape(shown_piece(piece))}</bdi> "
            f"<span>{escape(format_probability(float(value)))}</span></small>"
            for piece, value in best
        )
        items.append(f"<li><b>L{layer + 1}</b>{lines}</li>")
    return f'<ol class="headlight-choices" style="padding:0">{"".join(items)}</ol>'


def _heading(name: str, chosen: bool) -> str:
    under = "box-shadow:inset 0 -2px currentColor;" if chosen else ""
    weight = 600 if chosen else 400
    current = ' aria-current="true"' if chosen else ""
    return (
        f'<th scope="col"{current} style="{_CELL};{under}font-weight:{weight}">'
        f"<bdi>{escape(name)}</bdi></th>"
    )


def _cell(found: LayerPredictions, layer: int, step: int, stays: bool) -> str:
    pieces, values = found.pieces[layer][step], found.probabilities[layer, step]
    rank = int(found.rank[layer, step])
    depth = round(_DEEPEST * float(values[0]))
    style = f"{_CELL};background:color-mix(in srgb,{VIOLET} {depth}%,transparent)"
    if stays:
        style += ";box-shadow:inset 0 0 0 2px currentColor"
    if rank == 0:
        style += ";font-weight:600"
    hover = "\n".join(
        f"{shown_piece(piece)} {format_probability(float(value))}"
        for piece, value in zip(pieces, values, strict=True)
    )
    quiet = _QUIET if rank else ""  # on a deep colour in full ink
    below = escape(format_probability(float(values[0])) if rank == 0 else f"rank {rank + 1:,}")
    said = '<span class="headlight-unseen">, stays from here</span>' if stays else ""
    return (
        f'<td style="{style}" title="{escape(hover)}"><bdi>{escape(shown_piece(pieces[0]))}</bdi>'
        f'<br><span style="font-size:.75rem;font-weight:400;{quiet}">{below}{said}</span></td>'
    )
