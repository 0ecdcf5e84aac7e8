"""Programs under views, run in plain Python, and their values compared with those of the views."""

import ast
import dataclasses
import inspect
from collections.abc import Mapping
from math import isclose
from typing import Any

import altair
import numpy as np
import pandas as pd
import torch

from transformer import Translation
from transformer.paper.multi_head import ProjectionTimes

Programs = list[tuple[str, dict[str, object]]]
CLOSE = {"rel_tol": 1e-4, "abs_tol": 1e-5}


def same(value: Any, other: Any) -> bool:
    """Compare two values with all that they hold, numbers up to rounding."""
    if value is other:
        return True
    if isinstance(value, float):
        return bool(np.isnan(value) and np.isnan(other)) or isclose(value, other, **CLOSE)
    if isinstance(value, torch.Tensor | np.ndarray):
        value, other = np.asarray(value), np.asarray(other)
        if value.dtype.kind in "fc":
            return bool(np.allclose(value, other, rtol=1e-4, atol=1e-5, equal_nan=True))
        return bool(np.array_equal(value, other))
    if hasattr(value, "to_plotly_json"):
        return same(value.to_plotly_json(), other.to_plotly_json())
    if isinstance(value, altair.TopLevelMixin):  # one is as valid as both
        return same(value.to_dict(), other.to_dict(validate=False))
    if isinstance(value, pd.DataFrame):
        return same_table(value, other)
    if isinstance(value, ProjectionTimes):  # measured anew
        return True
    if isinstance(value, Translation):  # with its time
        return same(value.candidates, other.candidates)
    if inspect.isfunction(value):  # a hook
        return bool(value.__qualname__ == other.__qualname__)
    if isinstance(value, Mapping):
        return [*value] == [*other] and all(same(value[name], other[name]) for name in value)
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(same, value, other))
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return all(same(getattr(value, name), getattr(other, name)) for name in names)
    return bool(value == other)


def same_table(table: pd.DataFrame, other: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(table, other, rtol=1e-4, atol=1e-5)
    except AssertionError:
        return False
    return True


def check(source: str, values: dict[str, object]) -> None:
    tree = ast.parse(source)
    imports = {a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert imports <= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert values
    different = [name for name in values if not same(values[name], namespace[name])]
    assert not different, different  # pytest rewrites the asserts of tests alone
