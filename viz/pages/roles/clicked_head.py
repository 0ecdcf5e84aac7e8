"""Which head a click on a chart of heads means: what a browser sends can be anything."""

from __future__ import annotations

PICKED = "picked"
"""The selection that a click makes, of fields `layer` and `head` from 0."""


def picked(state: object, shape: tuple[int, int]) -> tuple[int, int] | None:
    """Layer and head of a click; None where the browser sends anything else.

    Args:
        state: what Streamlit holds under the key of the chart.
        shape: layers and heads.
    """
    selection = state.get("selection") if isinstance(state, dict) else None
    points = selection.get(PICKED) if isinstance(selection, dict) else None
    if not (isinstance(points, list) and points and isinstance(points[0], dict)):
        return None
    layer, head = points[0].get("layer"), points[0].get("head")
    if type(layer) is not int or type(head) is not int:
        return None
    return (layer, head) if 0 <= layer < shape[0] and 0 <= head < shape[1] else None
