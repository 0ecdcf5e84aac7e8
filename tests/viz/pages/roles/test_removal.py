"""The view “Remove heads” shows what the model itself does without these heads."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import choice, in_url, meanwhile, texts
from tests.viz.pages.reading import SENTENCE, frames, html, message
from tests.viz.pages.roles.made_reports import folder_with, head_report_of, near
from transformer import Translator, kinds
from transformer.analysis import stored
from transformer.analysis.heads import means as means_file
from transformer.analysis.heads import removal, removal_text
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.removal_order import removal_order
from transformer.corpus.head_report import Curve, CurvePoint
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.chrome import mounts
from viz.draw import labels
from viz.draw.changed_words import mark_changed_words
from viz.pages.roles.removal import describe_change, most_changed
from viz.pages.roles.removal_controls import curve_chart, painted_squares

TWO = [removal.Removal("cross", 1, 3), removal.Removal("encoder_self", 0, 0, "uniform")]
LINK = "L2 H4 cross, L1 H1 encoder uniform"
URL = {"text": SENTENCE, "roles_view": "Remove heads"}


def candidate(app: AppTest) -> str:
    (body,) = [body for body in html(app) if "headlight-candidate" in body]
    return body


def words_of(app: AppTest) -> dict[tuple[str, str], float]:
    # the only chart of a model without a report
    (long,) = [frame for frame in frames(app, -1) if "log_p" in frame]
    return {(row["word"], row["model"]): row["log_p"] for _, row in long.iterrows()}


def test_what_a_link_takes_away_is_gone_in_the_search_that_it_asks_for(opened, translator) -> None:
    prefix = [piece.text for piece in translator.tokenizer.pieces("Mein Bruder")]
    app = opened(removed=LINK, prefix=" ".join(prefix), beam="2")
    steered = translator.translate(SENTENCE, beam_size=2, prefix=prefix)
    outcome = effect(translator, translator.trace_of(steered), TWO, beam_size=2, prefix=prefix)
    assert outcome.translation.text.startswith("Mein Bruder")
    assert mark_changed_words(outcome.translation.text, steered.text) in candidate(app)
    (first, _), *_ = most_changed(outcome)
    app.session_state["address.arrived"] = False  # as in every run but the first
    next(b for b in app.button if b.key and b.key.startswith("removal-open")).click().run()
    opened_head = [app.selectbox(key=name).value for name in ("layer", "head")]
    assert opened_head == [str(first.layer + 1), str(first.head + 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ein Hund schläft.", "Same translation."),
        ("Ein Tier schläft jetzt.", "It writes “Tier schläft jetzt.” instead of “Hund schläft.”."),
        ("Hund schläft. Ja.", "It drops “Ein” and adds “Ja.”."),
    ],
)
def test_the_words_that_changed_are_named(text: str, expected: str) -> None:
    line = describe_change("Ein Hund schläft.", text)
    assert line.translate({0x2068: None, 0x2069: None}) == expected


def test_the_first_button_removes_the_heads_in_the_order_in_which_the_sentence_needs_them(
    opened, translator: Translator
) -> None:
    order = removal_order(translator.model, translator.trace(SENTENCE))
    app = opened()
    assert app.button[next(n for n, b in enumerate(app.button) if "removal" in b.key)].key == (
        "removal-needed"
    )
    for count in (1, 2):
        app.button(key="removal-needed").click().run()
        assert in_url(app, "removed") == removal_text.format_removals(
            [removal.Removal(*h) for h in order[:count]]
        )
        assert message(app, "head_grid")[0]["crossed"] == [[*head] for head in order[:count]]
    (link,) = [link for link in app.get("page_link") if "many lines" in link.proto.label]
    choices = {"corpus_view": ["Remove heads"], "removed": [str(in_url(app, "removed"))]}
    assert parse_qs(link.proto.query_string) == choices
    (finding,) = [link for link in app.get("page_link") if "matters more" in link.proto.label]
    assert labels.named_head(*order[0]) in finding.proto.label.replace("\\", "")


def test_the_map_of_a_head_that_is_off_says_that_its_weights_are_not_used(opened) -> None:
    url = {"kind": "cross-attention", "layer": "2", "head": "4"}
    for link, which, unused in (
        ("L2 H4 cross", "after", True),
        ("L2 H4 cross", "before", False),  # there they are used
        ("L2 H4 cross uniform", "after", False),  # uniform weights are used
    ):
        drawn, _ = message(opened(**url, removed=link, removed_map=which), "attention_map")
        assert drawn["unused"] is unused, (link, which)
        assert ("does not use these weights" in drawn["title"]) is unused


def test_what_is_typed_removes_heads_and_all_come_back(opened) -> None:
    app = opened(removed="L2 H4 cross")
    assert app.text_input(key="removed").value == in_url(app, "removed") == "L2 H4 cross"
    app.text_input(key="removed").set_value(LINK).run()
    crossed = lambda: len(message(app, "head_grid")[0]["crossed"])  # noqa: E731
    assert crossed() == 2
    app.button(key="removal-none").click().run()
    assert crossed() == 0
    assert app.button(key="removal-none").disabled


def test_what_cannot_be_taken_away_is_one_sentence_and_the_rest_is_alive(opened) -> None:
    wrong = {
        "L10 H10 cross": "there is no layer 9",
        "L1 H1 encoder painted 2x2 1-1": "on this sentence it is",
        "L1 H1 cross mean": "The mean output of",
        "L1 H1 cross z": "type one",
    }
    for text, why in wrong.items():
        app = opened(removed=f"L2 H4 cross,{text}")
        assert len([text for text in texts(app) if why in text]) == 1
    assert message(app, "head_grid")[0]["crossed"] == [["cross", 1, 3]]
    assert "L2 H4" in candidate(app)
    for picture in ("head_grid", "attention_map"):  # what a saved file says
        assert "heads changed: L2 H4 · cross-attention." in message(app, picture)[0]["caption"]


def test_a_painted_row_is_what_the_head_looks_at(opened, translator: Translator) -> None:
    url = {"removed_how": "painted", "kind": "cross-attention", "layer": "1", "head": "2"}
    app = opened(**url)
    app.multiselect(key="removal-keys").set_value([1, 2]).run()
    trace = translator.trace(SENTENCE)
    queries, keys = trace.cross.shape[2:]
    assert in_url(app, "removed") == f"L1 H2 cross painted {queries}x{keys} 1-2.3"
    weights = trace.cross[0, 1].copy()
    weights[0] = np.eye(keys)[[1, 2]].mean(0)
    drawn = message(app, "attention_map")[1]["weights"]
    np.testing.assert_allclose(drawn, weights, atol=1e-6)
    again = opened(**url, removed=in_url(app, "removed"))
    np.testing.assert_array_equal(message(again, "attention_map")[1]["weights"], drawn)
    assert again.multiselect(key="removal-keys").value == [1, 2]
    for page, paints in ((again, True), (opened(), False)):
        assert message(page, "attention_map")[0]["paints"] is paints
        assert message(page, "head_grid")[0]["switches"] is not paints


def shown_map(app: AppTest) -> dict[str, Any]:
    """Return what a stroke names of its map."""
    drawn, _ = message(app, "attention_map")
    return {name: drawn[name] for name in ("title", "queries", "keys")}


def test_a_click_goes_on_from_the_one_before_it_however_soon_it_comes(opened, monkeypatch) -> None:
    app = opened()
    first = choice(app, "roles-grid", ["cross", 0, 0])
    # the run of the first click has drawn it
    app.text_input(key="removed").set_value("L1 H1 cross")
    meanwhile(
        monkeypatch, cached_results, "effect_of", [choice(app, "roles-grid", ["cross", 0, 1])]
    )
    app._run(first)
    assert in_url(app, "removed") == "L1 H1 cross, L1 H2 cross"
    app = opened(removed_how="painted", kind="cross-attention", layer="1", head="2")
    shown = shown_map(app)
    queries, keys = len(shown["queries"]), len(shown["keys"])
    rows = f"L1 H2 cross painted {queries}x{keys} 1-2"
    first = choice(app, "roles-map", shown | {"squares": [[0, 1]]})
    app.text_input(key="removed").set_value(rows)
    second = choice(app, "roles-map", shown | {"squares": [[0, 2]]})
    meanwhile(monkeypatch, cached_results, "effect_of", [second])
    app._run(first)
    assert in_url(app, "removed") == f"{rows}.3"
    # typed, and left by a click into the menu
    app.text_input(key="removed").set_value("L1 H1 encoder")
    app.multiselect(key="removal-keys").set_value([1]).run()
    assert in_url(app, "removed") == f"L1 H1 encoder, {rows}"


def test_what_is_painted_on_the_sentence_before_is_not_painted_on_the_next(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(removed_how="painted", kind="cross-attention", layer="1", head="2")
    app.text_area(key="text").set_value("The cat sings.")
    typed = app._tree.get_widget_states()
    shown = shown_map(app)
    app.multiselect(key="removal-keys").set_value([1])
    painted_late = choice(app, "roles-map", shown | {"squares": [[1, 2]]})
    meanwhile(monkeypatch, cached_results, "search", [painted_late])
    app._run(typed)
    assert app.text_area(key="text").value == "The cat sings."
    assert in_url(app, "removed") is None
    assert mounts.LATE in [caption.value for caption in app.caption]


def test_a_click_leaves_out_what_the_link_names_twice_or_the_model_lacks(opened) -> None:
    app = opened(removed="L10 H1 cross,L2 H4 cross,L2 H4 cross,L1 H10 encoder")
    app._run(choice(app, "roles-grid", ["cross", 0, 0]))
    assert in_url(app, "removed") == "L2 H4 cross, L1 H1 cross"


def test_a_patch_needs_a_second_sentence_of_the_same_shape(opened, translator, pairs) -> None:
    app = opened(removed="L2 H4 cross z", donor="Dog.")
    assert any("a patch needs as many pieces" in text for text in texts(app))
    trace = translator.trace(SENTENCE)
    others = (translator.trace(english) for english, _ in pairs)
    other = next(
        donor
        for donor in others
        if donor.source != SENTENCE and donor.cross.shape == trace.cross.shape
    )
    app = opened(removed="L2 H4 cross z", donor=other.source)
    with removal.patched(translator.model, other, [Head("cross", 1, 3)]):
        outcome = effect(translator, trace, [])
    shown = sum(v for (_, model), v in words_of(app).items() if model != "before")
    assert shown == pytest.approx(outcome.after.log_probs.sum(), abs=1e-4)


@pytest.fixture
def measured_folder(trained_folder: Path, translator: Translator, tmp_path: Path) -> Path:
    order = tuple(reversed(all_heads(translator.model.config)))
    bleu = {0: 30.0, 2: 20.5, len(order): 30.0}
    points = tuple(CurvePoint(count, near(value)) for count, value in bleu.items())
    report = replace(head_report_of(translator), curves={"gradient": Curve(order, points)})
    return folder_with(trained_folder, tmp_path / "measured", report)


def test_means_that_are_measured_anew_are_taken(measured_folder: Path) -> None:
    translator = Translator.load(measured_folder)
    translation = translator.translate(SENTENCE)
    trace = translator.trace_of(translation)
    removals, _ = removal_text.parse_removals("L2 H4 cross mean", translator.model)
    shape = translator.model.config.N, translator.model.config.h, translator.model.config.d_v
    results = set()
    for value in (0.0, 9.0):
        means: dict[str, torch.Tensor] = {kind: torch.full(shape, value) for kind in kinds.KINDS}
        save_file(means, measured_folder / means_file.FILE)
        outcome = cached_results.effect_of(
            translator, translation, trace, None, removals, SearchSettings()
        )
        results.add(outcome.after.log_probs.tobytes())
    assert len(results) == 2


def test_the_slider_takes_the_least_important_away_and_the_curve_says_where(
    opened, measured_folder: Path
) -> None:
    app = opened(checkpoint=measured_folder)
    app.slider(key="removal-count").set_value(2).run()
    assert in_url(app, "removed") == "L2 H4 cross, L2 H3 cross"
    assert any(
        "With 2 removed: 20.50, with all heads: 30.00" in caption.value for caption in app.caption
    )
    app.text_input(key="removed").set_value("L1 H1 encoder").run()
    assert app.slider(key="removal-count").value == 0
    assert any("not on this curve" in caption.value for caption in app.caption)


def test_the_place_on_the_curve_is_marked_between_measured_points_too() -> None:
    points = (CurvePoint(0, stored.Figure(30, 29, 31)), CurvePoint(2, stored.Figure(20, 19, 21)))
    curve = Curve((Head("cross", 0, 0), Head("cross", 0, 1)), points)
    spec = curve_chart(curve, 1).to_dict()
    assert [{"removed": 1}] in spec["datasets"].values()
    assert len(curve_chart(curve, None).to_dict()["layer"]) == len(spec["layer"]) - 1


ENCODER, DECODER = Head("encoder_self", 0, 0), Head("decoder_self", 1, 2)


def test_pressed_squares_do_what_the_first_of_them_does() -> None:
    text = ""
    for keys, painted in (
        ([2], "L1 H1 encoder painted 3x3 2-3"),
        ([0, 1, 2], "L1 H1 encoder painted 3x3 2-1.2.3"),
        ([2, 1], "L1 H1 encoder painted 3x3 2-1"),
        ([0], ""),
    ):
        removals, _ = removal_text.parse_removals(text, None)
        text = painted_squares(removals, ENCODER, (3, 3), [(1, key) for key in keys])
        assert text == painted
    assert painted_squares([], DECODER, (3, 3), [(1, 2)]) == ""  # its mask hides it
    painted = painted_squares([], DECODER, (3, 3), [(1, 0), (1, 1), (1, 2)])
    assert painted == "L2 H3 decoder painted 3x3 2-1.2"
