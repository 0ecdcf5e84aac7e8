"""Helpers of the checks of the code below a view: values of the code and of the view."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.viz.pages.reading import frames, message

Values = dict[str, Any]
Check = Callable[[AppTest, Values], None]


def close(value: Any, drawn: Any, atol: float = 1e-5) -> None:
    np.testing.assert_allclose(value, drawn, rtol=1e-4, atol=atol)


def column(app: AppTest, chart: int, name: str, frame: int = -1) -> np.ndarray:
    return frames(app, chart)[frame][name].to_numpy()


def same_charts(app: AppTest, figures: Values) -> None:
    """Compare all numbers of each figure with those of the chart at its place on the page."""
    charts = [figure for figure in figures.values() if hasattr(figure, "layer")]
    for number, figure in enumerate(charts):
        made = [
            layer.data for layer in (figure, *figure.layer) if isinstance(layer.data, pd.DataFrame)
        ]
        drawn = frames(app, number)
        assert len(
            {tuple(table.columns) for table in made} & {tuple(table.columns) for table in drawn}
        )
        for table in made:
            others = (other for other in drawn if [*other.columns] == [*table.columns])
            numbers = table.select_dtypes("number")
            assert any(
                numbers.to_numpy().tolist() == x[numbers.columns].to_numpy().tolist()
                for x in others
            )


def shown(app: AppTest, component: str, array: str) -> np.ndarray:
    return message(app, component)[1][array]
