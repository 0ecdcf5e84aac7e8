"""The heads page as Streamlit runs it: its numbers, its choices, and what stands in the URL."""

import re

import numpy as np
import pytest

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.app_test import GIVEN, texts, unsure
from tests.viz.pages.heads.test_lens import messages
from tests.viz.pages.reading import message, metrics
from transformer import InputError, Translator
from transformer.analysis import sinks
from transformer.analysis.axes import by_words
from transformer.text.languages import Languages
from viz import findings
from viz.app.cache import cached_results
from viz.app.models import menu
from viz.app.sentence import worth_seeing
from viz.app.sentence.source_box import EXAMPLES
from viz.draw import heads_view, labels
from viz.pages.heads import downloads
from viz.report import first_options

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.usefixtures("given_translations")
def test_opens_on_the_head_of_the_first_finding(serve, translator: Translator) -> None:
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    finding = findings.ranked("heads", trace)[0]
    assert finding.choices["layer"] + finding.choices["head"] != "21"  # the plain default
    app = serve("heads", text=SENTENCE)
    shown = [app.selectbox(key=name).value for name in ("layer", "head")]
    assert shown == [finding.choices["layer"], finding.choices["head"]]
    opened = first_options(trace)  # of a report, with no choice
    assert shown == [str(index + 1) for index in (opened.layer, opened.head) if index is not None]
    assert not {"layer", "head"} & {*app.query_params}
    app.text_area(key="text").set_value("Dog.").run()
    assert shown == [app.selectbox(key=name).value for name in ("layer", "head")]
    app = serve("heads", text=SENTENCE, head="1")
    assert app.selectbox(key="head").value == "1"


def test_step_by_step_is_the_player_with_the_head_of_the_page(serve) -> None:
    app = serve("heads", text=SENTENCE, kind="encoder", layer="2", head="3", view="step by step")
    meta, _ = message(app, "player")
    assert meta["kind"] == "encoder_self"
    assert meta["selected"]["encoder_self"] == [1, 2]


@pytest.mark.usefixtures("given_translations")
def test_the_largest_weight_is_one_that_is_drawn(serve, translator: Translator) -> None:
    """Words, and no sinks: neither a piece nor `</s>` may be named."""
    trace = translator.trace(SENTENCE, target=GIVEN[SENTENCE])
    app = serve(
        "heads", text=SENTENCE, kind="cross-attention", layer="1", head="1", words="true",
        without_sinks="true",
    )  # fmt: skip
    axes = by_words(sinks.without_sinks(trace), "cross")
    weights = axes.weights[0, 0]
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert metrics(app)["Largest weight"] == f"{weights.max():.2f}"
    (message,) = [text for text in texts(app) if "looks at" in text]
    assert message.endswith(f"looks at “\u2068{axes.labels.keys[column]}\u2069”")
    (query,) = labels.display_tokens([axes.labels.queries[row]])
    assert f"predicts “\u2068{query}\u2069”" in message


def test_maps_carry_both_words_of_a_row_and_ribbons_the_one_of_the_switch(
    serve, translator: Translator
) -> None:
    trace = translator.trace(SENTENCE)
    words = {
        "word read": labels.display_tokens(trace.decoder_tokens),
        "word predicted": labels.display_tokens(trace.target_tokens),
    }
    for name, queries in words.items():
        app = serve("heads", text=SENTENCE, kind="decoder", rows=name)
        both = message(app, "attention_map")[0]["both"]
        assert [both["reads"], both["writes"]] == [*words.values()]
        meta, _ = message(app, "ribbons")
        assert meta["queries"] == queries
        assert meta["rows"].endswith(name)


def test_without_sinks_the_page_says_what_it_leaves_out(serve, translator: Translator) -> None:
    link = {"text": SENTENCE, "kind": "cross", "layer": "2", "head": "1"}
    whole, without = serve("heads", **link), serve("heads", without_sinks="true", **link)
    lines = [[c.value for c in app.caption if " heads" in c.value] for app in (whole, without)]
    assert list(map(len, lines)) == [0, 1]
    keys = translator.trace(SENTENCE).source_tokens
    for app in (whole, without):  # the map keeps its columns
        assert len(message(app, "attention_map")[0]["keys"]) == len(keys)
    without.button(key="see-norms").click().run()
    assert without.selectbox(key="lens").value == "norms"
    assert not without.toggle(key="without_sinks").value


def test_norms_of_a_long_sentence_are_not_computed_unasked(serve, translator, monkeypatch) -> None:
    link = {"text": SENTENCE, "kind": "cross", "without_sinks": "true"}
    pieces = translator.trace(SENTENCE)
    most = max(len(pieces.source_pieces), len(pieces.target_pieces))
    for longest, numbers in ((most, 4), (most - 1, 2)):
        monkeypatch.setattr(worth_seeing, "LONGEST", longest)
        app = serve("heads", **link)
        (line,) = [c.value for c in app.caption if " heads" in c.value]
        assert len(re.findall(r"\d+\s\\%", line)) == numbers
        assert app.button(key="see-norms")


