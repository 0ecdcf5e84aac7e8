"""Each axis of a chart has the title of what it draws: the column, its unit, and its direction."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from transformer.analysis.heads.head import Head
from transformer.kinds import KINDS
from transformer.text.languages import Languages
from viz.figures import changes, growth, heads, paper_results, positions, scaling, schedule
from viz.figures.axes import small_map
from viz.figures.head_scatter import KIND, head_scatter
from viz.figures.score_parts import score_map
from viz.figures.still import small_maps
from viz.figures.training import run_chart

ONES = np.ones(4)
SCORE = pd.DataFrame([[0.5, -0.5]], index=["a"], columns=["b", "c"])
CURVES = {"recurrent": ([1, 10], [2.0, 20.0])}
RUN: Any = {"run": [{"step": n, "loss": 1.0 / n} for n in (1, 2)]}


def axes(spec: Any) -> set[tuple[str, str, str]]:
    """Channel, column and title of each axis with a title, in all layers."""
    titles = set()
    if isinstance(spec, dict):
        for channel, axis in spec.get("encoding", {}).items():
            if channel in ("x", "y") and axis.get("title"):
                titles.add((channel, axis["field"], axis["title"]))
        spec = [*spec.values()]
    if isinstance(spec, list):
        titles |= set().union(*map(axes, spec))
    return titles


@pytest.mark.parametrize(
    ("chart", "x", "y"),
    [
        (growth.growth_chart(CURVES, quantity="MiB"), ("n", "length n, tokens"), ("value", "MiB")),
        (changes.lines_chart(ONES, 1.0),
         ("low", "change of log p per subword, in nats"), ("lines", "lines")),
        # key less query
        (changes.offset_histogram(np.arange(5), "#123456"),
         ("left", "column of the largest weight − row, in subwords"), ("share", "rows")),
        (paper_results.cost_chart("EN-DE"),
         ("flops", "training cost, floating-point operations"), ("bleu", "BLEU, EN-DE")),
        (scaling.variance_chart(ONES, np.array([1, 2]), np.array([1.0, 2.0])),
         ("width", "width of q and k"), ("variance", "variance of q · k")),
        (scaling.gradient_chart(np.array([1, 2]), {"f": np.array([1.0, 2.0])}),
         ("width", "d_k"), ("gradient", "mean gradient norm")),
        (schedule.schedule_chart(CURVES, {}), ("step", "step"), ("rate", "learning rate")),
        (score_map(SCORE), ("key", "key"), ("query", "query")),
        (run_chart(RUN, {"loss": "loss"}, unit="bits"), ("step", "step"), ("value", "bits")),
        (positions.similarity_curves(np.ones((4, 4)), [0], np.ones(7)),
         ("distance", "distance k"), ("product", "PE(p) · PE(p + k)")),
    ],
)  # fmt: skip
def test_each_axis_names_its_column(chart, x, y) -> None:
    assert axes(chart.to_dict()) == {("x", *x), ("y", *y)}


def test_the_scale_multiplies_the_scores_and_a_word_has_its_log_probability() -> None:
    drawn = scaling.saturation_chart(ONES, [ONES] * len(scaling.MEASURES), {})
    assert axes(drawn.to_dict()) == {("x", "scale", "q · k is multiplied by")}
    words = changes.words_chart(["a"], "edit", {"before": [-1.0], "after": [-2.0]}, height=9)
    assert ("y", "log_p", "log probability of the word") in axes(words.to_dict())


def test_points_and_intervals_of_a_measure_have_its_title() -> None:
    names = ("entropy", "confidence")
    sides = {f"{name}{side}": [1.0] for name in names for side in ("", " low", " high")}
    place: dict[str, Any] = {"kind": ["cross"], "layer": [1], "head": [1], "role": [""]}
    drawn = head_scatter(pd.DataFrame(place | sides), *names, KIND)
    titles = {(channel, title.split()[0]) for channel, _, title in axes(drawn.to_dict())}
    assert titles == {("x", "entropy,"), ("y", "confidence")}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_that_look_and_columns_where_they_look(kind) -> None:
    figure = heads.head_map(
        np.full((2, 2), 0.5),
        ["a", "b"],
        ["c", "d"],
        kind=kind,
        languages=Languages("English", "German"),
    )
    assert figure.layout.xaxis.title.text.endswith("where it looks")
    assert figure.layout.yaxis.title.text.split(":")[0] == (
        "English" if kind == "encoder_self" else "German"
    )
    assert "where it looks" not in figure.layout.yaxis.title.text
    spec = small_map(np.eye(2), ["a", "b"], ["c", "d"], title="L1 H1", color="#123456").to_dict()
    titles = {tip["field"]: tip.get("title") for tip in spec["encoding"]["tooltip"]}
    assert (titles["looks"], titles["at"]) == ("row", "looks at")


def test_heads_and_layers_count_from_1() -> None:
    table = pd.DataFrame({"layer": [0], "head": [0], "entropy": [1.0]})
    spec = heads.measures_chart(table).to_dict()
    assert axes(spec) == {("x", "head", "head"), ("y", "layer", "layer")}
    small = small_maps(np.full((1, 2, 2, 2), 0.5), kind="cross", layers=[0], counts=[2])
    facet = small.to_dict()["facet"]
    assert {part["header"]["labelExpr"] for part in facet.values()} == {
        "'L' + (datum.value + 1)", "'H' + (datum.value + 1)",
    }  # fmt: skip
    assert Head("cross", 0, 0).title == "L1 H1 · cross-attention"
