"""Time, memory or steps over the length of the sequence, for several layers or functions."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from viz.figures import forms
from viz.figures.axes import curve_color

_SHORT = "datum.value < 1000 ? format(datum.value, '~g') : format(datum.value, '~s')"


def growth_chart(
    curves: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, quantity: str, dots: bool = False
) -> alt.Chart:
    """Draw one quantity over the length of the sequence, both axes logarithmic."""
    frame = pd.concat(
        pd.DataFrame({"layer": name, "n": np.asarray(n), "value": np.asarray(values)})
        for name, (n, values) in curves.items()
    )
    frame = frame[np.isfinite(frame["value"])]  # a kernel of 1 connects no two tokens
    first, last = np.log2(frame["n"].min()), np.log2(frame["n"].max())
    powers = [2**n for n in range(int(np.ceil(first)), int(np.floor(last)) + 1)]
    low, high = np.log10(frame["value"].min()), np.log10(frame["value"].max())
    tens = [10.0**n for n in range(int(np.floor(low)), int(np.ceil(high)) + 1)]
    scale = alt.Scale(type="log", nice=False)
    x = alt.Axis(grid=False, values=powers, format=",", labelOverlap=True)
    y = alt.Axis(values=tens, labelExpr=_SHORT, labelOverlap=True)
    return forms.curves(
        frame,
        alt.X("n:Q", title="length n, tokens", scale=scale, axis=x),
        alt.Y("value:Q", title=quantity, scale=alt.Scale(type="log"), axis=y),
        curve_color("layer", list(curves), labelLimit=200),
        dots=36 * dots,
        height=400,
        tooltip=forms.tips("layer", n=("", ",.0f"), value=(quantity, ",.4~g")),
    )
