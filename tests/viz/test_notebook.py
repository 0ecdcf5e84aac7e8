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
from transformer.analysis.lenses import lens_trace
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
    shown = notebook.explore(
        planted(evil=True), selected=("encoder_self", 1, 0), over=over, theme="dark"
    )
    frame = shown._repr_html_()
    assert EVIL not in frame
    assert frame.count("<") == 2  # <iframe and </iframe>
    (escaped,) = re.findall(r'srcdoc="([^"]*)"', frame)
    page = html.unescape(escaped)
    options = ExplorerOptions("encoder_self", 1, 0, over=((0, 2), (1, 1)))
    assert page == report(planted(evil=True), options, theme="dark")


def test_a_frame_has_no_line_end_that_markdown_or_a_front_end_could_change():
    text = "first\n\nsecond\r\n    third\r"
    trace = replace(planted(), source=text, notes=("a\n\nb",))
    frame = notebook.explore(trace)._repr_html_()
    assert not {*"\r\n"} & {*frame}
    assert html.unescape(frame.replace("&#13;", "\r")).count(text) == 1
    # its script stays the same where all of them become blanks
    (script,) = re.findall(
        r"<script type=.module. async>\n(.*?)</script>", notebook.explore(trace).page, re.S
    )
    assert "\n" not in script.strip()


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


def test_a_page_and_a_trace_are_short_where_there_is_only_text():
    """A terminal, a list of two, LaTeX: what a notebook saves as text/plain."""
    trace = planted()
    for shown in (notebook.explore(trace), trace):
        assert len(f"{[shown, shown]}") < 600
        assert "\n" not in str(shown)
    assert repr(trace) == (
        "AttentionTrace(source='Two black dogs run', target='Zwei schwarze Hunde rennen dort', "
        "encoder_self=[2, 3, 5, 5], decoder_self=[2, 3, 6, 6], cross=[2, 3, 6, 5])"
    )


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
        ({"selected": "cross"}, "'cross' is no head"),
        ({"selected": ([], 0, 0)}, r"no kind of attention \[\]"),
        ({"kinds": "cross"}, "kinds='cross' is no list"),
        ({"over": [3]}, r"over=\[3\] is no list of heads"),
        ({"theme": "blue"}, "no theme 'blue'"),
        ({"lens": "norm"}, "take one of rollout, weights"),
        ({"lens": "nonsense"}, "name = 'nonsense' does not exist: choose one of weights"),
    ],
)
def test_a_choice_that_is_none_is_said_in_a_sentence(choice, message):
    with pytest.raises(InputError, match=message):
        notebook.explore(planted(), **choice)
    with pytest.raises(InputError, match="no attention trace but 'list'"):
        notebook.explore([planted()])  # type: ignore[arg-type]


def test_rollout_needs_no_translator_and_takes_a_trace_of_anybody():
    weights = np.array([[[[0.5, 0.5], [0.25, 0.75]]], [[[1, 0], [0.5, 0.5]]]], np.float32)
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=["a", "b"])
    seen = lens_trace("rollout", None, trace)
    options = ExplorerOptions(lens="rollout")
    assert notebook.explore(trace, lens="rollout").page == report(seen, options)
    own = (weights[:, 0] + np.eye(2)) / 2
    np.testing.assert_allclose(seen.encoder_self[1, 0], own[1] @ own[0], atol=1e-6)
