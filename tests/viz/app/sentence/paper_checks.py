"""Checks of the code below the views of the paper's pages and of Hooks."""

import re

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.app.sentence.checks import Values, close, column, shown
from tests.viz.pages.reading import frames, tables
from tests.viz.plotly_values import map_values


def squares(app: AppTest, name: str) -> np.ndarray:
    """Return the numbers in the squares of a box of Figure 2, or of a sentence's norm."""
    (drawn,) = (frame for frame in frames(app) if "value" in frame)
    texts = drawn[(drawn["name"] == name) & (drawn["value"] != "padding")]["value"]
    return np.array([float(text.replace("−", "-").replace("∞", "inf")) for text in texts])


def work(app: AppTest, values: Values) -> None:
    formula, measured, table, ways, look = values.values()
    drawn = frames(app, 0)[0].set_index("layer")["value"]
    for layer, operations in formula.items():
        assert np.isin(operations, drawn[layer]).all()
    close(np.concatenate([*measured.values()]) * 1e3, column(app, 1, "value"))
    shown_rows = [row[4:] for row in tables(app)[0][2:]]
    assert shown_rows == [[f"{work:,.0f}", f"{path:,.0f}"] for work, path in table.values()]
    titles = [text.value for text in app.markdown if text.value.startswith("**")][:3]
    counts = [int(re.findall(r"\d+", title)[0]) for title in titles]
    assert counts == [len(way) - 1 for way in [*ways.values()][:3]]
    far = "No head" if look is None else f"{abs(look[2] - look[3])} token"
    assert any(far in text.value for text in app.text)


def functions(app: AppTest, values: Values) -> None:
    *maps, seconds, sizes = values.values()
    for number, weights in enumerate(maps, start=1):
        close(map_values(app.get("plotly_chart")[0].proto.spec, number), weights)
    for chart, (rows, factor) in enumerate(((seconds, 1e3), (sizes, 2**-20))):
        drawn = frames(app, chart)[0].set_index("layer")["value"]
        for name, numbers in rows.items():
            close(np.array(numbers) * factor, drawn[name])


def rescaled(app: AppTest, values: Values) -> None:
    weights, row, variance, gradients, (_, log_prob) = values.values()
    close(map_values(app.get("plotly_chart")[0].proto.spec, 1), weights)
    drawn = frames(app, 0)[0]
    close(
        [*row.largest, *row.gradient], drawn[~drawn["measure"].str.startswith("entropy")]["value"]
    )
    drawn = frames(app, 1)[0]
    close(variance, drawn[drawn["curve"] == "this head, measured"]["variance"])
    close(np.concatenate([*gradients.values()]), column(app, 2, "gradient"))
    assert any(f"{log_prob:.2f}"[1:] in html.proto.body for html in app.get("html"))


def read_and_edited(app: AppTest, values: Values) -> None:
    read, edited = (value.detach() for value in values.values())
    close(read, shown(app, "tensor_strip", "values").reshape(read.shape))
    assert np.isfinite(float(edited))
