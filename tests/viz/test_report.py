"""The page holds every number exactly, and nothing that was typed becomes part of the page."""

import re
from dataclasses import replace
from datetime import date
from functools import partial
from html import escape
from itertools import pairwise

import numpy as np
import pytest

from tests.viz.draw.message import unpacked_message
from tests.viz.planted_trace import EVIL, planted
from tests.viz.trained_model import trained_folder
from transformer import KINDS, AttentionTrace, Translator
from transformer.analysis import lenses, sinks
from transformer.text import languages
from viz import __main__, findings, notebook
from viz.draw import explorer
from viz.draw.caption import LENS_NAMES, Origin, head_caption
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.report import first_options, report
from viz.sentence_parts import part_pictures, parts_html

__all__ = ["trained_folder"]  # a fixture: used by name

TEXT = "The dog waits beside the river."


def finding_heads(page):
    """Return the heads that the findings of a page open, in their order."""
    return re.findall(r'<button data-head="([^"]*)">', page)


def text_of(page, name="weights"):
    (text,) = re.findall(rf'id="{name}">([^<]*)<', page)
    return text


def test_the_page_carries_all_weights_exactly_with_their_labels():
    trace = planted()
    message = unpacked_message(text_of(report(trace, ExplorerOptions("decoder_self", 1, 2))))
    assert message["grid"]["selected"] == ["decoder_self", 1, 2]
    kinds = ["decoder_self", "encoder_self", "cross"]  # that of the open head first
    assert [part["kind"] for part in message["grid"]["parts"]] == kinds
    for kind in KINDS:
        weights = message["kinds"][kind]["weights"]
        assert weights.dtype == np.float32
        assert (weights == trace.weights(kind)).all()
        axes = message["kinds"][kind]["axes"]
        assert axes["kind"] == kind
        assert axes["queries"] == list(trace.labels(kind).queries)
        assert axes["keys"] == list(trace.labels(kind).keys)
    names = [
        f"reads “{r}” and predicts “{w}”"
        for r, w in pairwise(["start", "Zwei", "schwarze", "Hunde", "rennen", "dort", "end"])
    ]
    for kind in ("cross", "decoder_self"):
        row_names = message["kinds"][kind]["rowNames"]
        assert [name.replace("\u2068", "").replace("\u2069", "") for name in row_names] == names


def test_what_was_typed_is_text_and_nothing_else():
    origin = Origin(EVIL, EVIL, EVIL, "")
    page = report(planted(evil=True), title=EVIL, origin=origin, link=f"http://a/?text={EVIL}")
    assert EVIL not in page
    assert "<img" not in page
    assert page.count(escape(EVIL)) == 6  # title, heading, both sentences, model, link
    assert page.count("</script") == page.count("<script") == 2


def test_a_page_names_no_address_and_has_the_theme_that_was_asked_for():
    make = partial(report, planted())
    page = make().replace("http://www.w3.org/2000/svg", "")  # a language's name
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", page)
    assert "default-src 'none'" in page
    light, dark, auto = (make(theme=theme) for theme in ("light", "dark", "auto"))
    assert "color-scheme:light" in light
    assert "color-scheme:dark" not in light
    assert "color-scheme:dark" in dark
    assert "color-scheme:light" not in dark
    assert "prefers-color-scheme:dark" in auto


def test_findings_open_heads_that_the_page_shows_the_strongest_first():
    weights = np.full((2, 3, 4, 4), 0.25, np.float32)
    weights[:, :, 0] = [1, 0, 0, 0]
    weights[1, 2, 1:] = np.eye(4)[:3]  # looks one token back
    cross = np.full((2, 3, 4, 4), 0.1, np.float32)
    cross[..., 3] = 0.7  # on the end token
    cross[0, 1, 2] = [0.9, 0.1, 0, 0]
    trace = AttentionTrace.from_arrays(
        decoder_self=weights,
        cross=cross,
        source_tokens=["<script>alert(1)</script>", "b", "c", "</s>"],
        target_tokens=["w", "x", "y", "</s>"],
        decoder_tokens=["<s>", "w", "x", "y"],
    )
    every = ["decoder_self.1.2", "cross.0.0", "cross.0.1"]
    page = report(trace)
    assert len(findings.ranked("heads", trace)) == 4
    assert finding_heads(page) == every
    # the source, and the finding that quotes it
    assert page.count(escape("<script>alert(1)</script>")) == 2
    assert page.count("<script") == 2
    for shown, heads in (
        (ExplorerOptions(kinds=("cross",)), every[1:]),
        (ExplorerOptions(layer=1, layers=(1,)), 2 * every[:1]),
        (ExplorerOptions(lens="rollout"), []),
    ):
        assert finding_heads(report(trace, shown)) == heads


