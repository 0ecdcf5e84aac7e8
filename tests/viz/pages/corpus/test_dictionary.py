"""The view “Dictionary”: its tables are those of the analysis."""

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz import app_test
from tests.viz.app.view.programs import Programs, check
from tests.viz.pages.corpus.conftest import frame, press
from transformer import Translator
from transformer.circuits import dictionary
from transformer.corpus.measured import MeasuredLines
from viz.app.cache import memory
from viz.draw.formatting import per_cent
from viz.draw.labels import display_tokens
from viz.figures.heads import SIGNIFICANT
from viz.pages.corpus.dictionary import JOB

pytestmark = pytest.mark.slow


def test_heads_and_the_open_dictionary_have_the_numbers_of_the_analysis(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
    listed: Programs,
) -> None:
    translator, lines = measured
    app = press(view("Dictionary"), JOB)
    read = dictionary.measure_dictionaries(translator, lines)
    table = dictionary.dictionaries_table(read)
    assert list(frame(app, "shuffled")["share"]) == sorted(table["share"], reverse=True)
    best = read.heads[int(table["share"].argmax())]
    (line,) = [text for text in app_test.texts(app) if "writes a translation first" in text]
    assert f"L{best.layer + 1} H{best.head + 1}" in line
    assert per_cent(float(table["share"].max())) in line
    assert f"{len(read.pieces)} source subwords" in line
    assert f"{sum(p < SIGNIFICANT for p in read.p)} of {len(read.heads)} " in line
    other = next(head for head in read.heads if head.layer != best.layer)
    app.selectbox(key="layer").set_value(str(other.layer + 1)).run()
    app.selectbox(key="head").set_value(str(other.head + 1)).run()
    share = per_cent(float(table["share"][read.heads.index(other)]))
    assert [title for title in app.subheader if title.value.endswith(f": {share}")]
    shown = frame(app, "first is one")
    entries = dictionary.entries_table(translator, read, other)
    assert list(shown["piece"]) == display_tokens(list(entries["piece"]))
    copying = dictionary.copying_table(translator.model)
    scores = frame(app, "copying score")["copying score"]
    assert list(scores) == sorted(copying["copying score"], reverse=True)
    monkeypatch.chdir(translator.folder.parent)  # the code names the folder alone
    check(*listed[-1])


def test_only_what_is_left_out_is_said_to_be(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = dictionary.measure_dictionaries(*measured).linked
    for most, numbers in ((count, []), (count - 1, ["1"])):
        monkeypatch.setattr(dictionary, "MAX_PIECES", most)
        memory.forget_server_wide()
        app = press(view("Dictionary"), JOB)
        lines = [text for text in app_test.texts(app) if "left out" in text]
        assert [number for line in lines for number in re.findall(r"\d+", line)] == numbers
