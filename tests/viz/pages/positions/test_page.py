"""The positions page as Streamlit runs it: the views of the formula, and those of a sentence."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import texts
from tests.viz.plotly_values import map_values
from transformer import Translator
from transformer.analysis import positions
from transformer.analysis.learned_positions import TABLE, learned_positions
from transformer.analysis.positions import Edit, Stack
from transformer.embedding import sinusoidal_positions
from viz.app.candidates import mark_changed_words
from viz.app.formatting import format_number
from viz.draw.labels import shown
from viz.pages.positions import learned as positions_learned
from viz.pages.positions.page import VIEWS
from viz.pages.positions.sentence import STEPS

SENTENCE = "The old cat sleeps under the table."
BOTH: tuple[Stack, Stack] = ("encoder", "decoder")


def positions_page() -> None:
    """AppTest cannot walk to a page; this is the way there."""
    from viz.app import sentence_bar
    from viz.pages import positions

    sentence_bar.show("page")
    positions.show()


@pytest.fixture
def opened(serve):
    """The page at a URL."""

    def open_(view: str, **url: str) -> AppTest:
        app = serve(positions_page, pe_view=view, text=SENTENCE, **url)
        assert not app.exception
        return app

    return open_


def picture(app: AppTest) -> str:
    (chart,) = app.get("plotly_chart")
    return chart.proto.spec


def specs(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def candidates(app: AppTest) -> list[str]:
    found = [html.proto.body for html in app.get("html")]
    return [body for body in found if "headlight-candidate" in body]


def candidate(name: str, translator: Translator, edit: Edit, old: str) -> str:
    """What the page writes about an edit, from the model itself."""
    trace = translator.trace(SENTENCE)
    with translator.model.hooks(edit.hooks()):
        new = translator.translate(SENTENCE)
    of_old = positions.log_probs(translator.model, trace, edit).sum()
    words = mark_changed_words(new.text or "(nothing)", old)
    log_prob, log_prob_of_old = format_number(new.log_prob), format_number(of_old)
    return (
        f'<div class="headlight-candidate"><small>{name}</small>{words}<small>log p {log_prob} · '
        f"of the translation above {log_prob_of_old}</small></div>"
    )


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_it_shows_and_where_it_is_computed(opened, view: str) -> None:
    app = opened(view)
    assert app.button_group(key="pe_view").value == view
    if view != "Learned":  # whose files need not be there
        assert any("§3." in one.value and ".py:" in one.value for one in app.markdown)


@pytest.mark.parametrize("wrong", ["x", "-1", "9999999", "", "encoding"])
def test_a_url_that_makes_no_sense_opens_the_page_as_ever(opened, wrong: str) -> None:
    app = opened(wrong, pe_length=wrong, pe_width=wrong)
    np.testing.assert_array_equal(
        map_values(picture(app)), sinusoidal_positions(128, 512).numpy().T
    )
    for view in VIEWS:
        names = ("pe_pos", "pe_k", "pe_moved", "pe_seed", "pe_stack", "pe_part", "pe_drawn")
        app = opened(view, **dict.fromkeys(names, wrong))
        assert app.markdown or view == "Learned"  # whose files need not be there
    assert "There is no curve" in texts(opened("Curves", pe_dimensions=wrong))[-1]


def test_the_encoding_is_drawn_for_any_size(opened) -> None:
    app = opened("Encoding", pe_length="7", pe_width="10")
    np.testing.assert_array_equal(map_values(picture(app)), sinusoidal_positions(7, 10).numpy().T)
    app.number_input(key="pe_length").set_value(1024).run()
    app.number_input(key="pe_width").set_value(1024).run()
    np.testing.assert_array_equal(
        map_values(picture(app)), sinusoidal_positions(1024, 1024).numpy().T
    )


@pytest.mark.parametrize("view", ["Encoding", "Curves", "Similarity", "Rotation"])
def test_an_odd_width_gets_one_sentence_and_the_controls_stay(opened, view: str) -> None:
    app = opened(view, pe_width="511")
    assert texts(app)[-1].startswith("A width of 511 leaves a sine without its cosine: choose")
    assert not app.get("plotly_chart")
    app.number_input(key="pe_width").set_value(64).run()
    assert not any("cosine" in text for text in texts(app))


def test_the_wavelengths_are_the_papers(opened) -> None:
    found = metrics(opened("Curves", pe_width="512"))
    assert found["First pair, i = 0"] == f"{2 * math.pi:.2f}" == "6.28"
    last = 2 * math.pi * 10_000 ** (510 / 512)
    assert found["Last pair, i = 255"] == f"{last:,.2f}" == "60,611.48"
    assert found["10000 · 2π, which no pair reaches"] == "62,831.85"


def test_the_chosen_dimensions_are_the_curves(opened) -> None:
    app = opened("Curves", pe_width="32")
    # of the first choice only these are dimensions of so narrow a model
    assert [text for text in texts(app) if "is no dimension" in text] == [
        f"“\u2068{n}\u2069” is no dimension of a width of 32: choose from 0 to 31."
        for n in (64, 128, 129)
    ]
    app.multiselect(key="pe_dimensions").set_value(["31", "<b>", "2", "02"]).run()
    curves, _ = specs(app)
    names = curves["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert [name.split(":")[0] for name in names] == ["31", "2"]
    assert sum("is no dimension" in text for text in texts(app)) == 1
    app.multiselect(key="pe_dimensions").set_value(["²"]).run()
    assert texts(app)[-1] == "There is no curve: choose a dimension."


def test_the_similarity_says_how_far_it_is_from_the_formula(opened) -> None:
    app = opened("Similarity", pe_length="20", pe_width="32")
    (shown,) = metrics(app).values()
    table = sinusoidal_positions(20, 32).double().numpy()
    distances = np.arange(20)[None] - np.arange(20)[:, None]
    formula = positions.similarity(distances.ravel(), 32).reshape(20, 20)
    digits, power = f"{np.abs(table @ table.T - formula).max():.1e}".split("e-0")
    assert shown == f"{digits} · 10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}"
    app.button_group(key="pe_drawn").set_value("map").run()
    np.testing.assert_allclose(map_values(picture(app)), table @ table.T, atol=1e-5)


def test_the_rotation_and_its_errors_are_those_of_the_choice(opened) -> None:
    app = opened("Rotation", pe_length="30", pe_width="32", pe_pos="4", pe_k="7")
    matrix = positions.rotation(7, 32)
    before, after = positions.exact_encoding(np.array([4, 11]), 32)
    for number, expected in enumerate((matrix[:16], before, after, after)):
        found = map_values(picture(app), number)
        assert len(found) == 16
        np.testing.assert_allclose(found.ravel(), expected[..., :16].ravel()[:256], atol=1e-6)
    error = positions.rotation_error(7, 30, 32)
    exact, model = metrics(app).values()
    assert exact.startswith(f"{error.exact:.1e}"[:3])
    assert exact.endswith(("· 10⁻¹⁵", "· 10⁻¹⁴"))
    assert model.startswith(f"{error.model:.1e}"[:3])
    assert model.endswith("· 10⁻⁸")
    app.button_group(key="pe_part").set_value("whole").run()
    np.testing.assert_allclose(map_values(picture(app)), matrix, atol=1e-7)


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
    other = next(one for one in BOTH if one != stack)
    app.button_group(key="pe_stack").set_value(other).run()
    foot = positions.embedding_parts(translator.model, trace, other)
    np.testing.assert_array_equal(map_values(picture(app), 2), foot.sum)


def test_beyond_writes_what_the_model_writes_there(opened, translator: Translator) -> None:
    app = opened("Beyond", pe_moved="64")
    old = translator.translate(SENTENCE).text
    assert candidates(app) == [
        candidate("both stacks moved by 64", translator, Edit("moved", BOTH, 64), old),
        candidate("encoder alone moved by 64", translator, Edit("moved", ("encoder",), 64), old),
    ]
    assert candidates(opened("Beyond", pe_moved="2048")) != candidates(app)
    assert STEPS[:3] == (0, 1, 2)
    assert STEPS[-1] > 10 * translator.model.config.max_length  # far beyond


def test_without_writes_what_the_model_writes_without(opened, translator: Translator) -> None:
    app = opened("Without", pe_seed="3")
    old = translator.translate(SENTENCE).text
    edits = {
        "encoder removed": Edit("removed", ("encoder",)),
        "encoder shuffled": Edit("shuffled", ("encoder",), 3),
        "decoder removed": Edit("removed", ("decoder",)),
        "both removed": Edit("removed", BOTH),
    }
    expected = [candidate(name, translator, edit, old) for name, edit in edits.items()]
    assert candidates(app) == expected
    assert len({one.split("</small>", 1)[1] for one in expected}) == 4  # each edit does its own
    tokens = translator.trace(SENTENCE).source_tokens
    order = list(positions.shuffled_order(len(tokens), 3))
    read = [shown(tokens)[order.index(place)] for place in range(len(tokens))]
    assert texts(app)[-1] == " ".join(read)


@pytest.mark.parametrize("view", ["Your sentence", "Beyond", "Without"])
def test_without_a_translation_a_view_of_the_sentence_says_so(serve, view: str) -> None:
    app = serve(positions_page, pe_view=view, text="")
    assert texts(app)[-1] == "Without a translation there is nothing to draw."
    app = serve(positions_page, pe_view="Encoding", text="")
    assert map_values(picture(app)).shape == (512, 128)  # the formula needs none


def test_a_model_with_learned_positions_cannot_be_moved(
    serve, translator: Translator, tmp_path: Path
) -> None:
    from transformer import Transformer, TransformerConfig, checkpoint

    config = TransformerConfig.from_dict(
        {**translator.model.config.to_dict(), "positions": "learned", "max_length": 64}
    )
    torch.manual_seed(1)
    checkpoint.save(tmp_path / "learned", Transformer(config), translator.tokenizer)
    app = serve(positions_page, checkpoint=tmp_path / "learned", pe_view="Beyond", text=SENTENCE)
    assert texts(app)[-1].startswith("The positions of this model are learnt: its table ends at")
    app = serve(
        positions_page, checkpoint=tmp_path / "learned", pe_view="Your sentence", text=SENTENCE
    )
    assert not app.exception
    assert any("positions of this model are learnt" in one.value for one in app.markdown)


def rows(folder: Path) -> None:
    """Two twins as their training leaves them."""
    from transformer.translator import BUNDLED

    table = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))
    for name in ("sinusoidal", "learned"):
        (folder / name).mkdir(parents=True)
        shutil.copy(BUNDLED / "config.json", folder / name)
        (folder / name / "run.jsonl").write_text(
            '{"step": 0, "parameters": 5}\n{"step": 800, "validation_loss": 1.5, '
            f'"validation_perplexity": 4.5, "validation_bleu": 3{len(name)}.06}}\n'
        )
    tables = {"encoder": table, "decoder": -2 * table.flip(0).clone()}
    safetensors.torch.save_file(tables, folder / "learned" / TABLE)


@pytest.mark.parametrize("stack", BOTH)
def test_a_learned_table_stands_beside_the_sinusoids(
    opened, monkeypatch, tmp_path: Path, stack: str
) -> None:
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    app = opened("Learned", pe_stack=stack)
    table = getattr(learned_positions(tmp_path / "rows" / "learned"), stack)
    waves = sinusoidal_positions(40, 8).numpy()
    for number, one in enumerate((waves, table)):
        lengths = np.linalg.norm(one, axis=1)
        expected = one @ one.T / lengths / lengths[:, None]
        np.testing.assert_allclose(map_values(picture(app), number), expected, atol=1e-5)
    assert list(metrics(app).values()) == ["310.1 · 4.50", "37.1 · 4.50"]


def test_without_the_learned_table_one_sentence(opened, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path)
    said = texts(opened("Learned"))[-1]
    assert said.startswith("There are no learned positions: ")
    assert said.endswith("is missing; copy the folder again.")
    rows(tmp_path / "rows")
    monkeypatch.setattr(positions_learned, "ROWS", tmp_path / "rows")
    (tmp_path / "rows" / "sinusoidal" / "run.jsonl").write_text("nonsense\n")
    app = opened("Learned")
    assert any("sinusoidal" in text and text.endswith(".") for text in texts(app))
    assert list(metrics(app)) == ["learned · BLEU and perplexity, validation"]
