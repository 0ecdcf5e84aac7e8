"""Weights of one head by several functions, as maps side by side that zoom and hover."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from viz.draw.labels import display_tokens
from viz.figures.positions import SIGNED, Floats, axis_place, maps, signed_map

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LABELLED = 24  # tokens with a name along an axis, at most


def weight_maps(
    weights: Mapping[str, Floats], queries: Sequence[str], keys: Sequence[str]
) -> "go.Figure":
    """Draw maps, `[query, key]` each, on one scale from 0 to 1, by their titles."""
    named, axes = [], []
    for side in (queries, keys):
        names = [escape(name) for name in display_tokens(side)]
        every = range(0, len(names), -(-len(names) // _LABELLED))
        places = [axis_place(n, len(names)) for n in every]
        named.append([f"{n}: {name}" for n, name in enumerate(names, start=1)])
        axes.append({"tickvals": places, "ticktext": [names[n] for n in every]})
    hover = "%{y}<br>looks at %{x}<br>%{z:.3f}"
    drawn = {
        title: signed_map(values, 1, hover=hover, x=named[1], y=named[0]).update(
            zmin=0, colorscale=[(0, SIGNED[2][1]), (1, SIGNED[3][1])]
        )
        for title, values in weights.items()
    }
    return maps(drawn, across={**axes[1], "tickangle": -90}, down=axes[0], height=400)
