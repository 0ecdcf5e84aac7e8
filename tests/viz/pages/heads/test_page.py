"""The heads page as Streamlit runs it: its numbers, its choices, and what stands in the URL."""

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import GIVEN, texts
from tests.viz.draw.message import decode
from tests.viz.pages.reading import message, without_text
from transformer import AttentionTrace, Translator
from transformer.analysis.axes import by_words
from transformer.analysis.heads.measures import summarise
from transformer.analysis.lenses import lens_trace
from transformer.analysis.sinks import without_sinks
from viz.app.sentence import worth_seeing
from viz.draw.heads_view import ExplorerOptions
from viz.draw.labels import KINDS_BY_NAME, display_tokens
from viz.draw.player import LARGEST
from viz.findings import findings
from viz.pages.heads import downloads

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.parametrize(
    ("kind", "layer", "head"),
    [
        ("encoder", "1", "2"),
        ("decoder", "1", "2"),
        ("cross-attention", "1", "2"),
        ("encoder", "mean", "mean"),
    ],
)
def test_the_numbers_beside_a_map_are_of_that_head_or_mean(
    serve, translator: Translator, kind: str, layer: str, head: str
) -> None:
    app = serve("heads", text=SENTENCE, kind=kind, layer=layer, head=head)
    assert not app.exception
    weights = translator.trace(SENTENCE).weights(KINDS_BY_NAME[kind])
    opened = weights.mean((0, 1)) if head == "mean" else weights[0, 1]
    expected = summarise(opened, causal=kind == "decoder")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Entropy"] == f"{expected.entropy:.2f} bits"
    assert shown["Largest weight"] == f"{expected.largest:.2f}"
    assert ("Offset" in shown) == (kind != "cross-attention")


@pytest.mark.usefixtures("given_translations")
def test_opens_on_the_head_of_the_first_finding(serve, translator: Translator) -> None:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    finding = findings("heads", trace)[0]
    assert finding.choices["layer"] + finding.choices["head"] != "21"  # the plain default
    app = serve("heads", text=SENTENCE)
    shown = [app.selectbox(key=name).value for name in ("layer", "head")]
    assert shown == [finding.choices["layer"], finding.choices["head"]]
    assert not {"layer", "head"} & {*app.query_params}
    app.text_area(key="text").set_value("Dog.").run()
    assert shown == [app.selectbox(key=name).value for name in ("layer", "head")]
    app = serve("heads", text=SENTENCE, head="1")
    assert app.selectbox(key="head").value == "1"


@pytest.mark.usefixtures("given_translations")
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross-attention"])
def test_step_by_step_is_the_player_with_the_head_of_the_page(
    serve, translator: Translator, kind: str
) -> None:
    app = serve("heads", text=SENTENCE, kind=kind, layer="2", head="3", view="step by step")
    assert not app.exception
    meta, arrays = message(app, "player")
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    opened = KINDS_BY_NAME[kind]
    assert meta["kind"] == opened
    (selected,) = [part["selected"] for part in meta["kinds"] if part["kind"] == opened]
    assert selected == [1, 2]
    assert arrays[opened][0] / LARGEST == pytest.approx(trace.weights(opened), abs=1e-5)
    assert len(meta["steps"]) == len(trace.target_tokens)


@pytest.mark.usefixtures("given_translations")
def test_the_largest_weight_is_one_that_is_drawn(serve, translator: Translator) -> None:
    """Words, and no sinks: neither a piece nor `</s>` may be named."""
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    app = serve(
        "heads", text=SENTENCE, kind="cross-attention", layer="1", head="1", words="true",
        without_sinks="true",
    )  # fmt: skip
    axes = by_words(without_sinks(trace), "cross")
    weights = axes.weights[0, 0]
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert {m.label: m.value for m in app.metric}["Largest weight"] == f"{weights.max():.2f}"
    (message,) = [text for text in texts(app) if "looks at" in text]
    assert message.endswith(f"looks at “\u2068{axes.labels.keys[column]}\u2069”")
    assert f"predicts “\u2068{axes.labels.queries[row]}\u2069”" in message


def grid(app: AppTest) -> dict[str, Any]:
    messages = [decode(element.proto.bytes)[0] for element in app.get("bidi_component")]
    result, selection = (
        next(meta for meta in messages if meta["component"] == component)
        for component in ("head_grid", "selection")
    )
    assert result["key"] == selection["key"]  # else nothing is outlined
    return result


@pytest.mark.parametrize("kind", ["cross-attention", "decoder"])
def test_maps_carry_both_words_of_a_row_and_ribbons_the_one_of_the_switch(
    serve, translator: Translator, kind: str
) -> None:
    trace = translator.trace(SENTENCE)
    words = {
        "word read": display_tokens(trace.decoder_tokens),
        "word predicted": display_tokens(trace.target_tokens),
    }
    for name, queries in words.items():
        app = serve("heads", text=SENTENCE, kind=kind, rows=name)
        both = message(app, "attention_map")[0]["both"]
        assert [both["reads"], both["writes"]] == [*words.values()]
        meta, _ = message(app, "ribbons")
        assert meta["queries"] == queries
        assert meta["rows"].endswith(name)


