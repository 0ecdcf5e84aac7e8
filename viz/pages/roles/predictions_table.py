"""The table of what each decoder layer would write, and the choices of one step."""

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from transformer.analysis.logits.logit_lens import LayerPredictions
from viz.draw.formatting import format_probability
from viz.draw.labels import display_tokens
from viz.figures.axes import VIOLET
from viz.pages.roles.pieces import shown_piece

_DEEPEST = 60  # per cent of the colour at probability 1, on which text is readable
_QUIET = "color:color-mix(in srgb,currentColor 70%,transparent)"
_CELL = "padding:.25rem .5rem;border:0;text-align:start;white-space:nowrap;line-height:1.3"


def first_stable_layers(rank: npt.NDArray[np.int64]) -> list[int | None]:
    """Find the first layer from which the written piece stays the most probable one, by step.

    The rank is `[layer, target]`, 0 for the most probable piece. A layer counts from 0, and is None
    where the last one has another piece first.
    """
    first = rank == 0
    stable = np.logical_and.accumulate(first[::-1])[::-1]  # [layer, target]
    return [int(steps.argmax()) if steps.any() else None for steps in stable.T]


def predictions_html(predictions: LayerPredictions, tokens: Sequence[str], step: int) -> str:
    """Format the table: layers down, steps across, the layer's most probable piece in each cell.

    The written tokens, `[target]`, are the headings; that of the chosen step is underlined. Below
    them stands the layer from which each is first and stays so.
    """
    stable = first_stable_layers(predictions.rank)
    plain = f'<th scope="col" style="{_CELL};font-weight:400">'
    chosen = (
        f'<th scope="col" aria-current="true" style="{_CELL};'
        'box-shadow:inset 0 -2px currentColor;font-weight:600">'
    )
    head = "".join(
        f"{chosen if n == step else plain}<bdi>{escape(name)}</bdi></th>"
        for n, name in enumerate(display_tokens(tokens))
    )
    first = "".join(
        f'<td style="{_CELL}">{"never" if layer is None else f"L{layer + 1}"}</td>'
        for layer in stable
    )
    body = "".join(
        f'<tr style="border:0"><th scope="row" style="{_CELL};font-weight:600">L{layer + 1}</th>'
        + "".join(_cell(predictions, layer, n, stable[n] == layer) for n in range(len(tokens)))
        + "</tr>"
        for layer in range(len(predictions.pieces))
    )
    return (
        '<div role="region" tabindex="0" aria-label="What each layer would write" '
        'style="position:relative;overflow-x:auto;padding-block:2px">'  # holds the hidden text
        '<table style="border-collapse:separate;border-spacing:2px;border:0;margin:0;'
        'width:auto;font-size:.875rem">'
        f'<thead><tr style="border:0"><th scope="col" style="{_CELL};{_QUIET};font-weight:400">'
        f"written</th>{head}</tr></thead><tbody>"
        f'<tr style="border:0"><th scope="row" style="{_CELL};{_QUIET};font-weight:400">'
        f"first at</th>{first}</tr>{body}</tbody></table></div>"
    )


def top_html(predictions: LayerPredictions, step: int) -> str:
    """Format the most probable pieces of each layer at one step, as on the Translate page."""
    items = []
    for layer, steps in enumerate(predictions.pieces):
        best = zip(steps[step], predictions.probabilities[layer, step], strict=True)
        lines = "".join(
            f"<small><bdi>{escape(shown_piece(piece))}</bdi> "
            f"<span>{escape(format_probability(float(value)))}</span></small>"
            for piece, value in best
        )
        items.append(f"<li><b>L{layer + 1}</b>{lines}</li>")
    return f'<ol class="headlight-choices" style="padding:0">{"".join(items)}</ol>'


def _cell(predictions: LayerPredictions, layer: int, step: int, stable: bool) -> str:
    pieces, values = predictions.pieces[layer][step], predictions.probabilities[layer, step]
    rank = int(predictions.rank[layer, step])
    depth = round(_DEEPEST * float(values[0]))
    style = f"{_CELL};background:color-mix(in srgb,{VIOLET} {depth}%,transparent)"
    if stable:
        style += ";box-shadow:inset 0 0 0 2px currentColor"
    if rank == 0:
        style += ";font-weight:600"
    hover = "\n".join(
        f"{shown_piece(piece)} {format_probability(float(value))}"
        for piece, value in zip(pieces, values, strict=True)
    )
    quiet = _QUIET if rank else ""  # full ink on a deep colour
    below = escape(format_probability(float(values[0])) if rank == 0 else f"rank {rank + 1:,}")
    return (
        f'<td style="{style}" title="{escape(hover)}"><bdi>{escape(shown_piece(pieces[0]))}</bdi>'
        f'<br><span style="font-size:.75rem;font-weight:400;{quiet}">{below}</span></td>'
    )
