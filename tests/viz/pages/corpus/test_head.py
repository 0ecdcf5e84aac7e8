"""One head over the lines: a line of each tenth, distances and tokens."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import reading
from transformer import Translator
from transformer.analysis.heads import head
from transformer.corpus import measured, measuring, search
from transformer.corpus.head_tokens import HeadTokens, head_tokens
from transformer.files.installed import BUNDLED
from viz.pages.corpus import head as module

pytestmark = pytest.mark.slow

HEAD = head.Head("encoder_self", 1, 7)
URL = {"text": "Dog.", "corpus_view": "One head", "kind": "encoder", "layer": "2", "head": "8"}


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(BUNDLED)


@pytest.fixture(scope="module")
def expected(bundled: Translator, lines: measured.MeasuredLines) -> HeadTokens:
    return head_tokens(bundled, lines, HEAD)


def test_each_tenth_has_its_middle_line_distances_and_tokens_those_of_all_rows(
    opened: Callable[..., AppTest],
    lines: measured.MeasuredLines,
    bundled: Translator,
    expected: HeadTokens,
) -> None:
    app = opened(checkpoint=BUNDLED, corpus_measure="previous")
    values = lines.values_of(HEAD, "previous")
    rows = [int(group[0]) for group in search.deciles(values)]
    shown = [caption.value for caption in app.caption if "previous" in caption.value]
    assert len(shown) == len(rows) == 10
    for number, (caption, row) in enumerate(zip(shown, rows, strict=True)):
        assert f"{values[row]:.3f}".replace("-", "−") in caption
        assert caption.endswith(f"line {lines.pairs[row].number}")
        weights = measuring.trace_of(bundled, lines.pairs[row]).encoder_self[HEAD.layer, HEAD.head]
        (cells,) = reading.frames(app, number)
        assert np.allclose(cells["weight"], weights.ravel(), atol=1e-6)
    (bars,) = reading.frames(app, 10)
    counts = lines.offset_counts[lines.places[HEAD]]
    middle = len(counts) // 2
    assert dict(zip(bars["offset"], bars["rows"], strict=True)) == {
        offset: counts[offset + middle] for offset in bars["offset"]
    }
    assert bars["rows"].sum() == counts.sum()
    for table, tokens in zip(app.dataframe, (expected.keys, expected.pairs), strict=True):
        assert np.allclose(table.value["mean weight"], tokens["mean"])
        assert np.array_equal(table.value["times"], tokens["count"])
    assert list(app.dataframe[0].value["looks at"][:2]) == [
        text.removeprefix("▁") for text in expected.keys["key"][:2]
    ]
    # another kind has no such measure
    app.button_group(key="kind").set_value("cross-attention").run()
    assert not app.exception
    assert app.selectbox(key="corpus_measure").value == "loss without"
    use = app.button(key="corpus-use-9")
    use.click().run()
    sources = {pair.number: pair.source for pair in lines.pairs}
    assert app.text_area(key="text").value == sources[int(use.label.split()[-1])]


def test_tokens_of_many_lines_are_counted_where_the_reader_asks(
    opened: Callable[..., AppTest],
    lines: measured.MeasuredLines,
    expected: HeadTokens,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", len(lines) - 1)
    app = opened(checkpoint=BUNDLED)
    assert not app.dataframe
    app.button(key="corpus-tokens-start").click().run()
    job = app.session_state["job corpus-tokens"]
    while job.is_active:
        time.sleep(0.02)
    table = app.run().dataframe[1].value
    assert np.allclose(table["mean weight"], expected.pairs["mean"])
