"""The heads of one kind as a chart: a square for each, layers down and heads across."""

from typing import Any

import altair as alt
import pandas as pd

from viz.figures.axes import INK, bare_axis
from viz.figures.head_scatter import PICKED


def head_cells(
    table: pd.DataFrame,
    height: Any,
    tooltip: list[alt.Tooltip],
    *,
    named: bool = False,
    **mark: Any,
) -> alt.LayerChart:
    """Draw heads, each with its `layer` and `head` from 0, its `color` and its `opacity`.

    With a column `text` a square has words of a `size` in CSS pixels; with `opened`, that head has
    an outline, and a click selects `PICKED`. Axes with the letters of heads are `named`.
    """
    axes = []
    for channel, field, letter, gap in ((alt.X, "head", "H", 0.03), (alt.Y, "layer", "L", 0.04)):
        plain: dict[str, Any] = {"labelAngle": 0, "labelExpr": "datum.value + 1"}
        scale: Any = alt.Undefined
        if named:
            plain |= {"labelExpr": f"'{letter}' + (datum.value + 1)", "labelPadding": 6}
            scale = alt.Scale(paddingInner=2 * gap, paddingOuter=gap)
        orient = "top" if field == "head" else "left"
        title = None if named else field
        axis = bare_axis(orient=orient, **plain)
        axes.append(channel(f"{field}:O", title=title, axis=axis, scale=scale))
    cursor: Any = "pointer" if "opened" in table else alt.Undefined
    base = alt.Chart(table, height=height).encode(*axes)
    color, opacity = alt.Color("color:N", scale=None), alt.FillOpacity("opacity:Q", scale=None)
    cells = base.mark_rect(cursor=cursor, **mark).encode(color, opacity, tooltip=tooltip)
    layers = [cells]
    if "opened" in table:
        layers = [cells.add_params(alt.selection_point(name=PICKED, fields=["layer", "head"]))]
        outline = base.transform_filter("datum.opened").mark_rect(
            filled=False, stroke=INK, strokeWidth=2, cornerRadius=2, aria=False
        )
        layers.append(outline)
    if "text" in table:
        size = alt.Size("size:Q", scale=None)
        ink = {"opacity": alt.Opacity("ink:Q", scale=None)} if "ink" in table else {}
        words = base.mark_text(color=INK, cursor=cursor, aria=False)
        layers.append(words.encode(size, text=alt.Text("text:N"), tooltip=tooltip, **ink))
    return alt.LayerChart(layer=layers)
