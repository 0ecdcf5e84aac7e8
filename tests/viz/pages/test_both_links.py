"""Links by both directions on the translate page, where a model of the other one is offered."""

import os
import shutil
from pathlib import Path

import pytest

from tests import reverse_model
from tests.viz import app_test
from tests.viz.app.view.programs import check
from tests.viz.pages.reading import SENTENCE, message, program
from transformer import Translator
from transformer.analysis import alignment_settings
from transformer.analysis.both_directions import FILE, BothSettings, align_both, read_both
from transformer.text.languages import OURS
from viz.app.chrome import explanations
from viz.pages.translate import both_links
from viz.pages.translate.both_links import BothLinks, both_method

FORWARD = alignment_settings.AlignmentSettings(0, 2, "reads", "weights", "each")
BACK = alignment_settings.AlignmentSettings(1, None, "writes", "norm", "each")
GOLD = alignment_settings.GoldFigures("a *set*", 50, 17.5)


@pytest.fixture
def models(tmp_path: Path, trained_folder: Path) -> tuple[Path, Path]:
    """A model and one of the other direction, which was measured with it."""
    own = Path(shutil.copytree(trained_folder, tmp_path / "own"))
    return own, reverse_model.write_reverse(trained_folder, tmp_path / "back")


def offered(models: tuple[Path, Path]) -> str:
    return os.pathsep.join(map(str, models))


def test_both_models_link_the_words(serve, listed, models, monkeypatch) -> None:
    translator, reverse = map(Translator.load, models)
    settings = BothSettings(FORWARD, BACK, "product", GOLD)
    (models[0] / FILE).write_text(settings.to_json(reverse))
    app = serve("translate", checkpoint=offered(models), text=SENTENCE, where_from="true")
    assert app.button_group(key="links").value == "this model"
    assert app.button_group(key="rows").value
    app = serve(
        "translate", checkpoint=offered(models), text=SENTENCE, links="both directions",
        where_from="true",
    )  # fmt: skip
    assert app.button_group(key="links").value == "both directions"
    assert not any(group.key == "rows" for group in app.button_group)
    meta, _ = message(app, "word_links")
    trace = translator.trace(SENTENCE)
    by_union = BothSettings(FORWARD, BACK, "union")
    solid, either = (align_both(translator, reverse, trace, used) for used in (settings, by_union))
    links = [(link["source"], link["target"]) for link in meta["links"]]
    assert {*links} == {pair[:2] for pair in (*solid, *either)}
    drawn = [(link["source"], link["target"]) for link in meta["links"] if link["mutual"]]
    assert {*drawn} == {pair[:2] for pair in solid}
    assert len(drawn) < len(links) == len({*links})
    strengths = {pair[:2]: pair.strength for pair in (*solid, *either)}
    drawn_strengths = [link["strength"] for link in meta["links"]]
    assert dict(zip(links, drawn_strengths, strict=True)) == pytest.approx(strengths, abs=1e-5)
    made = both_method(BothLinks("back", settings, None), OURS)  # type: ignore[arg-type]
    assert explanations.as_markdown(made) in [caption.value for caption in app.caption]
    assert made in meta["parts"]
    # the code below names the folders as the menu does
    monkeypatch.chdir(models[0].parent)
    check(*listed[-1])


def test_a_second_model_that_cannot_be_loaded_is_one_sentence(serve, models) -> None:
    with (models[1] / "model.safetensors").open("ab") as file:
        file.write(b"0")
    url = {"checkpoint": offered(models), "text": SENTENCE, "where_from": "true"}
    app = serve("translate", **url, links="both directions")
    problems = [text for text in app_test.texts(app) if "model.safetensors is damaged" in text]
    assert len(problems) == 1
    assert str(models[1]) not in problems[0]
    alone = serve("translate", **url)
    drawn, own = (message(a, "word_links")[0] for a in (app, alone))
    assert drawn["links"] == own["links"]
    assert drawn["parts"] == own["parts"]
    assert app.button_group(key="rows").value
    assert program(app) == program(alone)


def test_the_settings_are_read_again_only_after_a_file_of_theirs_changed(
    models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    translator, reverse = map(Translator.load, models)
    read: list[BothSettings] = []

    def reads(*both: Translator) -> BothSettings:
        read.append(read_both(*both))
        return read[-1]

    monkeypatch.setattr("transformer.analysis.both_directions.read_both", reads)
    (models[0] / FILE).write_text(BothSettings(FORWARD, BACK, "union").to_json(reverse))
    for _ in range(2):
        assert both_links.settings_of_both(translator, reverse).rule == "union"
    assert len(read) == 1
    (models[0] / FILE).write_text(BothSettings(FORWARD, BACK, "grow-diag").to_json(reverse))
    assert both_links.settings_of_both(translator, reverse).rule == "grow-diag"
    (models[1] / alignment_settings.FILE).write_text(BACK.to_json())
    assert both_links.settings_of_both(translator, reverse).reverse == BACK
    assert len(read) == 3


def test_without_a_model_of_the_other_direction_there_is_no_choice(
    serve, trained_folder: Path, tmp_path: Path
) -> None:
    dutch = reverse_model.write_reverse(trained_folder, tmp_path / "dutch", ("Dutch", "French"))
    app = serve("translate", checkpoint=dutch, text=SENTENCE, links="both directions")
    assert not any(group.key == "links" for group in app.button_group)
    assert "both_shares(" not in program(app)
