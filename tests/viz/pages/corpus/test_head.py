"""One head over the lines: its tokens, and the lines that can be used."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.corpus.conftest import press
from transformer import Translator
from transformer.analysis.heads import head
from transformer.corpus.head_tokens import head_tokens
from transformer.corpus.measured import MeasuredLines
from viz.pages.corpus import head as module

pytestmark = pytest.mark.slow


def test_tokens_of_many_lines_are_counted_on_request_and_a_line_becomes_the_sentence(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator, lines = measured
    app = view("One head", kind="encoder", layer="2", head="3", corpus_measure="previous")
    # another kind has no such measure
    app.button_group(key="kind").set_value("cross-attention").run()
    assert app.selectbox(key="corpus_measure").value == "loss without"
    monkeypatch.setattr(module, "AT_ONCE", len(lines) - 1)
    app.button_group(key="kind").set_value("encoder").run()
    app.selectbox(key="layer").set_value("1").run()
    assert not app.dataframe
    counted = press(app, "corpus-tokens").dataframe[1].value
    pairs = head_tokens(translator, lines, head.Head("encoder_self", 0, 2)).pairs
    assert np.allclose(counted["mean weight"], pairs["mean"])
    use = app.button(key="corpus-use-4")
    use.click().run()
    sources = {pair.number: pair.source for pair in lines.pairs}
    assert app.text_area(key="text").value == sources[int(use.label.split()[-1])]
