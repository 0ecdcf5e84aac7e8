"""Figures of the positional encoding (§3.5): maps of signed values, waves, similarity, rotation."""

import itertools
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from transformer.arrays import AnyFloats
from viz.draw.wire import block_means, block_size
from viz.figures.axes import GREY, OLIVE, PURPLE, curve_color, curve_colors
from viz.figures.forms import curves, long_form, points, tips

SIGNED = tuple(
    (place, f"rgba{(*bytes.fromhex(color[1:]), opacity)}")
    for place, color, opacity in (
        (0.0, OLIVE, 1),
        (0.5, OLIVE, 0),
        (0.5, PURPLE, 0),
        (1.0, PURPLE, 1),
    )
)
"""Olive below 0, purple above, and transparent at 0, for a light and a dark page; these are not
colours of a kind of attention."""

MAX_CELLS = 256
"""Cells along a side of a map, at most, each a pixel or more: else false waves would appear."""

MAX_DIMENSIONS = 128
"""Largest number of dimensions in a map: thinner lines than two pixels would show false bands."""


def drawn_dimensions(count: int) -> list[int]:
    """Select the dimensions that a map draws: all, or evenly spaced pairs of sine and cosine.

    The mean of a pair would hide its wave: of the long ones it is the same at all positions.
    """
    step = block_size(count, MAX_DIMENSIONS)
    return [dimension for dimension in range(count) if dimension // 2 % step == 0]


def dimension_axis(drawn: Sequence[int], most: int = 9) -> dict[str, object]:
    """Return title and at most so many numbered ticks of an axis of dimensions, by their places."""
    every = next(2**n for n in itertools.count() if len(drawn) <= most * 2**n)
    places = list(range(0, len(drawn), every))
    texts = [str(drawn[place]) for place in places]
    apart = (drawn[2] - drawn[0]) // 2 if len(drawn) > 2 else 1
    title = "dimension" if apart == 1 else f"dimension, 1 pair in {apart}"
    return {"title": title, "tickmode": "array", "tickvals": places, "ticktext": texts}


def signed_map(
    values: AnyFloats,
    most: float,
    *,
    hover: str,
    x: Sequence | None = None,
    y: Sequence | None = None,
) -> go.Heatmap:
    """Draw signed values, `[row, column]`, as a map on one scale with full colour at `most`.

    More than `MAX_CELLS` along a side are averaged; `hover` is Plotly's template of the tooltip.
    """
    rows, columns = (block_size(count, MAX_CELLS) for count in values.shape)
    if rows * columns > 1:
        y, x = _block_labels(y, len(values), rows), _block_labels(x, values.shape[1], columns)
        hover += f"<br>the mean of {rows} × {columns}"
    return go.Heatmap(
        z=block_means(values, (rows, columns)),
        x=x,
        y=y,
        zmin=-most,
        zmax=most,
        colorscale=SIGNED,
        hovertemplate=hover + "<extra></extra>",
        showscale=False,
    )


def axis_title(name: str, count: int) -> str:
    """Return `dimension`, or `dimension, means of 2` for an averaged axis."""
    size = block_size(count, MAX_CELLS)
    return name if size == 1 else f"{name}, means of {size}"


def axis_place(index: int, count: int) -> float:
    """Return the place of one of `count` names on an axis of names, where cells may be averaged."""
    return index / block_size(count, MAX_CELLS)


def _block_labels(names: Sequence | None, count: int, size: int) -> Sequence:
    """Label each block by its middle, or by the names of its first and last element."""
    ends = [(start, min(start + size, count) - 1) for start in range(0, count, size)]
    if names is None:
        return [(first + last) / 2 for first, last in ends]
    return [names[n] if n == m else f"{names[n]} … {names[m]}" for n, m in ends]


def maps(
    heatmaps: Mapping[str, go.Heatmap],
    *,
    across: Mapping[str, object],
    down: Mapping[str, object],
    height: int,
    widths: Sequence[float] = (),
) -> "go.Figure":
    """Draw maps of the same rows side by side, by their titles, with one colour bar."""
    shares = np.array(widths or [1.0] * len(heatmaps))
    gap = 0.03
    ends = np.cumsum(shares / shares.sum()) * (1 + gap)
    starts = ends - shares / shares.sum() * (1 + gap)
    plain = {"showgrid": False, "zeroline": False, "automargin": True, "ticks": ""}
    layout: dict[str, object] = {
        "height": height,
        "dragmode": False,  # dragging would keep a finger from scrolling the page
        # above the titles there is space for Plotly's buttons
        "margin": {"l": 10, "r": 10, "t": 76 if any(heatmaps) else 40, "b": 10},
        "yaxis": {**plain, "autorange": "reversed", **down},
    }
    notes = []
    for number, (title, heatmap) in enumerate(heatmaps.items(), start=1):
        left, right = starts[number - 1], ends[number - 1] - gap
        name = "" if number == 1 else str(number)
        layout[f"xaxis{name}"] = {**plain, "domain": [left, min(right, 1)], **across}
        heatmap.xaxis, heatmap.yaxis = f"x{name}", "y"
        place = {"x": (left + right) / 2, "xref": "paper", "xanchor": "center"}
        above = {"y": 1, "yref": "paper", "yanchor": "bottom"}
        notes.append({**place, **above, "text": title, "showarrow": False})
    heatmap.showscale = True
    heatmap.colorbar = {"thickness": 10, "outlinewidth": 0}
    return go.Figure(list(heatmaps.values()), {**layout, "annotations": notes})


def format_wave(wave: float) -> str:
    """Format a wavelength; one beyond a million has its power of ten alone."""
    return f"{wave:,.2f}" if wave < 1e6 else "∞" if np.isinf(wave) else f"{wave:.0e}"


WAVE_POINTS = 512  # largest number of points of a drawn wave, where there are fewer positions
POINTS = 128  # largest number of dots of a curve; more would hide the line under them


def encoding_map(table: AnyFloats, waves: AnyFloats) -> "go.Figure":
    """Draw the encoding, `[position, d_model]`, -1 to 1: positions across, dimensions down."""
    drawn = drawn_dimensions(table.shape[1])
    names = [
        f"dimension {n}: {_wave(n)}, i = {n // 2}, wavelength {format_wave(waves[n // 2])}"
        for n in drawn
    ]
    heatmap = signed_map(table.T[drawn], 1, hover="position %{x}<br>%{y}<br>%{z:.4f}", y=names)
    across = {"title": axis_title("position", len(table)), "side": "top"}
    # two pixels and more for each cell
    return maps({"": heatmap}, across=across, down=dimension_axis(drawn), height=420)


def wave_points(length: int) -> AnyFloats:
    """Return positions that are close enough for smooth curves, from 0 to `length - 1`."""
    steps = max(1, WAVE_POINTS // (length - 1))  # from one position to the next
    return np.arange(steps * (length - 1) + 1) / steps


def wave_curves(
    table: AnyFloats,
    dimensions: Sequence[int],
    waves: AnyFloats,
    places: AnyFloats,
    between: AnyFloats,
) -> alt.LayerChart:
    """Draw dimensions of `[position, d_model]` as dots on their waves, `[point, d_model]`."""
    names = {f"{n}: {_wave(n)}, {format_wave(waves[n // 2])} long": n for n in dimensions}
    lines, dots = (
        long_form("dimension", "value", {x: values[:, n] for x, n in names.items()}, position=at)
        for at, values in ((places, between), (np.arange(len(table)), table))
    )
    x = alt.X(
        "position:Q",
        scale=alt.Scale(domain=[0, len(table) - 1], nice=False),
        axis=alt.Axis(grid=False, tickCount=8, tickMinStep=1),
    )
    y = alt.Y("value:Q", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(tickCount=5))
    colour = curve_color("dimension", [*names], labelLimit=320, columns=2)
    tooltip = tips("dimension", position=("", ""), value=("", ".4f"))
    height = 340 + 28 * -(-len(names) // 2)  # a line of the legend for each two
    waves_drawn = curves(lines, x, y, colour, width=1.5, height=height)
    return waves_drawn + points(dots, x, y, colour, size=14, tooltip=tooltip)


def wavelength_chart(waves: AnyFloats, dimensions: Sequence[int]) -> alt.LayerChart:
    """Draw the wavelength of every dimension on a logarithmic axis, some of them marked."""
    frame = pd.DataFrame({"dimension": range(2 * len(waves)), "wavelength": np.repeat(waves, 2)})
    ends = [2 * np.pi * 10.0**n for n in range(5)]
    frame = frame[frame["wavelength"] < 2 * ends[-1]]  # a misprint has waves without an end
    scale = alt.Scale(type="log", domain=[ends[0], ends[-1]], nice=False)
    label = "format(2 * pow(10, round(log(datum.value / 6.2831853) / LN10)), ',') + 'π'"
    axis = alt.Axis(values=ends, labelExpr=label)
    y = alt.Y("wavelength:Q", title="wavelength", scale=scale, axis=axis)
    # exactly as wide as the numbers: a rounded end would overlap the last one
    across = alt.Scale(domain=[0, 2 * len(waves)], nice=False)
    x = alt.X("dimension:Q", scale=across, axis=alt.Axis(grid=False, tickCount=4, tickMinStep=1))
    tooltip = tips(dimension=("", ""), wavelength=("", ",.2f"))
    line = alt.Chart(frame, height=150).mark_line(strokeWidth=1.5, color=GREY)
    inks = {"dimension": list(dimensions), "ink": curve_colors(len(dimensions))}
    marked = pd.DataFrame(inks).merge(frame)
    ink = alt.Color("ink:N", scale=None)
    return line.encode(x, y, tooltip=tooltip) + points(marked, x, y, ink, size=80, tooltip=tooltip)


def similarity_curves(
    products: AnyFloats, starts: Sequence[int], formula: AnyFloats
) -> alt.LayerChart:
    """Draw PE(p) · PE(p + k) over k: dots for some p, on the one curve of the formula.

    `products` is `[position, position]`.
    """
    length = len(products)
    curve = pd.DataFrame({"distance": range(1 - length, length), "product": formula})
    names = [f"p = {p}" for p in starts]
    rows = []
    step = max(1, length // POINTS)
    for number, (name, p) in enumerate(zip(names, starts, strict=True)):
        # each p has its own distances, so that its dots are not hidden by others
        distances = np.arange(length) - p
        drawn = distances % (len(starts) * step) == number * step
        columns = {"distance": distances[drawn], "product": products[p, drawn]}
        rows.append(pd.DataFrame({"from": name, **columns}))
    scale = alt.Scale(domain=[1 - length, length - 1], nice=False)
    axis = alt.Axis(grid=False, tickMinStep=1)
    x = alt.X("distance:Q", title="distance k", scale=scale, axis=axis)
    y = alt.Y("product:Q", title="PE(p) · PE(p + k)", scale=alt.Scale(zero=True))
    tooltip = tips(distance=("", ""), product=("", ".4f"))
    color = curve_color("from", names, labelLimit=320, columns=4, symbolType="circle")
    line = alt.Chart(curve, height=420).mark_line(strokeWidth=5, color=GREY, opacity=0.45)
    dots = points(pd.concat(rows), x, y, color, size=26, tooltip=[*tips("from"), *tooltip])
    return line.encode(x, y, tooltip=tooltip) + dots


def position_maps(
    tables: Mapping[str, AnyFloats], most: float, hover: str, height: int
) -> "go.Figure":
    """Draw maps of all pairs of positions, `[position, position]`, side by side."""
    title = {"title": axis_title("position", max(map(len, tables.values())))}
    drawn = {name: signed_map(values, most, hover=hover) for name, values in tables.items()}
    return maps(drawn, across=title, down=title, height=height)


def rotation_figure(matrix: AnyFloats, pair: AnyFloats, dimensions: Sequence[int]) -> "go.Figure":
    """Draw M_k, PE(pos), M_k PE(pos), and PE(pos + k) on one scale, in the given dimensions.

    `pair` is the encoding of both positions, `[2, d_model]`.
    """
    before, after = pair
    turned = matrix @ before
    names = [f"dimension {dimension}" for dimension in dimensions]
    matrix = matrix[np.ix_(dimensions, dimensions)]
    hover, vector_hover = "%{y}, %{x}<br>%{z:.6f}", "%{y}<br>%{z:.6f}"
    # in two lines, so that three such columns fit on a phone
    columns = {"PE<br>pos": before, "M<sub>k</sub>PE<br>pos": turned, "PE<br>pos+k": after}
    figure = maps(
        {
            "M<sub>k</sub>": signed_map(matrix, 1, hover=hover, x=names, y=names),
            **{
                title: signed_map(values[dimensions, None], 1, hover=vector_hover, y=names)
                for title, values in columns.items()
            },
        },
        across=dimension_axis(dimensions, most=4),
        down=dimension_axis(dimensions),
        height=520,
        widths=(4, 1, 1, 1),
    )
    for axis in ("xaxis2", "xaxis3", "xaxis4"):  # one column each
        figure.layout[axis].update(title=None, showticklabels=False)
    return figure


def _wave(dimension: int) -> str:
    return "cos" if dimension % 2 else "sin"
