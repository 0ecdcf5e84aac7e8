"""The curves draw the records and nothing else; the plan is equation 3."""

import pytest

from training.run.journal import Record
from training.schedule import learning_rate
from viz.draw.palette import COLOR
from viz.figures.training import COLORS, MAX_VALUES, learning_rate_chart, run_chart, values_left_out

PLAN: Record = {"d_model": 256, "warmup": 100, "lr_factor": 2.0, "steps": 120, "cooldown": 40}
SETTINGS: Record = {"step": 0, **PLAN}
RECORDS: list[Record] = [
    SETTINGS,
    {"step": 50, "loss": 5.0, "lr": 0.001, "tokens_per_second": 10.0},
    {"step": 100, "loss": 4.0, "lr": 0.002, "tokens_per_second": 11.0},
    {"step": 100, "validation_loss": 3.5, "validation_perplexity": 33.1},
]


def _data(chart: object) -> list[dict]:
    spec = chart.to_dict()  # type: ignore[attr-defined]
    return [row for rows in spec["datasets"].values() for row in rows]


def _marks(chart: object) -> list[dict]:
    """The layers that draw values, the line first."""
    layers = chart.to_dict()["layer"]  # type: ignore[attr-defined]
    return [layer for layer in layers if "color" in layer["encoding"]]


def test_the_planned_rate_is_equation_3_at_the_steps_of_the_run_with_the_plan_of_its_time() -> None:
    resumed: Record = {**SETTINGS, "step": 100, "steps": 400}
    longer: list[Record] = [*RECORDS, resumed, {"step": 110, "lr": 0.003}]
    drawn = _data(learning_rate_chart({"a": longer}))
    planned = {row["step"]: row["value"] for row in drawn if "what" not in row}
    # the last 40 steps of 120 fall to 0: before step 100 half of them and one more are left
    shares = {50: 1, 100: 21 / 40, 110: 1}
    assert planned == pytest.approx(
        {step: learning_rate(step, 256, 100, 2.0) * share for step, share in shares.items()}
    )
    assert [row["value"] for row in drawn if row.get("what") == "used"] == [0.001, 0.002, 0.003]
    drawn = _data(learning_rate_chart({"old": RECORDS[1:]}))  # a log that does not say its plan
    assert all(row.get("what") == "used" for row in drawn)


def test_training_and_validation_are_told_apart_by_colour_stroke_and_name() -> None:
    fields = {"loss": "training", "validation_loss": "validation"}
    for runs, coloured in (({"a": RECORDS}, True), ({"a": RECORDS, "b": RECORDS}, False)):
        line = _marks(run_chart(runs, fields, unit="nats"))[0]["encoding"]
        for channel in ("strokeDash", "strokeWidth", *(("color",) if coloured else ())):
            scale = line[channel]["scale"]
            assert scale["domain"] == ["training", "validation"]
            assert scale["range"][0] != scale["range"][1]
            assert line[channel]["legend"] is not None
        if not coloured:
            assert line["color"]["scale"] == {"domain": ["a", "b"], "range": list(COLORS[:2])}
    assert not set(COLORS) & set(COLOR.values())


def test_of_many_values_evenly_spaced_ones_are_drawn_the_last_among_them() -> None:
    records: list[Record] = [{"step": n, "loss": 1.0} for n in range(1, 9_002)]
    records.append({"step": 9_001, "validation_loss": 1.0})
    fields = {"loss": "training", "validation_loss": "validation"}
    drawn = _data(run_chart({"a": records}, fields, unit=""))
    steps = [row["step"] for row in drawn if row["what"] == "training"]
    assert MAX_VALUES / 2 < len(steps) <= MAX_VALUES
    assert steps == list(range(1, 9_002, 5))
    assert len(drawn) == len(steps) + 1
    assert values_left_out({"a": records})
    assert not values_left_out({"a": records[-MAX_VALUES - 1 :]})
