"""The scatter opens at the furthest head, and its table is saved."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.reading import frames
from transformer import Translator
from transformer.corpus.measured import COST, MeasuredLines, head_means, heads_table
from viz.figures.head_scatter import NAMED, furthest
from viz.trace_files import csv_bytes, parquet_bytes

pytestmark = pytest.mark.slow


def test_the_page_opens_at_the_furthest_head_and_saves_every_number(
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
    place = table.loc[rows[0], ["layer", "head"]].tolist()
    assert [app.selectbox(key=name).value for name in ("layer", "head")] == [*map(str, place)]
    csv = pd.read_csv(BytesIO(csv_bytes(files[0])), keep_default_na=True)
    assert np.allclose(csv[COST], table[COST], rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(pd.read_parquet(BytesIO(parquet_bytes(files[0]))), table)
    # a measure that a kind lacks leaves its heads out
    drawn = max(frames(view("Heads", corpus_x="one-to-one", corpus_y="entropy")), key=len)
    assert len(drawn) == (table["kind"] == "cross").sum()
