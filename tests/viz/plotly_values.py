"""Values that a Plotly figure draws, as the browser gets them."""

import base64
import json
from typing import Any

import numpy as np


def map_values(figure: Any, number: int = 0) -> np.ndarray:
    """The values of one map of a figure, or of a figure's JSON."""
    spec = json.loads(figure) if isinstance(figure, str) else figure.to_plotly_json()
    z = spec["data"][number]["z"]
    if isinstance(z, dict):
        shape = [int(n) for n in z["shape"].split(",")]
        return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(shape)
    return np.asarray(z)