def test_the_command_writes_the_page_it_was_asked_for(checkpoint_folder, translator, tmp_path):
    out = tmp_path / "report.html"
    options = ["--checkpoint", str(checkpoint_folder), "--kind", "encoder_self", "--layer", "2"]
    more = ["--head", "4", "--words", "--theme", "dark", "--target", "Der Hund."]
    assert __main__.main([TEXT, "-o", str(out), *options, *more]) == 0
    trace = translator.trace(TEXT, "Der Hund.")
    shown = ExplorerOptions("encoder_self", 1, 3, words=True)
    model = Translator.load(checkpoint_folder)
    assert out.read_text(encoding="utf-8") == report(trace, shown, theme="dark", translator=model)


def test_the_command_has_the_player_links_and_removals(trained_folder, tmp_path):
    out = tmp_path / "report.html"
    command = [TEXT, "-o", str(out), "--checkpoint", str(trained_folder)]
    assert __main__.main(command) == 0
    page = out.read_text(encoding="utf-8")
    translator = Translator.load(trained_folder)
    trace = translator.trace_of(translator.translate(TEXT))
    for name, packed in part_pictures(translator, trace).items():
        assert text_of(page, name) == packed
    assert unpacked_message(text_of(page, "trace-data"))["trace"]["options"]
    removals, expected = (
        re.findall(r'<section id="without">.*?</section>', text, re.DOTALL)
        for text in (page, parts_html(translator, trace))
    )
    assert removals == expected
    assert len(re.findall('data-head="', removals[0])) == 4
    first = first_options(trace)
    heads = unpacked_message(text_of(page))
    assert heads["selected"] == [first.kind, first.layer, first.head]
    assert __main__.main([*command, "--lens", "norm"]) == 0  # the player is of weights
    assert "trace-data" not in out.read_text(encoding="utf-8")
    assert __main__.main([*command, "--kind", "encoder_self", "--layer", "mean"]) == 0
    opened = unpacked_message(text_of(out.read_text(encoding="utf-8")))["selected"]
    assert opened == [
        "encoder_self",
        None,
        first_options(translator.trace(TEXT), kind="encoder_self").head,
    ]


def test_a_report_opens_a_mean_with_every_choice_of_the_screen():
    trace = planted()
    second = HeadsView(
        replace(trace, languages=languages.Languages("English", "French")),
        ExplorerOptions("cross", 0, 0),
        Origin("Two dogs", "Deux chiens", "another model", ""),
    )
    options = ExplorerOptions(
        "cross", 1, None, kinds=("cross", "decoder_self"), layers=(1,), sort="confidence",
        scale="square root", threshold=0.25, over=((0, 2), (1, 1)), compared=second,
    )  # fmt: skip
    origin = Origin("Two dogs", "Zwei Hunde", "own", "")
    meta = unpacked_message(explorer.encode_page(trace, options, origin).message)
    assert (meta["selected"], meta["over"]) == (["cross", 1, None], [[0, 2], [1, 1]])
    assert meta["name"] == "layer 2 · mean of 3 heads"
    assert meta["kinds"]["cross"]["title"] == "cross-attention"
    grid = meta["grid"]
    assert grid["selected"] == ["cross", 1, -1]  # a mean is not a head
    assert [part["kind"] for part in grid["parts"]] == ["cross", "decoder_self"]
    assert grid["parts"][0]["values"][0][0]
    assert {layer for _, layer, _ in grid["order"]} == {1}
    assert "encoder_self" not in meta["kinds"]  # no cell opens one of them
    np.testing.assert_array_equal(meta["mean"], trace.cross[1].mean(0))
    assert (meta["look"]["scale"], meta["look"]["threshold"]) == ("square root", 0.25)
    beside, between = meta["compared"]
    expected = trace.cross[1].mean(0) - trace.cross[0, 0]
    np.testing.assert_allclose(between["weights"], expected, atol=1e-7)
    assert beside["rows"] == "French: next word predicted"
    assert beside["caption"] == second.caption()
    assert between["rows"] == f"{trace.languages.name('target')}: next word predicted"
    own = origin.caption(head_caption("cross", 1, None))
    assert between["caption"] == ["First:", *own, "Second:", *second.caption()]


