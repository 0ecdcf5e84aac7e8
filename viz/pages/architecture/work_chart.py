"""Work and memory of a layer as the sequence grows, by formula and as measured (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures.axes import curve_color
from viz.figures.colors import OCHRE, PINK, SLATE, VIOLET

COLORS = {
    "self-attention": VIOLET,
    "recurrent": OCHRE,
    "convolutional": PINK,
    "restricted self-attention": SLATE,
}
"""One colour for each layer of Table 1; none of them can be taken for a kind of attention."""

HEIGHT = 480  # CSS pixels
SHORTEST, POINTS = 4, 80
_SHORT = "datum.value < 1000 ? format(datum.value, '~g') : format(datum.value, '~s')"


def lengths(longest: int, *also: float) -> npt.NDArray[np.float64]:
    """Lengths for a curve, evenly on a logarithmic axis; `also` are among them where they fit."""
    inside = [n for n in also if SHORTEST <= n <= longest]
    return np.unique(np.concatenate([np.geomspace(SHORTEST, longest, POINTS), inside]))


def growth_chart(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    quantity: str,
    crossings: Mapping[str, tuple[float, float]] | None = None,
    dots: bool = False,
) -> alt.LayerChart | alt.Chart:
    """One quantity over the length of the sequence, both axes logarithmic.

    Args:
        curves: lengths and values by the name of the layer, one of `COLORS`.
        quantity: title of the vertical axis.
        crossings: length and value at which a curve meets that of self-attention, by the name of
            the other layer.
        dots: whether each value is a dot of its own, as what was measured is.
    """
    frame = pd.concat(
        pd.DataFrame({"layer": name, "n": np.asarray(n), "value": np.asarray(values)})
        for name, (n, values) in curves.items()
    )
    encoding = _encoding(list(curves), frame, quantity)
    mark: dict[str, Any] = {"point": alt.OverlayMarkDef(size=36, filled=True)} if dots else {}
    lines = alt.Chart(frame, height=HEIGHT).mark_line(strokeWidth=2, **mark).encode(**encoding)
    if not crossings:
        return lines
    met = pd.DataFrame(
        [(name, n, value) for name, (n, value) in crossings.items()],
        columns=["layer", "n", "value"],
    )
    rings = alt.Chart(met).mark_point(size=110, strokeWidth=2.5, filled=False)
    return lines + rings.encode(**encoding)


def _encoding(names: Sequence[str], frame: pd.DataFrame, quantity: str) -> dict[str, Any]:
    log = alt.Scale(type="log", nice=False)
    first, last = np.log2(frame["n"].min()), np.log2(frame["n"].max())
    powers = [2**n for n in range(int(np.ceil(first)), int(np.floor(last)) + 1)]
    low, high = np.log10(frame["value"].min()), np.log10(frame["value"].max())
    tens = [10.0**n for n in range(int(np.floor(low)), int(np.ceil(high)) + 1)]
    return {
        "x": alt.X(
            "n:Q",
            title="length n, tokens",
            scale=log,
            axis=alt.Axis(grid=False, values=powers, format=",", labelOverlap=True),
        ),
        "y": alt.Y(
            "value:Q",
            title=quantity,
            scale=alt.Scale(type="log"),
            axis=alt.Axis(values=tens, labelExpr=_SHORT, labelOverlap=True),
        ),
        "color": curve_color("layer", names, [COLORS[name] for name in names], labelLimit=200),
        "tooltip": [
            alt.Tooltip("layer:N"),
            alt.Tooltip("n:Q", format=",.0f"),
            alt.Tooltip("value:Q", format=",.4~g", title=quantity),
        ],
    }
