"""The path of a signal between two words, as a picture that plays by itself (§4)."""

from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from viz.draw.labels import display_tokens
from viz.figures.axes import GREY

_WIDTH, _HEIGHT, _EDGE, _MARGIN = 400, 120, 20, 10  # units of the picture
_DOTS = 64  # positions up to which each has a dot, and what leads to the end of the path a line
_LETTER = 8  # width of a letter and its share of a space: words without room have no label
SECONDS, _SHARE = 8, 0.7  # of one turn, and the share of it in which the longest path is drawn

_STYLE = "@keyframes way { from { stroke-dashoffset: 1; } to { stroke-dashoffset: 0; } }"


def path_picture(
    tokens: Sequence[str],
    path: Sequence[int],
    connections: Callable[[int, int], range],
    *,
    longest: int,
    color: str,
    alt: str,
    rows: int,
) -> str:
    """Draw a path as HTML; its style is in `texts.css`.

    `path` has the position after each step, from an input below through `rows` of positions: as
    many as steps, or one of a recurrence. `connections` lead to its end, faintly. `longest` counts
    the steps of the longest path beside it: all pictures have one clock. `alt` says what is drawn.
    """
    steps, n = len(path) - 1, len(tokens)
    across = np.linspace(_EDGE, _WIDTH - _EDGE, n) if n > 1 else np.array([_WIDTH / 2])
    up = np.linspace(_HEIGHT - _MARGIN, _MARGIN, rows + 1)
    at = np.array([(across[i], up[min(step, rows)]) for step, i in enumerate(path)])
    faint = "".join(f"M{_EDGE} {y:.1f}H{_WIDTH - _EDGE}" for y in up)
    dots = [*at[[0, -1]]]
    if n <= _DOTS:
        faint = ""
        dots += [(x, y) for y in up for x in across]
        recurs = rows < steps  # each state reads its own input and the state before
        leading = {*range(n)} if recurs else {path[-1]}
        for step in reversed(range(rows + recurs)):
            edges = [(i, j) for i in range(n) for j in connections(step, i) if j in leading]
            low, high = up[min(step, rows)], up[min(step + 1, rows)]
            faint += "".join(
                f"M{across[i]:.1f} {low:.1f}L{across[j]:.1f} {high:.1f}" for i, j in edges
            )
            leading = leading if recurs else {i for i, _ in edges}
    lengths = np.hypot(*np.diff(at, axis=0).T)
    drawn = np.cumsum(lengths) / lengths.sum()
    # each step takes the same time, on one clock with the other pictures
    ends = 100 * _SHARE * np.arange(1, steps + 1) / longest
    clock = ", ".join(f"{part:.4f} {end:.3f}%" for part, end in zip(drawn, ends, strict=True))
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if number < 2 else 3}" '
        f'fill="{color if number < 2 else GREY}"/>'
        for number, (x, y) in reversed([*enumerate(dots)])
    )
    play = f"animation: way {SECONDS}s linear(0, {clock}, 1 100%) 2"
    # as images, since Streamlit takes SVG out of HTML; the words have the page's letters. An image
    # does not know whether its reader wants motion, so the page's style shows one of two
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    images = ""
    for name, style in (("moving", play), ("still", "")):
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
            f'<style>{_STYLE}</style><g fill="none"><path d="{faint}" stroke="{GREY}" '
            f'opacity=".6"/><path pathLength="1" d="M{way}" stroke="{color}" stroke-width="3" '
            f'stroke-dasharray="1" style="{style}"/></g>{circles}</svg>'
        )
        images += (
            f'<img class="{name}" alt="{escape(alt)}" width="{_WIDTH}" height="{_HEIGHT}" '
            f'src="data:image/svg+xml,{quote(svg)}">'
        )
    return (
        f'<figure class="headlight-path">{images}'
        f"<figcaption aria-hidden=true>{_words(tokens, path, across)}</figcaption></figure>"
    )


def _words(tokens: Sequence[str], path: Sequence[int], across: NDArray[np.float64]) -> str:
    names, last = display_tokens(tokens), len(tokens) - 1
    every = max(map(len, names)) * _LETTER < _WIDTH / len(names)
    shown = range(len(names)) if every else sorted({path[0], path[-1]})
    return "".join(
        f'<span style="left: {100 * across[i] / _WIDTH:.1f}%; '
        f'translate: {-50 if 0 < i < last or every else -100 * (i > 0)}%">{escape(names[i])}</span>'
        for i in shown
    )
