"""A trace shows itself where IPython runs, and nothing is needed where it does not."""

import base64
import html
import io
import json
import re
import sys
import unicodedata
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image

import headlight
from tests.viz.planted_trace import EVIL, planted, planted_at
from transformer import KINDS, AttentionTrace, InputError
from transformer.analysis import lenses
from transformer.text.languages import Languages
from viz import notebook
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.labels import SCREEN_NAMES, axis_titles, display_tokens
from viz.figures import still
from viz.figures.heads import head_map
from viz.report import report

SVG = "{http://www.w3.org/2000/svg}"


def test_a_trace_shows_itself_in_ipython(monkeypatch):
    registered: dict = {}
    formatter = SimpleNamespace(for_type=registered.__setitem__)
    display = SimpleNamespace(mimebundle_formatter=formatter, ipython_display_formatter=formatter)
    shell = SimpleNamespace(display_formatter=display)
    displayed: list = []
    ipython = SimpleNamespace(
        get_ipython=lambda: shell,
        display=SimpleNamespace(display=lambda bundle, **_: displayed.append(bundle)),
    )
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    renderer = alt.renderers.active
    try:
        assert notebook.enable()
        assert alt.renderers.active == "headlight"
    finally:
        alt.renderers.enable(renderer)
    trace = planted()
    shown, metadata = registered[AttentionTrace](trace, include=None, exclude=None)
    assert shown["text/html"] == notebook.explore(trace)._repr_html_()
    size = metadata["image/png"]
    assert image(shown).size == (2 * size["width"], 2 * size["height"])
    head = head_map(trace.cross[1, 2], *trace.labels("cross"), kind="cross")
    monkeypatch.setattr(go.Figure, "_repr_mimebundle_", lambda _figure: {"text/html": "Plotly"})
    registered[f"{go.Figure.__module__}.{go.Figure.__name__}"](head)
    assert {*displayed[0]} == {"text/html", "image/png"}
    monkeypatch.setattr(notebook, "find_spec", lambda _name: None)  # without the extra
    assert {*notebook.explore(trace)._repr_mimebundle_()[0]} == {"text/html"}


def image(bundle):
    png = base64.b64decode(bundle["image/png"])
    assert len(png) < 150_000
    return Image.open(io.BytesIO(png))


def drawn(spec):
    """Titles, labels, squares and outlined heads of a picture, for its large and its small part."""
    large, small = spec["hconcat"]
    squares, heads = (spec["datasets"][part["data"]["name"]] for part in (large, small))
    chosen = re.findall("-?[0-9]+", small["spec"]["layer"][1]["transform"][0]["filter"])
    texts = [large["encoding"][axis]["axis"] for axis in "yx"]
    return large["title"]["text"], texts, squares, heads, tuple(map(int, chosen))


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, "German: next word predicted"),
        ({"rows": "reads"}, "German: last word read"),
        ({"selected": ("decoder_self", 1, 1)}, "German: last word read"),
        ({"selected": ("encoder_self", 0, 2), "kinds": ["encoder_self"]}, "English: the position"),
        ({"words": True, "special": False, "layers": [1], "selected": ("cross", 1, 0)}, "German"),
        ({"sinks": False, "selected": ("cross", None, 2)}, "German: next"),
    ],
)
def test_the_picture_has_the_numbers_and_tokens_of_the_page(options, rows):
    trace = replace(planted(evil=True), languages=Languages("English", "German"))
    view = HeadsView(trace, heads_options(options))
    shown: Any = notebook.explore(trace, **options)
    title, (down, across), large, small, outlined = drawn(shown.draw())
    opened = view.opened
    assert title == opened.title
    assert down["title"].startswith(rows)
    assert json.dumps(EVIL)[1:-1] in down["labelExpr"] + across["labelExpr"]
    assert [row["weight"] for row in large] == pytest.approx(opened.weights.ravel().tolist())
    heads = view.heads[view.kind].axes.weights[[*view.shown.layers]]
    assert [row["weight"] for row in small] == pytest.approx(heads.ravel().tolist())
    assert [place["layer"] for place in small[:: heads[0].size]] == [*view.shown.layers]
    assert outlined == view.selected[1:]


@pytest.mark.parametrize("lacking", [{"CJK"}, {"THAI", "DEVANAGARI"}, set()])
def test_letters_without_a_font_are_named(lacking, monkeypatch):
    """Each machine has other fonts: here the name of a letter says whether there is one."""

    def script(letter):
        return unicodedata.name(letter, "none").split()[0]

    def drawn_letter(picture):
        letter = re.sub("<.*?>", "", picture)
        return b"box" if script(letter) in {*lacking, "none"} else letter.encode()

    monkeypatch.setattr("vl_convert.svg_to_png", drawn_letter)
    tokens = ("▁東京", "▁กรุง", "▁महल", "▁жук", "▁A")
    weights = np.full((1, 1, len(tokens), len(tokens)), 1 / len(tokens), np.float32)
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=tokens)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bundle, _ = notebook.explore(trace)._repr_mimebundle_()
    assert "image/png" in bundle
    named = [letter for warning in caught for letter in re.findall("'(.)'", str(warning.message))]
    assert {script(letter) for letter in named} == lacking


def heads_options(options):
    kind, layer, head = options.get("selected", (None, 0, 0))
    given = {name: value for name, value in options.items() if name != "selected"}
    lists = {name: tuple(given[name]) for name in ("kinds", "layers") if name in given}
    return ExplorerOptions(kind, layer, head, **given | lists)


