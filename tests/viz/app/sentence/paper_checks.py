"""Checks of the code below the views of the paper's pages and of Hooks."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.app.sentence.checks import Values, close, column, shown
from tests.viz.pages.reading import frames
from tests.viz.plotly_values import map_values


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
