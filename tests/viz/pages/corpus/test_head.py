"""One head over the lines: a line of each group, distances and tokens."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.corpus.conftest import press
from tests.viz.pages.reading import frames
from transformer import Translator
from transformer.analysis.heads import head
from transformer.corpus import search
from transformer.corpus.head_tokens import head_tokens
from transformer.corpus.measured import MeasuredLines
from viz.pages.corpus import head as module

pytestmark = pytest.mark.slow


def test_each_group_has_its_middle_line_and_distances_and_tokens_are_those_of_all_rows(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator, lines = measured
    place = head.Head("encoder_self", 1, 2)
    app = view("One head", kind="encoder", layer="2", head="3", corpus_measure="previous")
    values = lines.values_of(place, "previous")
    groups = search.deciles(values)
    shown = [caption.value for caption in app.caption if "previous" in caption.value]
    for caption, (row, *_) in zip(shown, groups, strict=True):
        assert f"{values[row]:.3f}".replace("-", "−") in caption
        assert caption.endswith(f"line {lines.pairs[row].number}")
    bars = frames(app, len(groups))[0]
    counts = lines.offset_counts[lines.places[place]]
    middle = len(counts) // 2
    assert [counts[offset + middle] for offset in bars["offset"]] == [*bars["rows"]]
    assert bars["rows"].sum() == counts.sum()
    tokens = head_tokens(translator, lines, place)
    for table, expected in zip(app.dataframe, (tokens.keys, tokens.pairs), strict=True):
        assert np.allclose(table.value["mean weight"], expected["mean"])
        assert np.array_equal(table.value["times"], expected["count"])
    # another kind has no such measure
    app.button_group(key="kind").set_value("cross-attention").run()
    assert app.selectbox(key="corpus_measure").value == "loss without"
    # tokens of many lines are counted where the reader asks
    monkeypatch.setattr(module, "AT_ONCE", len(lines) - 1)
    app.button_group(key="kind").set_value("encoder").run()
    app.selectbox(key="layer").set_value("1").run()
    assert not app.dataframe
    counted = press(app, "corpus-tokens").dataframe[1].value
    pairs = head_tokens(translator, lines, place._replace(layer=0)).pairs
    assert np.allclose(counted["mean weight"], pairs["mean"])
    use = app.button(key=f"corpus-use-{len(groups) - 1}")
    use.click().run()
    sources = {pair.number: pair.source for pair in lines.pairs}
    assert app.text_area(key="text").value == sources[int(use.label.split()[-1])]
