"""The tests of faithfulness on the page: computed on the sentence, read from the report."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE
from tests.viz.pages.roles.made_reports import charts, faithfulness_of, folder_with, near
from transformer import KINDS, Translator
from transformer.analysis import stored
from transformer.analysis.lenses import NAMES
from transformer.corpus import faithfulness, faithfulness_report
from viz.pages.roles.faithful import ERASE, PERMUTED, erasing_chart, upper_end
from viz.pages.roles.faithful_results import (
    MAX_WORDS,
    attention_text,
    corpus_sentences,
    screen_name,
)

URL = {"text": SENTENCE, "roles_view": "Faithful?"}


@pytest.fixture(scope="module")
def folder(translator: Translator, trained_folder: Path, tmp_path_factory) -> Path:
    report = faithfulness_of(translator, norm=1.5)
    return folder_with(trained_folder, tmp_path_factory.mktemp("tested") / "model", report)


@pytest.fixture
def opened(opened, folder: Path):
    return lambda test, **url: opened(checkpoint=folder, faithful_test=test, **url)


def test_what_the_corpus_says_follows_from_its_figures(translator: Translator) -> None:
    report = faithfulness_of(translator, norm=1.5, alti=1.49, rollout=0.5, gradient=0.2)
    most, random, least = corpus_sentences(report)
    assert most.startswith("Erasing the top words of norms")
    assert "falls by 1.50 nats on average, by 0.50 with random words." in most
    assert "overlaps ALTI at every share" in most
    assert random == (
        "Indistinguishable from random words (95 % intervals): rollout at every share. "
        "Below random words: gradient × weights at every share."
    )
    assert least.startswith("With the top words alone, norms loses least: 0.50 nats on average")
    assert "overlaps ALTI at every share" in least
    most, random, _ = corpus_sentences(faithfulness_of(translator, gradient=2.0))
    assert most.startswith("Erasing the top words of gradient")
    assert "No other lens overlaps its interval at every share." in most
    assert random == (
        "Every lens beats random words at every share (95 % intervals do not overlap)."
    )


@pytest.mark.parametrize("fall", [-2.0, 2.0])
def test_the_axis_holds_all_of_its_curves(fall: float) -> None:
    assert upper_end([near(fall - 1)], [near(fall)]) > max(fall, 0.0)
    random = stored.Figure(fall, fall - 3, fall + 3)
    most = upper_end([random], [near(fall)])
    chart = erasing_chart({"a": [near(fall)]}, [random], [0.5], most).to_dict()
    ((low, high),) = [
        layer["encoding"]["y"]["scale"]["domain"]
        for layer in chart["layer"]
        if "scale" in layer["encoding"]["y"]
    ]
    assert low <= fall - 3 < fall + 3 <= high


def test_shares_are_named_where_a_lens_is_not_told_from_random_words(translator) -> None:
    report = faithfulness_of(translator)
    falls = (near(0.5), near(0.53), near(1.0), near(0.3), near(1.0))
    item = replace(report.lenses["weights"], comprehensiveness=falls, sufficiency=falls)
    random = corpus_sentences(replace(report, lenses={**report.lenses, "weights": item}))[1]
    text = random.replace("\u00a0", " ")
    assert "intervals): weights at 10 % and 20 %. Below random words: weights at 40 %." in text


def test_erasing_waits_for_its_button(opened) -> None:
    app = opened(ERASE, faithful_seed="3")
    assert len(charts(app)) == 2  # of the corpus
    app.button(key="faithful-erase").click().run()
    assert not app.exception
    assert len(charts(app)) > 2
    (message,) = [text for text in texts(app) if text.startswith("On this sentence")]
    assert any(f"the top words of {screen_name(name)} changes most" in message for name in NAMES)
    # another sentence is asked for anew
    app.text_area(key="text").set_value("Her horse waits.").run()
    assert len(charts(app)) == 2


def test_each_lens_is_tested_once(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    as_ever = faithfulness.lens_faithfulness

    def counted(*args, **more):
        asked.append(args[2])
        return as_ever(*args, **more)

    monkeypatch.setattr(faithfulness, "lens_faithfulness", counted)
    app = opened(ERASE, text="The old cat sleeps under the table.")
    for _ in range(2):
        app.button(key="faithful-erase").click().run()
        assert asked == [*NAMES]  # what was computed is remembered


def test_a_sentence_that_cannot_be_tested_is_said_so_before_it_is_asked_for(opened) -> None:
    app = opened(ERASE, text="dog " * (MAX_WORDS + 1))
    assert any(f"takes up to {MAX_WORDS}" in line for line in texts(app))
    app.text_area(key="text").set_value("Dog").run()
    for _ in range(2):
        assert any("fewer than two words" in line for line in texts(app))
        app.button(key="faithful-erase").click().run()


def test_permuted_attention_follows_the_seed_and_the_report_stands_beside(
    opened, translator: Translator
) -> None:
    app = opened(PERMUTED, kind="cross-attention", faithful_seed="5")
    before = charts(app)[0]
    app.number_input(key="faithful_seed").set_value(6).run()
    assert charts(app)[0] != before
    attention = faithfulness_of(translator).attention
    text = attention_text({kind: attention[kind]["permuted"] for kind in KINDS}, "permuted")
    assert text in texts(app)
    assert text.count("includes 0") == 2  # 0 ± 0.02 and 0.015 ± 0.02, not 0.03


def test_without_a_measurement_the_command_is_named(serve, trained_folder: Path) -> None:
    app = serve("roles", checkpoint=trained_folder, text=SENTENCE, roles_view="Faithful?")
    (message,) = [text for text in texts(app) if faithfulness_report.COMMAND in text]
    assert f"--checkpoint {trained_folder.name} " in message  # no path of the server
