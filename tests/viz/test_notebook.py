"""A trace shows itself where IPython runs, and nothing is needed where it does not."""

import html
import re
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import altair as alt
import numpy as np
import pytest

from tests.viz.planted_trace import EVIL, planted
from transformer import AttentionTrace, InputError
from viz import notebook
from viz.draw.heads_view import ExplorerOptions
from viz.figures.heads import head_bars
from viz.report import report


def test_a_trace_shows_itself_in_ipython(monkeypatch):
    registered: dict = {}
    formatter = SimpleNamespace(for_type=registered.__setitem__)
    display = SimpleNamespace(formatters={"text/html": formatter})
    shell = SimpleNamespace(display_formatter=display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    renderer = alt.renderers.active
    try:
        assert notebook.enable()
        assert alt.renderers.active == "headlight"
    finally:
        alt.renderers.enable(renderer)
    trace = planted()
    assert registered[AttentionTrace](trace) == notebook.explore(trace)._repr_html_()


def test_without_ipython_nothing_happens(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not notebook.enable()
    # imported, as some library may do, but not running
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not notebook.enable()


def test_the_frame_holds_the_whole_page_and_nothing_leaves_it():
    over: Any = [(0, 2), [1, 1]]  # a list does, too
    trace = replace(planted(evil=True), notes=("first\n\nsecond\r\n    third\r",))
    shown = notebook.explore(trace, selected=("encoder_self", 1, 0), over=over, theme="dark")
    frame = shown._repr_html_()
    assert EVIL not in frame
    assert frame.count("<") == 2  # <iframe and </iframe>
    assert not {*"\r\n"} & {*frame}  # which Markdown or a front end could change
    (escaped,) = re.findall(r'srcdoc="([^"]*)"', frame)
    options = ExplorerOptions("encoder_self", 1, 0, over=((0, 2), (1, 1)))
    assert html.unescape(escaped) == report(trace, options, theme="dark")
    assert len(f"{[shown]}") < 600  # in a terminal


def test_a_large_cell_says_how_to_show_less(monkeypatch):
    notebook.explore(planted())  # a warning would be an error here
    monkeypatch.setattr(notebook, "MAX_BYTES", 100)
    with pytest.warns(UserWarning, match=r"holds \d+ MB.* layers=\[0, 1\]"):
        notebook.explore(planted(), layers=[0, 1])


def test_a_trace_of_an_encoder_opens_on_what_is_worth_seeing():
    weights = np.full((2, 2, 3, 3), 1 / 3, np.float32)
    weights[1, 0] = np.eye(3)[[1, 2, 2]]  # looks one token ahead
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=["a", "b", "c"])
    opened = [
        re.findall(r'data-head="([^"]*)"', notebook.explore(trace, **options).page)
        for options in ({}, {"layers": [0]}, {"lens": "rollout"})
    ]
    assert opened == [["encoder_self.1.0", "encoder_self.1.0"], [], []]


@pytest.mark.slow
def test_a_chart_brings_its_scripts_along():
    chart = head_bars(np.array([0.25, 0.75], dtype=np.float32), [f"▁{EVIL}", "▁b"], kind="cross")
    (escaped,) = re.findall(r'srcdoc="([^"]*)"', notebook.show_chart(chart.to_dict())["text/html"])
    page = html.unescape(escaped)
    assert page.count("</script>") == page.count("<script>") == 2
    assert not re.findall(r"<script[^>]* src=|<link|cdn\.", page)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"selected": ([], 0, 0)}, r"no kind of attention \[\]"),
        ({"kinds": "cross"}, "kinds='cross' is no list"),
        ({"over": [3]}, r"3 is no head"),
        ({"lens": "norm"}, "take one of rollout, weights"),
    ],
)
def test_a_choice_that_is_none_is_said_in_a_sentence(choice, message):
    with pytest.raises(InputError, match=message):
        notebook.explore(planted(), **choice)
    with pytest.raises(InputError, match="no attention trace but 'list'"):
        notebook.explore([planted()])  # type: ignore[arg-type]
