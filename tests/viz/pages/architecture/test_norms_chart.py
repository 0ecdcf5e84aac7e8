"""The spreads that are drawn are those of the tensors."""

import numpy as np

from transformer.analysis.paper.norms import batch_norm, deviations, layer_norm
from viz.pages.architecture.norms_chart import COLORS, spread_chart


def test_each_token_s_spread_is_drawn_under_its_name() -> None:
    x = np.random.default_rng(1).normal(3, 2, (2, 3, 5))
    counts = np.array([[True, True, True], [True, True, False]])
    rows = {"layer norm": layer_norm(x, 0), "batch norm": batch_norm(x, counts, 0)}
    names = ["The", "dog", "</s>", "A", "cat"]
    spreads = {norm: deviations(values, counts)[0] for norm, values in rows.items()}
    chart = spread_chart(spreads, names, "token", 2.0).to_dict()
    (drawn,) = chart["datasets"].values()
    for norm, values in rows.items():
        own = [row for row in drawn if row["norm"] == norm]
        assert [row["of"] for row in own] == names
        assert [row["at"] for row in own] == [1, 2, 3, 4, 5]
        expected = [row.std() for row in values[counts]]
        np.testing.assert_allclose([row["spread"] for row in own], expected)
    flat = [row["spread"] for row in drawn if row["norm"] == "layer norm"]
    np.testing.assert_allclose(flat, 1)
    # two charts beside each other share the end of the axis
    assert chart["encoding"]["y"]["scale"]["domain"][0] == 0
    assert chart["encoding"]["y"]["scale"]["domain"][1] >= 2.0
    assert chart["encoding"]["color"]["scale"]["range"] == list(COLORS.values())
