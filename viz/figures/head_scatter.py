"""All heads of a model as points: one measure against another, each with its interval."""

from typing import Any

import altair as alt
import pandas as pd

from transformer.kinds import KIND_NAMES, Kind
from viz.draw.labels import head_name, measure_name, role_name
from viz.draw.palette import COLOR
from viz.figures.axes import GREY, INK, SLATE, curve_colors, named_color
from viz.figures.forms import TEXT, tips

PICKED = "picked"
"""Name of the Vega selection of a click on a head, with the fields `layer` and `head` from 0."""

KIND, ROLE, MIXED = "kind", "role", "mixed"
"""Two colours that are not measures, and the role of a head in which nothing dominates."""
AXIS_TITLES: dict[str, str] = {
    "loss without": "loss increase when removed, nats per subword",
    "gradient": "dependence of the loss, nats per subword",
    "confidence": "confidence (1: each row looks at one token)",
    "entropy": "entropy, bits (0: each row looks at one token)",
    "offset": "offset, tokens (below 0: looks back)",
    "diagonal": "distance from the diagonal, tokens",
    "alignment error": "alignment error (0: all links right)",
}
"""Titles of axes by measure, with unit and direction; the others are shares of the weight."""

NAMED = 5  # heads with their names beside them: those furthest out

_SHAPES = dict(zip(KIND_NAMES.values(), ("circle", "square", "triangle-up"), strict=True))
_SCALE = alt.Scale(zero=False, nice=True)


def head_scatter(
    table: pd.DataFrame, x: str, y: str, color: str, opened: tuple[Kind, int, int] | None = None
) -> alt.LayerChart:
    """Draw the heads of a `heads_table` by two measures; bars are intervals, shapes are kinds.

    `color` is a measure, `KIND` or `ROLE`. The furthest have their names. A click selects `PICKED`,
    one on the legend of the kinds leaves one kind in full ink.
    """
    frame = _frame(table, x, y, color)
    places = {
        "x": alt.X("x:Q", title=_axis_title(x), scale=_SCALE, axis=alt.Axis(tickCount=8)),
        "y": alt.Y("y:Q", title=_axis_title(y), scale=_SCALE, axis=alt.Axis(tickCount=6)),
    }
    shown = alt.selection_point(name="kinds", fields=["attention"], bind="legend")
    fill = alt.Undefined if color == KIND else GREY
    legend = alt.Legend(title=None, orient="top", symbolFillColor=fill, symbolStrokeWidth=0)
    scale = alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))
    shape = alt.Shape("attention:N", scale=scale, legend=legend)
    columns = {"x_text": (measure_name(x), TEXT), "y_text": (measure_name(y), TEXT)}
    if color not in (KIND, ROLE, x, y):
        columns["value"] = measure_name(color), ".3f"
    tooltip = tips(name=("head", TEXT), role=("", TEXT), **columns)
    base = alt.Chart(frame, height=400)
    faded = alt.OpacityValue(0.05, condition={"param": shown.name, "value": 0.7})
    bars = base.mark_rule(color=GREY, aria=False).encode(opacity=faded)
    points = (
        base.mark_point(filled=True, size=60, cursor="pointer", stroke=GREY, strokeWidth=0.5)
        .encode(
            **places,
            color=_color(frame, color),
            shape=shape,
            opacity=alt.OpacityValue(0.12, condition={"param": shown.name, "value": 1}),
            tooltip=tooltip,
        )
        .add_params(shown, alt.selection_point(name=PICKED, fields=["kind", "layer", "head"]))
    )
    outlined = frame[[tuple(place) == opened for place in frame[_PLACE].to_numpy()]]
    ring = alt.Chart(outlined).mark_point(
        size=260, shape="circle", stroke=INK, strokeWidth=2, filled=False, aria=False
    )
    named = frame.loc[furthest(frame, "x", "y")[:NAMED]]
    is_right = f"datum.x > {float(frame['x'].mean()) if len(frame) else 0}"  # names stay inside
    names = alt.Chart(named).mark_text(
        color=INK,
        fontSize=12,
        # on a phone the kind, which colour and shape show too, would run into other names
        text=alt.expr("width < 500 ? split(datum.name, ' · ')[0] : datum.name"),
        align=alt.expr(f"{is_right} ? 'right' : 'left'"),
        dx=alt.expr(f"{is_right} ? -9 : 9"),
        dy=alt.expr(f"{is_right} ? -9 : 11"),
        aria=False,
    )
    return alt.LayerChart(
        layer=[
            bars.encode(
                alt.X("x low:Q", title=_axis_title(x)), y=alt.Y("y:Q"), x2=alt.X2("x high:Q")
            ),
            bars.encode(
                alt.Y("y low:Q", title=_axis_title(y)), x=alt.X("x:Q"), y2=alt.Y2("y high:Q")
            ),
            points,
            ring.encode(**places),
            names.encode(**places, detail=alt.Detail("name:N")),
        ]
    )


def furthest(table: pd.DataFrame, x: str, y: str) -> list[int]:
    """Return the rows that have both measures, the ones furthest from the medians first."""
    values = table[[x, y]].dropna().astype(float)
    scaled = (values - values.median()) / values.std().replace(0, 1)
    distances = (scaled**2).sum(axis=1)
    return [int(row) for row in distances.sort_values(ascending=False, kind="stable").index]


def _axis_title(measure: str) -> str:
    return AXIS_TITLES.get(measure, f"{measure}, share (1: all)")


_PLACE = ["kind", "layer", "head"]


def _frame(table: pd.DataFrame, x: str, y: str, color: str) -> pd.DataFrame:
    frame = table[["kind"]].assign(
        layer=table["layer"] - 1,
        head=table["head"] - 1,
        attention=table["kind"].map(KIND_NAMES),
        role=[role_name(*pair) or MIXED for pair in table[["role", "kind"]].to_numpy()],
    )
    places = frame[["layer", "head", "attention"]].to_numpy()
    frame["name"] = [f"{head_name(layer, head)} · {name}" for layer, head, name in places]
    for side, name in (("x", x), ("y", y)):
        columns = [name, f"{name} low", f"{name} high"]
        frame[[side, f"{side} low", f"{side} high"]] = table[columns].to_numpy()
        frame[f"{side}_text"] = [
            f"{value:.3f} ({low:.3f} to {high:.3f})".replace("-", "−")
            for value, low, high in table[columns].to_numpy()
        ]
    if color not in (KIND, ROLE):
        frame["value"] = table[color]
    return frame.dropna(subset=["x", "y"])


def _color(frame: pd.DataFrame, color: str) -> Any:
    if color == KIND:
        colors = {name: COLOR[kind] for kind, name in KIND_NAMES.items()}
        return named_color("attention", colors, symbolStrokeWidth=0)
    if color == ROLE:
        roles = [role for role in frame["role"].value_counts().index if role != MIXED]
        hues = [hue for hue in curve_colors(len(roles) + 1) if hue != SLATE]  # grey is `MIXED`
        colors = dict(zip(roles, hues, strict=False))
        return named_color("role", {**colors, MIXED: GREY}, symbolStrokeWidth=0)
    legend = alt.Legend(title=measure_name(color), orient="top", gradientLength=200)
    return alt.Color("value:Q", scale=alt.Scale(scheme="viridis"), legend=legend)
