"""Charts of the paper's results: BLEU over the cost of training, and what each change does."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd

from transformer.paper.results import EN_DE, EN_FR, TABLE_2
from viz.figures import axes, forms

HEIGHT = 400  # of the chart of a language pair, in CSS pixels
KINDS = {"Transformer": axes.VIOLET, "single model": axes.SLATE, "ensemble": axes.SLATE}
"""Colours of the kinds of models, which differ from those of attention."""
COSTS = (2e18, 3e21)  # the axis, on which both language pairs can be compared

RIGHT, LEFT = ("left", 10, 0), ("right", -10, 0)
PLACES = {
    (EN_DE, "MoE"): LEFT,
    (EN_DE, "ConvS2S Ensemble"): LEFT,
    (EN_FR, "MoE"): LEFT,
    (EN_FR, "GNMT + RL"): LEFT,
    (EN_FR, "Deep-Att + PosUnk Ensemble"): ("center", 0, 16),
    (EN_FR, "GNMT + RL Ensemble"): ("right", -10, 5),
    (EN_FR, "ConvS2S Ensemble"): ("right", -10, -5),
}
"""Alignment of a name and its distance from the dot in pixels, if there is no room on the right."""


def cost_chart(pair: str) -> alt.LayerChart:
    """Draw BLEU over the training cost of the models of Table 2, for a language pair."""
    rows = [
        (
            model.name, model.kind, model.flops[pair], float(model.bleu[pair]),
            *PLACES.get((pair, model.name), RIGHT),
        )
        for model in TABLE_2
        if pair in model.flops
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "kind", "flops", "bleu", "align", "dx", "dy"])
    ticks = [1e19, 1e20, 1e21]
    power = "'10' + {'19': '¹⁹', '20': '²⁰', '21': '²¹'}[round(log(datum.value) / LN10)]"
    x = alt.X(
        "flops:Q",
        title="training cost, floating-point operations",
        scale=alt.Scale(type="log", domain=COSTS, nice=False),
        axis=alt.Axis(values=ticks, labelExpr=power, grid=True),
    )
    y = alt.Y("bleu:Q", title=f"BLEU, {pair}", scale=alt.Scale(zero=False, padding=20))
    base = alt.Chart(frame, height=HEIGHT).encode(x, y)
    dots = base.mark_point(filled=True, opacity=1).encode(
        axes.named_color("kind", KINDS),
        _shape("kind", KINDS, ["diamond", "circle", "square"]),
        size=alt.SizeValue(70, condition={"test": "datum.kind == 'Transformer'", "value": 190}),
        tooltip=forms.tips("model", "kind", bleu=("BLEU", "~f"), flops=("FLOPs", ".1e")),
    )
    place: dict[str, Any] = {name: alt.expr(f"datum.{name}") for name in ("align", "dx", "dy")}
    weight = alt.expr("datum.kind == 'Transformer' ? 600 : 400")
    names = base.mark_text(**place, fontWeight=weight, fontSize=12, color=axes.INK)
    return dots + names.encode(text=alt.Text("model:N"))


def _shape(field: str, names: Iterable[str], shapes: list[str]) -> alt.Shape:
    """Return the shape of each name in a column, in the legend of its colour."""
    scale, legend = (
        alt.Scale(domain=list(names), range=shapes),
        alt.Legend(title=None, orient="top"),
    )
    return alt.Shape(f"{field}:N", scale=scale, legend=legend)


SOURCE_COLORS = {"paper": axes.OCHRE, "here": axes.VIOLET}
"""Colours of the paper's models and of those trained here."""

PANELS = {
    "bleu": ("BLEU, difference to the base", (-2.6, 1.0)),
    "perplexity": ("perplexity, difference to the base", (-0.8, 1.6)),
}
"""Title and range of each panel of Table 3: what the paper's rows need."""


def difference_chart(table: pd.DataFrame, column: str) -> alt.LayerChart:
    """Draw the effect of each change relative to its own base, in one of the `PANELS`.

    The table is that of `model_variations.differences`. A difference beyond the panel is drawn at
    its edge, with the number.
    """
    title, (low, high) = PANELS[column]
    change = table[f"{column}_change"]
    frame = table.assign(place=change.clip(low, high), beyond=(change < low) | (change > high))
    names = list(dict.fromkeys(frame["row"]))
    axis = alt.Axis(ticks=False, grid=True, labelLimit=220)
    numbers = {column: ("value", ".2f"), f"{column}_change": ("difference", "+.2f")}
    base = alt.Chart(frame, height=24 * len(names) + 60).encode(  # with the legend
        alt.X("place:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False, padding=12)),
        alt.Y("row:N", sort=names, title=None, axis=axis),
        axes.named_color("whose", SOURCE_COLORS),
        tooltip=forms.tips("row", "whose", "model", **numbers),
    )
    shape = _shape("whose", SOURCE_COLORS, ["circle", "diamond"])
    dots = base.mark_point(filled=True, size=90, opacity=0.9).encode(shape)
    labels = base.transform_filter("datum.beyond").mark_text(
        align=alt.expr(f"datum.place > {low} ? 'right' : 'left'"),
        dx=alt.expr(f"datum.place > {low} ? -10 : 10"),
    )
    text = alt.Text(f"{column}_change:Q", format="+.1f")
    return forms.rule("place", 0, strokeDash=[4, 3], strokeWidth=1.5) + dots + labels.encode(text)
