"""Weights of one head by several functions, as maps side by side that zoom and hover."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from transformer.arrays import AnyFloats
from viz.draw.labels import display_tokens
from viz.figures.positions import SIGNED, maps, signed_map

if TYPE_CHECKING:
    import plotly.graph_objects as go


def weight_maps(
    weights: Mapping[str, AnyFloats], queries: Sequence[str], keys: Sequence[str]
) -> "go.Figure":
    """Draw maps, `[query, key]` each, on one scale from 0 to 1, by their titles."""
    down, across = map(_unique, (queries, keys))
    hover = "%{y}<br>looks at %{x}<br>%{z:.3f}"
    drawn = {
        title: signed_map(values, 1, hover=hover, x=across, y=down).update(
            zmin=0, colorscale=[(0, SIGNED[2][1]), (1, SIGNED[3][1])]
        )
        for title, values in weights.items()
    }
    # Plotly leaves out names of such an axis where there is no room
    axis = {"type": "category", "tickangle": -90}
    return maps(drawn, across=axis, down={"type": "category"}, height=400)


def _unique(tokens: Sequence[str]) -> list[str]:
    """Name tokens, equal ones apart by characters without width: Plotly would join their rows."""
    names = [escape(name) for name in display_tokens(tokens)]
    return [name + "\u200b" * names[:n].count(name) for n, name in enumerate(names)]
