"""The chart of forming heads draws every head at every step, and the open one in its colour."""

from __future__ import annotations

import numpy as np

from viz.draw.palette import COLOR
from viz.pages.training.measure_chart import measure_chart

STEPS = [1, 2, 250]
VALUES = np.arange(3 * 2 * 4).reshape(3, 2, 4) / 24


def _spec() -> dict:
    chart = measure_chart(
        STEPS, VALUES, kind="encoder_self", selected=(1, 2), at=2, unit="confidence"
    )
    spec: dict = chart.to_dict()
    return spec


def test_each_value_stands_at_its_step_under_the_name_of_its_head() -> None:
    rows = [row for rows in _spec()["datasets"].values() for row in rows if "value" in row]
    found = {(row["step"], row["head"]): row["value"] for row in rows}
    assert found == {
        (step, f"L{layer + 1} H{head + 1}"): VALUES[n, layer, head]
        for n, step in enumerate(STEPS)
        for layer, head in np.ndindex(2, 4)
    }
    assert {row["head"] for row in rows if row["selected"]} == {"L2 H3"}


def test_the_open_head_is_in_front_in_the_colour_of_its_kind_and_the_step_is_marked() -> None:
    spec = _spec()
    others, rule, one = spec["layer"]
    assert one["mark"]["color"] == one["mark"]["point"]["color"] == COLOR["encoder_self"]
    assert one["transform"] == [{"filter": "datum.selected"}]
    assert others["transform"] == [{"filter": "!datum.selected"}]
    assert others["mark"]["color"] not in COLOR.values()
    (marked,) = spec["datasets"][rule["data"]["name"]]
    assert (rule["mark"]["type"], marked["step"]) == ("rule", 2)
    assert one["encoding"]["x"]["scale"]["type"] == "log"  # heads form early
