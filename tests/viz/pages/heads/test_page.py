"""The heads page as Streamlit runs it: its numbers, its choices, and what stands in the URL."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import GIVEN, texts
from tests.viz.draw.message import decode, unpacked_message
from tests.viz.pages.reading import message, without_text
from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.axes import LabelledWeights, by_words
from transformer.analysis.heads.measures import measure, summarise
from transformer.analysis.heads.roles import head_roles
from transformer.analysis.lenses import lens_trace
from transformer.analysis.sinks import without_sinks
from transformer.trace import Labels
from viz.app.sentence import worth_seeing
from viz.draw.explorer import encode_page
from viz.draw.heads_view import ExplorerOptions
from viz.draw.labels import KINDS_BY_NAME, display_tokens
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
def test_a_step_is_named_by_what_it_writes(serve, translator: Translator) -> None:
    app = serve("heads", text=SENTENCE, view="step by step", step="2")
    pieces = translator.trace(SENTENCE, target=GIVEN[SENTENCE]).target_tokens
    assert app.slider(key="step").max == len(pieces)
    assert app.slider(key="step").value == 2
    read, written = (f"“\u2068{token}\u2069”" for token in display_tokens(pieces)[:2])
    assert f"Step 2: reads {read} and predicts {written}." in texts(app)


@pytest.mark.usefixtures("given_translations")
@pytest.mark.parametrize("kind", ["decoder", "cross-attention"])
def test_step_by_step_everything_is_measured_on_the_rows_that_exist(
    serve, translator: Translator, kind: str
) -> None:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    app = serve(
        "heads", text=SENTENCE, kind=kind, layer="1", head="2", view="step by step", step="3",
        sort="entropy",
    )  # fmt: skip
    whole = {"decoder": trace.decoder_self, "cross-attention": trace.cross}[kind]
    name: Kind = "decoder_self" if kind == "decoder" else "cross"
    keys = 3 if kind == "decoder" else None
    weights = whole[:, :, :3, :keys]
    expected = summarise(weights[0, 1], causal=kind == "decoder")
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics["Entropy"] == f"{expected.entropy:.2f} bits"
    assert metrics["Largest weight"] == f"{expected.largest:.2f}"
    reads, writes = display_tokens(trace.decoder_tokens), display_tokens(trace.target_tokens)
    (message,) = [text for text in texts(app) if "looks at" in text]
    assert f"reads “\u2068{reads[expected.query]}\u2069”" in message
    assert f"predicts “\u2068{writes[expected.query]}\u2069”" in message
    labels = trace.labels(name)
    axes = LabelledWeights(weights, Labels(labels.queries[:3], labels.keys[:keys]))
    part = next(part for part in grid(app)["parts"] if part["kind"] == name)
    words = {"first": "start" if kind == "decoder" else "first word", "end token": "end"}
    roles = head_roles(axes, name)
    assert part["roles"] == [[words.get(role, role) for role in layer] for layer in roles]
    assert part["values"][0][1] == f"{measure(axes, name, 'entropy')[0, 1]:.2f}"
    options = ExplorerOptions(name, 0, 1, sort="entropy", step=2)
    report = unpacked_message(encode_page(trace, options).message)[1]
    in_report = decode(report["grid"].tobytes())[0]
    assert part in in_report["parts"]


def test_the_first_step_names_no_role_of_the_decoder(serve) -> None:
    app = serve("heads", text=SENTENCE, kind="cross-attention", view="step by step", step="1")
    for part in grid(app)["parts"]:
        named = {role for layer in part["roles"] for role in layer if role}
        assert (part["kind"] == "encoder_self") or not named
    assert any("up to step 1; a single row names nothing" in text.value for text in app.markdown)


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


@pytest.mark.parametrize(("step", "is_last"), [("0", False), ("99", True), ("x", False)])
def test_a_step_that_is_not_there_is_the_nearest_that_is(serve, step: str, is_last: bool) -> None:
    app = serve("heads", text=SENTENCE, view="step by step", step=step)
    assert not app.exception
    slider = app.slider(key="step")
    assert slider.value == (slider.max if is_last else 1)


@pytest.mark.usefixtures("given_translations")
def test_a_shorter_sentence_has_no_step_of_the_longer_one(serve, translator: Translator) -> None:
    app = serve("heads", text=SENTENCE, view="step by step")
    app.slider(key="step").set_value(app.slider(key="step").max).run()
    pieces = len(translator.trace("Dog.", target=GIVEN["Dog."]).target_tokens)
    assert app.slider(key="step").value > pieces
    app.text_area(key="text").set_value("Dog.").run()
    assert not app.exception
    assert app.slider(key="step").value == app.slider(key="step").max == pieces


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
        verb = "predicts" if "predicted" in name else "reads"
        assert meta["rows"] == f"German: what the step {verb}"


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


def test_every_step_has_the_room_of_the_whole_map_and_play_goes_on_from_it(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: list[Any] = []

    def fragment(advance: Any, *, run_every: str) -> Any:
        def draw(*given: Any) -> None:
            advance(*given)  # as the page draws it: nothing moves
            ticks.append((run_every, given))

        return draw

    monkeypatch.setattr("viz.app.chrome.play.st.fragment", fragment)
    app = serve("heads", text=SENTENCE, view="step by step", step="2", kind="decoder")
    (picture, _) = message(app, "attention_map")
    tokens = display_tokens(translator.trace(SENTENCE).decoder_tokens)
    assert (picture["queries"], picture["keys"]) == (tokens[:2], tokens[:2])
    assert (picture["room"]["queries"], picture["room"]["keys"]) == (tokens, tokens)
    app.button(key="step-play").click().run()
    assert app.slider(key="step").value == 2
    ((every, (slider, value, _)),) = ticks
    assert (every, slider, value) == ("1s", "step", 3)