def shares_of_sinks(trace: AttentionTrace, head: tuple[int, int]) -> list[int]:
    """Per cent of cross-attention on tokens without text: of all heads, and of one."""
    sinks = np.array(without_text(trace.source_tokens))
    shares = {
        place: np.mean([sum(map(float, row[sinks])) / math.fsum(row) for row in trace.cross[place]])
        for place in np.ndindex(trace.cross.shape[:2])
    }
    return [round(100 * float(share)) for share in (np.mean([*shares.values()]), shares[head])]


@pytest.mark.usefixtures("given_translations")
def test_without_sinks_the_page_says_what_it_leaves_out(serve, translator: Translator) -> None:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    link = {"text": SENTENCE, "kind": "cross", "layer": "2", "head": "1"}
    whole, without = serve("heads", **link), serve("heads", without_sinks="true", **link)
    every, single = shares_of_sinks(trace, (1, 0))
    by_norms = shares_of_sinks(lens_trace("norm", translator, trace), (1, 0))
    (line,) = [c.value for c in without.caption if "heads" in c.value]
    assert [int(n) for n in re.findall(r"(\d+)\s\\%", line)] == [every, single, *by_norms]
    assert not [c.value for c in whole.caption if "heads" in c.value]

    words = ~np.array(without_text(trace.source_tokens))
    expected = np.zeros(trace.cross.shape[2:])
    rows = trace.cross[1, 0].astype(float)
    expected[:, words] = rows[:, words] / rows[:, words].sum(-1, keepdims=True)
    before, drawn = (message(app, "attention_map")[1]["weights"] for app in (whole, without))
    np.testing.assert_allclose(drawn, expected, rtol=1e-6)
    np.testing.assert_array_equal(before, trace.cross[1, 0])
    for app in (whole, without):  # the map keeps its columns
        assert len(message(app, "attention_map")[0]["keys"]) == len(trace.source_tokens)

    without.button(key="see-norms").click().run()
    assert without.selectbox(key="lens").value == "norms"
    assert not without.toggle(key="without_sinks").value


def test_norms_of_a_long_sentence_are_not_computed_unasked(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = {"text": SENTENCE, "kind": "cross", "without_sinks": "true"}
    pieces = translator.trace(SENTENCE)
    most = max(len(pieces.source_pieces), len(pieces.target_pieces))
    for longest, numbers in ((most, 4), (most - 1, 2)):
        monkeypatch.setattr(worth_seeing, "LONGEST", longest)
        app = serve("heads", **link)
        (line,) = [c.value for c in app.caption if "heads" in c.value]
        assert len(re.findall(r"\d+\s\\%", line)) == numbers
        assert app.button(key="see-norms")


@pytest.mark.parametrize("lens", ["norms", "gradient × weights", "rollout"])
def test_the_switch_rescales_the_map_of_every_lens(serve, lens: str) -> None:
    app = serve("heads", text=SENTENCE, kind="cross", lens=lens, without_sinks="true")
    weights = message(app, "attention_map")[1]["weights"]
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-6)
    assert not weights[:, -1].any()


def test_where_there_are_sinks_alone_the_page_shows_empty_maps(serve) -> None:
    app = serve("heads", text="...", kind="encoder", without_sinks="true")
    assert not app.exception
    assert not message(app, "attention_map")[1]["weights"].any()
    assert not app.metric


def test_the_report_shows_the_choices_of_the_page(serve, monkeypatch) -> None:
    made: list[ExplorerOptions] = []

    def report(_trace, options, **_more) -> str:
        made.append(options)
        return ""

    monkeypatch.setattr(downloads, "report", report)
    monkeypatch.setattr(downloads, "_button", lambda _label, data, *_more: data())
    serve(
        "heads", text=SENTENCE, kind="cross-attention", layer="mean", head="2",
        kinds="cross-attention", layers="1", sort="entropy", words="true", without_sinks="true",
        scale="by row", threshold="0.1", lens="norms", over="L1 H1", rows="word read",
    )  # fmt: skip
    assert made == [
        ExplorerOptions(
            "cross", None, 1, words=True, sinks=False, kinds=("cross",), layers=(0,),
            sort="entropy", scale="by row", threshold=0.1, over=((0, 0),), lens="norm",
            rows="reads",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "counted"),
    [
        ({}, "each of the {layers} × {heads} heads of each kind,"),
        (
            {"kinds": ["encoder", "cross-attention"], "layers": ["1"]},
            "each of the 1 × {heads} heads of encoder self-attention and cross-attention,",
        ),
        (
            {"kinds": ["cross-attention"], "layers": ["1"], "lens": "rollout"},
            "one layer of cross-attention, all heads together,",
        ),
    ],
)
def test_the_text_counts_the_maps_that_are_drawn(
    serve, translator: Translator, chosen: dict[str, Any], counted: str
) -> None:
    app = serve("heads", text=SENTENCE, **chosen)
    config = translator.model.config
    message = " ".join(element.value for element in app.markdown)
    assert f"One small map for {counted.format(layers=config.N, heads=config.h)}" in message