def test_a_picture_of_many_tokens_stays_small_and_keeps_every_weight():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(90, 0.05), (1, 3, 90)).astype(np.float32)
    tokens = [f"t{number}" for number in range(90)]
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=tokens)
    shown: Any = notebook.explore(trace)
    spec = shown.draw()
    image(replace(shown, draw=lambda: spec)._repr_mimebundle_()[0])
    _, axes, large, small, _ = drawn(spec)
    assert all(len(axis["values"]) <= 40 for axis in axes)
    assert len(large) <= 80**2
    assert len(small) <= 10_000
    # a row of a square is the mean of rows, which share out 1 each
    squares = {place["row"] for place in large}
    assert sum(place["weight"] for place in large) == pytest.approx(len(squares), rel=1e-4)


def test_figures_of_plotly_are_drawn_again():
    trace = planted(evil=True)
    queries, keys = trace.labels("cross")
    large = still.plotly_map(head_map(trace.cross[1, 2], queries, keys, kind="cross", title=EVIL))
    assert large.title.text == EVIL
    assert json.dumps(EVIL)[1:-1] in large.to_dict()["encoding"]["y"]["axis"]["labelExpr"]
    assert large.data["weight"].tolist() == pytest.approx(trace.cross[1, 2].ravel().tolist())
    assert still.plotly_map(go.Figure(go.Heatmap(z=[[1]]))) is None


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
    with pytest.warns(UserWarning, match=r"holds \d+ MB.* layers=\[0\]") as warned:
        notebook.explore(planted(), layers=[0, 1])
    assert len(warned) == 1


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
def test_attentions_and_tokens_are_shown_as_bertviz_takes_them():
    weights = planted().encoder_self
    tokens = planted().source_tokens
    page = notebook.explore([layer[None] for layer in weights], tokens).page
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=tokens)
    assert page == notebook.explore(trace).page
    with pytest.raises(InputError, match="attention weights"):
        notebook.explore(trace, tokens)


@pytest.mark.slow
def test_a_chart_brings_its_scripts_along():
    chart = alt.Chart(pd.DataFrame({"token": [EVIL, "b"]})).mark_bar().encode(x="token:N")
    (escaped,) = re.findall(
        r'srcdoc="([^"]*)"', notebook.show_chart(chart.to_dict())[0]["text/html"]
    )
    page = html.unescape(escaped)
    assert page.count("</script>") == page.count("<script>") == 2
    assert not re.findall(r"<script[^>]* src=|<link|cdn\.", page)


def drawn_in(svg):
    """Weights of the drawn squares in order, the place of the darkest, and all texts."""
    root = ElementTree.fromstring(svg)
    squares = [path for path in root.iter(f"{SVG}path") if path.get("aria-roledescription")]
    weights = [float(str(path.get("aria-label")).rsplit(": ")[-1]) for path in squares]
    light = [sum(map(int, re.findall(r"\d+", str(path.get("fill"))))) for path in squares]
    return (
        weights,
        int(np.argmin(light)),
        ["".join(text.itertext()) for text in root.iter(f"{SVG}text")],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_svg_of_a_head_has_its_weights_names_and_caption(kind):
    trace = replace(planted(evil=True), languages=Languages("English", "German"))
    weights, darkest, texts = drawn_in(headlight.svg(trace, kind, 1, 2))
    labels = trace.labels(kind)
    assert weights == pytest.approx(trace.weights(kind)[1, 2].ravel().tolist(), rel=1e-5)
    assert divmod(darkest, len(labels.keys)) == planted_at(trace, kind, 1, 2)
    assert f"L2 H3 · {SCREEN_NAMES[kind]}" in texts
    names = axis_titles(kind, trace.languages)
    assert {*names, *display_tokens([*labels.queries, *labels.keys])} - {EVIL} <= {*texts}
    caption = " ".join(texts[-4:])
    assert "layer 2, head 3, lens: weights." in caption
    assert EVIL in caption


def test_an_svg_follows_its_options_and_is_a_file_whatever_the_tokens(translator):
    whole = translator.trace("The dog waits.", "Der Hund.")
    seen = lenses.lens_trace("norm", translator, whole)
    made = headlight.svg(whole, "cross", 0, 1, lens="norm", translator=translator)
    weights, _, texts = drawn_in(made)
    assert weights == pytest.approx(seen.cross[0, 1].ravel().tolist(), abs=1e-6)
    assert "L1 H2 · cross-attention · norms" in texts
    assert translator.checksum[:16] in texts[-1]
    tokens = ["\x07", "\ufffe", "a & <b>\x08", "Ω" * 200]
    alone = headlight.from_arrays(
        encoder_self=np.eye(4)[None, None], source_tokens=tokens, source="a\x07\uffff"
    )
    assert drawn_in(headlight.svg(alone, "encoder_self", 0, 0))[0] == [*np.eye(4).ravel()]
    with pytest.raises(InputError, match="no layer 2"):
        headlight.svg(alone, "encoder_self", 1, 0)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"selected": ([], 0, 0)}, r"kind = \[\] does not exist"),
        ({"kinds": "cross"}, "kinds='cross' is not a list"),
        ({"over": [3]}, r"3 is not a head"),
        ({"lens": "norm"}, "take one of rollout, weights"),
    ],
)
def test_a_choice_that_is_none_is_said_in_a_sentence(choice, message):
    with pytest.raises(InputError, match=message):
        notebook.explore(planted(), **choice)
    with pytest.raises(InputError, match="not an attention trace but 'list'"):
        notebook.explore([planted()])
