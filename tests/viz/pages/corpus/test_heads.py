"""The scatter and the table have the numbers of the measurement; a click opens a head."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url
from tests.viz.pages.reading import frames
from transformer.analysis.heads.head import Head
from transformer.corpus.measured import COST, MeasuredLines, head_means, heads_table
from transformer.files.installed import BUNDLED
from transformer.kinds import KIND_NAMES
from viz.figures.head_scatter import NAMED, furthest
from viz.trace_files import csv_bytes, parquet_bytes

pytestmark = pytest.mark.slow

URL = {"text": "Dog."}


@pytest.fixture(scope="module")
def table(lines: MeasuredLines) -> pd.DataFrame:
    return heads_table(lines, head_means(lines))


def test_the_page_opens_on_the_examples_with_every_number_of_their_table(
    opened: Callable[..., AppTest], table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[pd.DataFrame] = []
    monkeypatch.setattr(
        "viz.app.chrome.charts.table_downloads", lambda frame, _: files.append(frame)
    )
    app = opened(checkpoint=BUNDLED)
    cross = table[table["kind"] == "cross"]
    costliest = cross.sort_values(COST).iloc[-1]
    assert [app.selectbox(key=name).value for name in ("layer", "head")] == [
        str(costliest["layer"]),
        str(costliest["head"]),
    ]
    shown = app.dataframe[0].value
    assert shown[COST].is_monotonic_decreasing
    shown = shown.sort_index()
    assert list(shown["kind"]) == [KIND_NAMES[kind] for kind in table["kind"]]
    numbers = [name for name in shown.columns if name != "kind"]
    pd.testing.assert_frame_equal(shown[numbers], table[numbers], check_dtype=False)
    assert {f"confidence{end}" for end in ("", " low", " high")} <= set(numbers)
    assert {COST, f"{COST} p"} <= set(numbers)
    pd.testing.assert_frame_equal(files[0], table)
    csv = pd.read_csv(BytesIO(csv_bytes(files[0])), keep_default_na=True)
    parquet = pd.read_parquet(BytesIO(parquet_bytes(files[0])))
    pd.testing.assert_frame_equal(parquet, table)
    assert np.allclose(csv[COST], table[COST], rtol=0, atol=1e-12)
    (drawn,) = [frame for frame in frames(app) if len(frame) == len(table)]
    for side, name in (("x", "confidence"), ("y", COST)):
        for end in ("", " low", " high"):
            assert np.array_equal(drawn[f"{side}{end}"], table[f"{name}{end}"])
    (ring,) = [frame for frame in frames(app) if len(frame) == 1]
    place = ring.iloc[0][["kind", "layer", "head"]].tolist()
    assert place == ["cross", costliest["layer"] - 1, costliest["head"] - 1]
    (named,) = [frame for frame in frames(app) if len(frame) == NAMED]
    values = table[["confidence", COST]]
    distances = (((values - values.median()) / values.std()) ** 2).sum(axis=1)
    rows = distances.sort_values(ascending=False).index[:NAMED]
    places = zip(table["kind"], table["layer"] - 1, table["head"] - 1, strict=True)
    heads = [Head(*place) for place in places]
    assert list(named["name"]) == [heads[row].title for row in rows]
    app = opened(checkpoint=BUNDLED, corpus_y="sink")  # the furthest is open, whatever is drawn
    row = furthest(table, "confidence", "sink")[0]
    assert [app.selectbox(key=name).value for name in ("layer", "head")] == [
        str(table["layer"][row]),
        str(table["head"][row]),
    ]


def test_a_measure_that_a_kind_has_not_leaves_its_heads_out(
    opened: Callable[..., AppTest], table: pd.DataFrame
) -> None:
    app = opened(checkpoint=BUNDLED, corpus_x="one-to-one", corpus_y="entropy", corpus_color="role")
    drawn = max(frames(app), key=len)
    assert set(drawn["kind"]) == {"cross"}
    assert len(drawn) == (table["kind"] == "cross").sum()
    for name, value in (("corpus_x", "one-to-one"), ("corpus_y", "entropy")):
        assert in_url(app, name) == value