def test_where_there_are_sinks_alone_the_page_shows_empty_maps(serve) -> None:
    app = serve("heads", text="...", kind="encoder", without_sinks="true")
    assert not app.exception
    assert not message(app, "attention_map")[1]["weights"].any()
    assert not app.metric


def test_the_report_shows_the_choices_of_the_page(serve, monkeypatch) -> None:
    made: list[heads_view.ExplorerOptions] = []

    def report(_trace, options, **_more) -> str:
        made.append(options)
        return ""

    monkeypatch.setattr(downloads, "report", report)
    monkeypatch.setattr("streamlit.download_button", lambda _label, data, *_, **_more: data())
    serve(
        "heads", text=SENTENCE, kind="cross-attention", layer="mean", head="2",
        kinds="cross-attention", layers="1", sort="entropy", words="true", without_sinks="true",
        scale="by row", threshold="0.1", lens="norms", over="L1 H1", rows="word read",
    )  # fmt: skip
    assert made == [
        heads_view.ExplorerOptions(
            "cross", None, 1, words=True, sinks=False, kinds=("cross",), layers=(0,),
            sort="entropy", scale="by row", threshold=0.1, over=((0, 0),), lens="norm",
            rows="reads",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        {"kind": "cross", "words": "true", "special": "false", "sort": "entropy"},
        {"sort": "offset", "kinds": "encoder", "layers": "1"},
        {"scale": "by row", "threshold": "0.1", "over": "L1 H2"},
        {"view": "compare", "with": "another head", "layer2": "mean", "head2": "2"},
        {"view": "step by step", "words": "true", "without_sinks": "true", "kind": "decoder"},
        {"kinds": "nonsense", "layers": "77", "sort": "colour", "over": "L9 H9", "step": "-1"},
    ],
)
def test_every_choice_of_a_link_is_drawn(serve, url: dict[str, str]) -> None:
    app = serve("heads", **{"text": SENTENCE, "kind": "encoder", **url})
    assert not app.exception
    assert not any("nothing to draw" in line for line in texts(app))


def test_another_model_shows_all_its_layers(serve, tmp_path, monkeypatch) -> None:
    marian_folder.write(tmp_path / "deeper", layers=3)
    monkeypatch.setenv(menu.MODELS_VARIABLE, str(tmp_path))
    app = serve("heads", text=SENTENCE)
    (layers,) = [element for element in app.get("button_group") if element.key == "layers"]
    assert layers.value == ["1", "2"]
    app.selectbox(key="model").select("deeper").run()
    (layers,) = [element for element in app.get("button_group") if element.key == "layers"]
    assert layers.value == ["1", "2", "3"]


def test_an_empty_second_sentence_says_so_and_the_page_lives(serve) -> None:
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another sentence"})
    app.text_input(key="text2").set_value("  ").run()
    assert any("The text is empty" in line for line in texts(app))


def test_the_second_sentence_at_the_start_is_in_the_language_of_the_model(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another sentence"})
    assert app.text_input(key="text2").value == EXAMPLES["English"][1]
    french = Languages("French", "Finnish")
    monkeypatch.setattr(menu.load(translator.folder), "languages", french)
    assert app.run().text_input(key="text2").value == ""
    assert not app.exception


def test_what_a_reader_should_know_of_the_second_translation_is_said(serve, unsure_model) -> None:
    url = {"text2": "Her horse waits.", "with": "another sentence"}
    app = serve("heads", text=SENTENCE, view="compare", **url)
    assert len(unsure(app)) == 2  # of the bar's, too


def test_two_models_open_at_one_head_and_are_named(serve) -> None:
    url = {"layer": "2", "head": "1", "view": "compare", "with": "another model"}
    app = serve("heads", text=SENTENCE, **url)
    assert app.selectbox(key="model2").options == ["bundled", "bundled-de-en"]
    assert (app.selectbox(key="layer2").value, app.selectbox(key="head2").value) == ("2", "1")
    first, second = (meta["title"] for meta, _ in messages(app, "attention_map")[:2])
    assert first != second
    assert second.endswith("bundled")


def test_a_pair_that_another_model_has_too_many_pieces_for_says_so(serve, monkeypatch) -> None:
    def refuse(_translator, text: str, target: str) -> None:
        assert (text, bool(target)) == (SENTENCE, True)
        raise InputError("The translation has 1,682 pieces.")

    monkeypatch.setattr(cached_results, "trace_of_pair", refuse)
    app = serve("heads", text=SENTENCE, view="compare", **{"with": "another model"})
    assert "The translation has 1,682 pieces." in texts(app)