@pytest.mark.parametrize(
    ("lens", "head", "title"),
    [("norm", 2, "L2 H3 · cross-attention · norms"), ("alti", 0, "layer 2")],
)
def test_a_report_through_a_lens_says_so(translator, lens, head, title):
    whole = translator.trace(TEXT, "Der Hund.")
    trace = lenses.lens_trace(lens, translator, whole)
    origin = Origin.from_translator(translator, trace.source, trace.target)
    page = report(trace, ExplorerOptions("cross", 1, head, lens=lens), origin=origin)
    meta = unpacked_message(text_of(page))
    assert f"{meta['name']} · {meta['kinds']['cross']['title']}".startswith(title)
    for kind in KINDS:
        np.testing.assert_array_equal(meta["kinds"][kind]["weights"], trace.weights(kind))
        picture = meta["kinds"][kind]
        assert "share" in picture["note"]
        assert picture["title"].endswith(f" · {LENS_NAMES[lens]}")
        assert f"lens: {LENS_NAMES[lens]}." in str(picture["caption"])
    assert f"The lens is {LENS_NAMES[lens]}" in page
    assert ("all heads together" in page) == (lens == "alti")
    shown = notebook.explore(whole, lens=lens, translator=translator).page
    weights = unpacked_message(text_of(shown))["kinds"]["cross"]["weights"]
    np.testing.assert_array_equal(weights, trace.cross)


def test_a_report_without_sinks_says_so(checkpoint_folder, translator, tmp_path):
    out = tmp_path / "report.html"
    more = ["--checkpoint", str(checkpoint_folder), "--target", "Der Hund.", "--without-sinks"]
    more += ["--layer", "1", "--head", "1"]
    assert __main__.main([TEXT, "-o", str(out), *more]) == 0
    trace = translator.trace(TEXT, "Der Hund.")
    for page in (out.read_text(encoding="utf-8"), notebook.explore(trace, sinks=False).page):
        meta = unpacked_message(text_of(page))
        expected = sinks.without_sinks(trace)
        for kind in KINDS:
            drawn = meta["kinds"][kind]
            np.testing.assert_array_equal(drawn["weights"], expected.weights(kind))
            assert drawn["title"].endswith("without sinks")
        share = sinks.share_on_sinks(trace, "cross")
        assert f"Left out: {100 * share.mean():.0f}\u00a0% of" in page
        assert f"{100 * share[0, 0]:.0f}\u00a0% in cross-attention L1 H1" in page
    picture = unpacked_message(text_of(out.read_text("utf-8")))["kinds"]["cross"]
    assert picture["caption"][1].endswith("lens: weights, without sinks.")


def test_a_report_says_log_p_model_date_and_where_the_same_is_in_the_app():
    trace = planted()
    origin = Origin(trace.source, trace.target, "demo", "0123456789abcdef0123")
    page = report(trace, origin=origin, link="http://localhost:8501/heads?text=Two&head=3")
    log_p = f"{trace.log_probs.sum():.2f}".replace("-", "−")
    assert f"Log probability of the German: {log_p} (6 subwords)." in page
    assert "model demo, SHA-256 0123456789abcdef…" in page
    assert date.today().isoformat() in page
    assert 'href="http://localhost:8501/heads?text=Two&amp;head=3"' in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "Der Hund.", "--lens", "alti", "--head", "2"], "no head 2 in it"),
        (["--target", "Der Hund.", "-o", "no/such/folder.html"], "folder.html cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    checkpoint_folder, tmp_path, monkeypatch, capsys, options, message
):
    monkeypatch.chdir(tmp_path)
    command = [TEXT, "-o", "report.html", "--checkpoint", str(checkpoint_folder), *options]
    assert __main__.main(command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()
