"""Charts of the paper's results: BLEU over the cost of training, and what each change does."""

import altair as alt
import pandas as pd

from transformer.paper.results import EN_DE, EN_FR, TABLE_2
from viz.figures import axes, forms

HEIGHT = 400  # of the chart of a language pair, in CSS pixels
KINDS = {"Transformer": axes.VIOLET, "single model": axes.SLATE, "ensemble": axes.SLATE}
"""Colours of the kinds of models, which differ from those of attention."""
COSTS = (2e18, 3e21)  # the axis, on which both language pairs can be compared

NAMES_LEFT = {
    (EN_DE, "MoE"): 0,
    (EN_DE, "ConvS2S Ensemble"): 0,
    (EN_FR, "MoE"): 0,
    (EN_FR, "Deep-Att + PosUnk Ensemble"): 16,
    (EN_FR, "GNMT + RL Ensemble"): 5,
    (EN_FR, "ConvS2S Ensemble"): -5,
}
"""Models whose name stands on the left of their dot, for room, and by how many pixels below it."""


def cost_chart(pair: str) -> alt.LayerChart:
    """Draw BLEU over the training cost of the models of Table 2, for a language pair."""
    rows = [
        (
            model.name, model.kind, model.flops[pair], float(model.bleu[pair]),
            NAMES_LEFT.get((pair, model.name)),
        )
        for model in TABLE_2
        if pair in model.flops
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "kind", "flops", "bleu", "left"])
    ticks = [1e19, 1e20, 1e21]
    power = "'10' + {'19': '¹⁹', '20': '²⁰', '21': '²¹'}[round(log(datum.value) / LN10)]"
    x = alt.X(
        "flops:Q",
        title="training cost, floating-point operations",
        scale=alt.Scale(type="log", domain=COSTS, nice=False),
        axis=alt.Axis(values=ticks, labelExpr=power, grid=True),
    )
    y = alt.Y(
        "bleu:Q",
        title=f"BLEU, {pair}",
        scale=alt.Scale(zero=False, padding=20),
        axis=alt.Axis(tickCount=5),
    )
    base = alt.Chart(frame, height=HEIGHT).encode(x, y)
    shapes = alt.Scale(domain=list(KINDS), range=["diamond", "circle", "square"])
    legend = alt.Legend(title=None, orient="top")
    dots = base.mark_point(filled=True, opacity=1).encode(
        axes.named_color("kind", KINDS),
        alt.Shape("kind:N", scale=shapes, legend=legend),
        size=alt.condition("datum.kind == 'Transformer'", alt.value(190), alt.value(70)),
        tooltip=forms.tips("model", "kind", bleu=("BLEU", "~f"), flops=("FLOPs", ".1e")),
    )
    names = base.mark_text(
        align=alt.expr("isValid(datum.left) ? 'right' : 'left'"),
        dx=alt.expr("isValid(datum.left) ? -10 : 10"),
        dy=alt.expr("datum.left || 0"),
        fontWeight=alt.expr("datum.kind == 'Transformer' ? 600 : 400"),
        fontSize=12,
        color=axes.INK,
    )
    return dots + names.encode(text="model:N")


SOURCE_COLORS = {"paper": axes.OCHRE, "here": axes.VIOLET}
"""Colours of the paper's models and of those trained here."""

PANELS = {
    "bleu": ("BLEU, difference to the base", (-2.6, 1.0)),
    "perplexity": ("perplexity, difference to the base", (-0.8, 1.6)),
}
"""Title and range of each panel of Table 3: what the paper's rows need."""


def difference_chart(table: pd.DataFrame, column: str) -> alt.LayerChart:
    """Draw the effect of each change relative to its own base, in one of the `PANELS`.

    The table has `row`, `whose`, `model`, and by column the value and, as `COLUMN_change`, its difference. A
    difference beyond the panel is drawn at its edge, with the number.
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
    shapes = alt.Scale(domain=list(SOURCE_COLORS), range=["circle", "diamond"])
    dots = base.mark_point(filled=True, size=90, opacity=0.9).encode(
        alt.Shape("whose:N", scale=shapes, legend=alt.Legend(title=None, orient="top"))
    )
    labels = base.transform_filter("datum.beyond").mark_text(
        align=alt.expr(f"datum.place > {low} ? 'right' : 'left'"),
        dx=alt.expr(f"datum.place > {low} ? -10 : 10"),
    )
    text = alt.Text(f"{column}_change:Q", format="+.1f")
    return forms.rule("place", 0, strokeDash=[4, 3], strokeWidth=1.5) + dots + labels.encode(text)
