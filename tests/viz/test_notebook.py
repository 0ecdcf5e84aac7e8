"""A trace shows itself where IPython runs, and nothing is needed where it does not."""

import html
import re
import sys
from types import SimpleNamespace

import altair as alt
import numpy as np

from tests.viz.planted_trace import EVIL, planted
from transformer import AttentionTrace
from viz import notebook
from viz.draw.explorer import View
from viz.figures.heads import head_bars
from viz.report import report


def shell_of(registered):
    formatter = SimpleNamespace(for_type=registered.__setitem__)
    display = SimpleNamespace(formatters={"text/html": formatter})
    return SimpleNamespace(display_formatter=display)


def test_a_trace_shows_itself_in_ipython(monkeypatch):
    registered: dict = {}
    shell = shell_of(registered)
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
    shown = notebook.explore(planted(evil=True), selected=("encoder_self", 1, 0), theme="dark")
    frame = shown._repr_html_()
    assert EVIL not in frame
    assert frame.count("<") == 2  # <iframe and </iframe>
    (escaped,) = re.findall(r'srcdoc="([^"]*)"', frame)
    page = html.unescape(escaped)
    assert page == report(planted(evil=True), View("encoder_self", 1, 0), theme="dark")


def test_a_chart_brings_its_scripts_along():
    chart = head_bars(np.array([0.25, 0.75], dtype=np.float32), [f"▁{EVIL}", "▁b"], kind="cross")
    (escaped,) = re.findall(r'srcdoc="([^"]*)"', notebook.show_chart(chart.to_dict())["text/html"])
    page = html.unescape(escaped)
    assert page.count("</script>") == page.count("<script>") == 2
    assert not re.findall(r"<script[^>]* src=|<link|cdn\.", page)
