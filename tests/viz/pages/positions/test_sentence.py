"""The views of the sentence are those of the served model."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import press, texts, unsure
from tests.viz.pages.positions.reading import BOTH, SENTENCE, picture
from tests.viz.pages.reading import metrics
from tests.viz.plotly_values import map_values
from transformer import Translation, Translator
from transformer.analysis.paper import positions
from transformer.analysis.paper.positions import Edit
from transformer.files.installed import BUNDLED
from transformer.text.languages import OURS, Languages
from viz.app.cache import cached_results
from viz.app.sentence.translation_line import mark_changed_words
from viz.draw.formatting import format_number
from viz.draw.labels import display_tokens
from viz.pages.positions.sentence import PAIR, STEPS, input_figure, moved_chart, pieces_chart


def candidates(app: AppTest) -> list[str]:
    result = [html.proto.body for html in app.get("html")]
    return [body for body in result if "headlight-candidate" in body]


def candidate(name: str, translator: Translator, edit: Edit, old: str) -> str:
    """Return the candidate that the page draws for an edit, from the model itself."""
    trace = translator.trace(SENTENCE)
    with translator.model.hooks(edit.hooks()):
        new = translator.translate(SENTENCE)
    old_text = positions.log_probs(translator.model, trace, edit).sum()
    nothing = "" if new.text else "<i>(nothing: the sentence ends at once)</i> "
    words = f"{nothing}<bdi>{mark_changed_words(new.text, old)}</bdi>"
    log_prob, log_prob_of_old = format_number(new.log_prob), format_number(old_text)
    course = f"{format_number(float(trace.log_probs.sum()))} → {log_prob_of_old}"
    return (
        f'<div class="headlight-candidate"><small>{name}</small>{words}'
        f"<small>log probability {log_prob} · original translation: {course}</small></div>"
    )


@pytest.mark.parametrize("stack", BOTH)
def test_the_foot_of_the_sentence_is_the_served_models(
    opened, translator: Translator, stack
) -> None:
    app = opened("Your sentence", pe_stack=stack)
    foot = positions.embedding_parts(translator.model, translator.trace(SENTENCE), stack)
    for number, part in enumerate(foot):
        np.testing.assert_array_equal(map_values(picture(app), number), part)
    rms = [f"{math.sqrt((part.astype(float) ** 2).mean()):.4f}" for part in foot]
    assert list(metrics(app).values()) == rms
    assert rms[1] == "0.7071"
    trace = translator.trace(SENTENCE)
    tokens = trace.source_tokens if stack == "encoder" else trace.decoder_tokens
    assert len(json.loads(picture(app))["layout"]["yaxis"]["ticktext"]) == len(tokens)
    other = next(item for item in BOTH if item != stack)
    app.button_group(key="pe_stack").set_value(other).run()
    foot = positions.embedding_parts(translator.model, trace, other)
    np.testing.assert_array_equal(map_values(picture(app), 2), foot.sum)


def test_beyond_writes_what_the_model_writes_there(opened, translator: Translator) -> None:
    app = opened("Shift positions", pe_moved="64")
    old = translator.translate(SENTENCE).text
    assert candidates(app) == [
        candidate("all positions shifted by 64", translator, Edit("moved", BOTH, 64), old),
        candidate(
            "encoder positions shifted by 64", translator, Edit("moved", ("encoder",), 64), old
        ),
    ]
    assert candidates(opened("Shift positions", pe_moved="2048")) != candidates(app)
    assert STEPS[:3] == (0, 1, 2)
    assert STEPS[-1] > 10 * translator.model.config.max_length  # far beyond


def test_without_writes_what_the_model_writes_without(opened, translator: Translator) -> None:
    app = opened("Remove positions", pe_seed="3")
    old = translator.translate(SENTENCE).text
    edits = {
        "no encoder positions": Edit("removed", ("encoder",)),
        "shuffled encoder positions": Edit("shuffled", ("encoder",), 3),
        "no decoder positions": Edit("removed", ("decoder",)),
        "no positions": Edit("removed", BOTH),
    }
    expected = [candidate(name, translator, edit, old) for name, edit in edits.items()]
    assert candidates(app) == expected
    assert len({item.split("</small>", 1)[1] for item in expected}) == 4  # each edit does its own
    trace = translator.trace(SENTENCE)
    tokens = trace.source_tokens
    order = list(positions.shuffled_order(len(tokens), 3))
    read = [display_tokens(tokens)[order.index(place)] for place in range(len(tokens))]
    assert " ".join(read) in texts(app)
    changed = []
    for name, edit in edits.items():
        with translator.model.hooks(edit.hooks()):
            if translator.translate(SENTENCE).text != old:
                changed.append(name)
    (message,) = [text for text in texts(app) if "edits change" in text]
    change = "changes" if len(changed) == 1 else "change"
    assert f"{len(changed)} of 4 edits {change} the translation" in message
    assert all(name in message for name in changed)


def test_what_a_reader_should_know_of_each_translation_is_said(opened, unsure_model) -> None:
    (bar, *edited) = unsure(opened("Remove positions"))
    assert len(edited) == 4
    # of the words alone that the whole model writes, the text may be why
    assert [unsure_model.made_for in notice for notice in (bar, *edited)] == [True, *[False] * 4]


def test_without_compares_with_what_the_model_writes_where_the_bar_is_edited_by_hand(
    opened, translator: Translator
) -> None:
    with translator.model.hooks(Edit("removed", ("encoder",)).hooks()):
        by_hand = translator.translate(SENTENCE).text  # what one of the edits finds
    assert by_hand.strip()
    assert by_hand != translator.translate(SENTENCE).text
    own, edited = (
        [item for item in texts(opened("Remove positions", **url)) if "edits change" in item]
        for url in ({}, {"edited": by_hand})
    )
    assert len(own) == 1
    assert edited == own


@pytest.mark.slow
def test_the_bundled_model_cannot_tell_who_bites_without_positions(serve) -> None:
    """Found live, with the bundled model: the page claims what it has just computed."""
    app = serve("positions", checkpoint=BUNDLED, pe_view="Remove positions", text=SENTENCE)
    message = [text for text in texts(app) if "becomes" in text]
    result = [re.findall("becomes “(.*?)”.*positions “(.*?)”", text)[0] for text in message]
    with_order, without = zip(*result, strict=True)
    assert len(set(with_order)) == 2
    assert len(set(without)) == 1
    assert any("the same sentence to the encoder" in text for text in texts(app))
    press(app, f"Use “{PAIR[1]}”")
    assert app.text_area(key="text").value == PAIR[1]


def test_a_model_that_tells_them_apart_is_not_said_not_to(opened, monkeypatch) -> None:
    as_ever = cached_results.translate_edited
    for_each = iter(range(99))

    def differs(*arguments):
        return replace(as_ever(*arguments), source=str(next(for_each)))

    monkeypatch.setattr(Translation, "text", property(lambda self: self.source))
    monkeypatch.setattr(cached_results, "translate_edited", differs)
    assert any("still finds two different" in text for text in texts(opened("Remove positions")))


def test_a_model_with_learned_positions_cannot_be_moved(
    serve, translator: Translator, tmp_path: Path
) -> None:
    from transformer import Transformer, TransformerConfig
    from transformer.checkpoints import checkpoint

    config = TransformerConfig.from_dict(
        {**translator.model.config.to_dict(), "positions": "learned", "max_length": 64}
    )
    torch.manual_seed(1)
    checkpoint.save(tmp_path / "learned", Transformer(config), translator.tokenizer)
    app = serve(
        "positions", checkpoint=tmp_path / "learned", pe_view="Shift positions", text=SENTENCE
    )
    assert "a learned table of 64 positions" in texts(app)[-1]
    app = serve(
        "positions", checkpoint=tmp_path / "learned", pe_view="Your sentence", text=SENTENCE
    )
    assert not app.exception
    assert any("positions of this model are learned" in element.value for element in app.markdown)


TOKENS = ["▁The", "▁<b>dog", "s", "</s>"]
RANDOM = np.random.default_rng(1)


def data(chart: Any, field: str) -> list[dict[str, Any]]:
    (result,) = (rows for rows in chart.to_dict()["datasets"].values() if field in rows[0])
    return result


def test_three_maps_have_one_scale_and_the_tokens_beside_their_rows() -> None:
    parts = {
        name: RANDOM.normal(size=(4, 6)).astype(np.float32) for name in ("token", "place", "sum")
    }
    figure = input_figure(TOKENS, parts, 2.0)
    for number, (title, values) in enumerate(parts.items()):
        np.testing.assert_array_equal(map_values(figure, number), values)
        heatmap = figure.data[number]
        assert (heatmap.zmin, heatmap.zmax) == (-2, 2)
        assert figure.layout.annotations[number].text == title
        # what was typed is no tag, neither on the axis nor in a hover
        assert list(heatmap.y) == ["0: The", "1: &lt;b&gt;dog", "2: ·s", "3: &lt;/s&gt;"]
    axis = figure.layout.yaxis
    assert list(axis.tickvals) == [0, 1, 2, 3]
    assert list(axis.ticktext) == ["The", "&lt;b&gt;dog", "·s", "&lt;/s&gt;"]
    assert axis.autorange == "reversed"


def test_a_long_sentence_keeps_its_rows_and_has_fewer_labels() -> None:
    tokens = [f"▁w{n}" for n in range(500)]
    figure = input_figure(tokens, {"sum": np.zeros((500, 2))}, 1.0)
    axis = figure.layout.yaxis
    assert figure.layout.height <= 900
    assert len(axis.tickvals) * 12 <= 900
    # two rows share a cell
    assert [f"w{2 * n:g}" for n in axis.tickvals] == list(axis.ticktext)
    assert figure.data[0].y[249] == "498: w498 … 499: w499"


def test_the_curves_of_a_moved_sentence_are_their_numbers() -> None:
    steps = [0, 1, 2, 4]
    curves = {"both": np.array([-1.0, -2, -3, -4]), "one": np.array([-1.0, -1.5, -1, -9])}
    chart = moved_chart(steps, curves, marked=2)
    points = data(chart, "log_p")
    for name, values in curves.items():
        result = [(row["k"], row["log_p"]) for row in points if row["moved"] == name]
        assert result == list(zip(steps, values, strict=True))
    rule, lines = chart.to_dict()["layer"]
    assert chart.to_dict()["datasets"][rule["data"]["name"]] == [{"k": 2}]
    assert lines["encoding"]["x"]["scale"]["type"] == "symlog"  # 0 has a place beside 16,384
    assert lines["encoding"]["color"]["scale"]["domain"] == ["both", "one"]


def test_each_piece_has_its_log_probability_under_each_edit() -> None:
    curves = {"as they are": np.array([-0.5, -1, 0, -2]), "removed": np.array([-3.0, -1, -4, -2])}
    chart = pieces_chart(TOKENS, curves, Languages("French", "Finnish"))
    shown = ["The", "<b>dog", "·s", "</s>"]  # Vega draws text on its canvas, and no tags
    for name, values in curves.items():
        result = [row for row in data(chart, "log_p") if row["positions"] == name]
        assert [row["log_p"] for row in result] == pytest.approx(list(values))
        assert [row["piece"] for row in result] == shown
        assert [row["place"] for row in result] == [0, 1, 2, 3]
    spec = chart.to_dict()
    assert spec["encoding"]["x"]["axis"]["labelExpr"].startswith('["The", "<b>dog"')
    colors = spec["encoding"]["color"]["scale"]["range"]
    assert len(set(colors)) == len(curves)
    assert spec["encoding"]["x"]["title"] == "Finnish: the subword being written"


def test_few_pieces_have_all_their_labels() -> None:
    for count, overlap in ((4, False), (41, True)):
        chart = pieces_chart(["▁a"] * count, {"as they are": np.zeros(count)}, OURS).to_dict()
        assert chart["encoding"]["x"]["axis"]["labelOverlap"] is overlap
