"""Checks of the code below the views of the paper's pages and of Hooks."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.app.sentence.checks import Values, close, shown


def read_and_edited(app: AppTest, values: Values) -> None:
    read, edited = (value.detach() for value in values.values())
    close(read, shown(app, "tensor_strip", "values").reshape(read.shape))
    assert np.isfinite(float(edited))
