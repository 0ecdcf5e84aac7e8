"""The scatter and the table have the numbers of the measurement, and open at the furthest head."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import in_url
from tests.viz.pages.reading import frames
from transformer import Translator
from transformer.corpus.measured import COST, MeasuredLines, head_means, heads_table
from viz.figures.head_scatter import NAMED, furthest
from viz.trace_files import csv_bytes, parquet_bytes

pytestmark = pytest.mark.slow


def test_the_page_opens_at_the_furthest_head_with_every_number_of_the_table(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files: list[pd.DataFrame] = []
    monkeypatch.setattr(
        "viz.app.chrome.charts.table_downloads", lambda frame, _: files.append(frame)
    )
    _, lines = measured
    table = heads_table(lines, head_means(lines))
    app = view("Heads")
    values = table[["confidence", COST]]
    distances = (((values - values.median()) / values.std()) ** 2).sum(axis=1)
    rows = distances.nlargest(NAMED).index.tolist()
    assert rows == furthest(table, "confidence", COST)[:NAMED]
    kind, *place = table.loc[rows[0], ["kind", "layer", "head"]].tolist()
    assert [app.selectbox(key=name).value for name in ("layer", "head")] == [*map(str, place)]
    shown = app.dataframe[0].value
    assert shown[COST].is_monotonic_decreasing
    numbers = [name for name in shown.columns if name != "kind"]
    pd.testing.assert_frame_equal(shown.sort_index()[numbers], table[numbers], check_dtype=False)
    pd.testing.assert_frame_equal(files[0], table)
    csv = pd.read_csv(BytesIO(csv_bytes(files[0])), keep_default_na=True)
    assert np.allclose(csv[COST], table[COST], rtol=0, atol=1e-12)
    parquet = pd.read_parquet(BytesIO(parquet_bytes(files[0])))
    pd.testing.assert_frame_equal(parquet, table)
    (drawn,) = [frame for frame in frames(app) if len(frame) == len(table)]
    for side, name in (("x", "confidence"), ("y", COST)):
        for end in ("", " low", " high"):
            assert np.array_equal(drawn[f"{side}{end}"], table[f"{name}{end}"])
    (ring,) = [frame for frame in frames(app) if len(frame) == 1]
    assert ring.iloc[0][["kind", "layer", "head"]].tolist() == [kind, place[0] - 1, place[1] - 1]

    # a measure that a kind lacks leaves its heads out
    app = view("Heads", corpus_x="one-to-one", corpus_y="entropy", corpus_color="role")
    drawn = max(frames(app), key=len)
    assert set(drawn["kind"]) == {"cross"}
    assert len(drawn) == (table["kind"] == "cross").sum()
    assert in_url(app, "corpus_x") == "one-to-one"
