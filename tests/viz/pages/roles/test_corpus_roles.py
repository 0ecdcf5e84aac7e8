"""The map and the card say what the report says, and no more; the report is read once."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.viz.app_test import in_url, texts
from tests.viz.pages.reading import SENTENCE
from tests.viz.pages.roles import made_reports
from transformer import KINDS, Translator
from transformer.analysis import axes, stored
from transformer.analysis.heads import means
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import entropy
from transformer.analysis.heads.roles import head_roles
from transformer.corpus import corpus_roles
from transformer.corpus.head_report import FILE, HeadReport
from viz.draw.labels import SCREEN_NAMES, head_name, role_name
from viz.pages.roles.corpus_map import (
    as_text,
    deciding_measure,
    importance_text,
    interval_verdict,
    role_text,
)

URL = {"text": SENTENCE, "roles_view": "Roles"}
ENCODER, CROSS = Head("encoder_self", 0, 0), Head("cross", 1, 0)


@pytest.fixture(scope="module")
def report(translator: Translator) -> HeadReport:
    return made_reports.head_report_of(translator)


@pytest.fixture(scope="module")
def folder(report: HeadReport, trained_folder: Path, tmp_path_factory) -> Path:
    return made_reports.folder_with(
        trained_folder, tmp_path_factory.mktemp("measured") / "model", report
    )


@pytest.fixture
def opened(opened, folder: Path):
    return partial(opened, checkpoint=folder)


def plain(text: str) -> str:
    """A text without what keeps a number and its unit on one line."""
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("place", "values", "text"),
    [
        (ENCODER, {"positional": 0.93, "offset": -1.0}, "Looks at the token before: 93 % of its "
         "largest weights lie there (named from 90 % up, as in Voita et al. 2019)."),
        (ENCODER, {"previous": 0.6, "positional": 0.7}, "named from 40 % up). 70 % of its largest "
         "weights lie at offset −1: Voita et al. 2019 call a head positional from 90 % up."),
        (CROSS, {"positional": 0.95, "one-to-one": 0.7}, "one to one, mostly in order, rightly or "
         "wrongly: 70 % (0 = even attention, 100 = all weight; named from 50 % up)."),
        (CROSS, {"same_word": 0.2}, "Closest role: same word, 20 % (a head is named from"),
        (CROSS, {"one-to-one": 0.497}, "Closest role: one-to-one, below 50 % (a head is named"),
    ],
)  # fmt: skip
def test_a_role_is_said_with_its_figure_and_its_threshold(place, values, text) -> None:
    assert text in plain(role_text(made_reports.made_figures(place, **values)))


def test_the_measure_beside_a_name_is_the_one_that_gave_it() -> None:
    draw = np.random.default_rng(1)
    names: set[str] = set()
    for kind in KINDS * 60:
        offset = int(draw.integers(-2, 3))
        figures = made_reports.made_figures(
            Head(kind, 0, 0),
            offset=offset,
            **{name: draw.random() for name in ("positional", "rare word", "spread", "first")},
        )
        measure, figure, least = deciding_measure(figures)
        values = {name: item.value for name, item in figures.measures.items()}
        assert figures.role == corpus_roles.corpus_role(values, kind, offset)
        assert (figure.value >= least) == bool(figures.role)
        if figures.role and measure != "positional":
            assert measure == figures.role
        names.add(measure)
    assert names >= {"positional", "rare word", "spread", "first"}


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.45, 0.41, 0.5, "41 to 50 %, lies above 40 %."),
        (0.45, 0.39, 0.5, "reaches below 40 %: another sample could give another role."),
        (0.35, 0.3, 0.39, "30 to 39 %, lies below 40 %."),
        (0.35, 0.3, 0.41, "reaches above 40 %: another sample could give this role."),
    ],
)
def test_how_sure_a_name_is_follows_from_its_interval(value, low, high, text) -> None:
    figures = made_reports.made_figures(CROSS, first=value)
    measures = {**figures.measures, "first": stored.Figure(value, low, high)}
    assert plain(interval_verdict(replace(figures, measures=measures), 60)).endswith(text)


def test_a_measure_has_the_unit_that_it_is_computed_in() -> None:
    assert as_text("entropy", float(entropy(np.full(4, 0.25)))) == "2.00 bits"
    assert as_text("loss without", 0.1234) == "+0.123 nats"
    assert as_text("offset", -1.25) == "−1.2 tokens"


def test_importance_has_its_rank_among_all_heads_and_within_the_layer(report) -> None:
    places = [figures.place for figures in report.heads]
    loss = [figures.measures["loss without"].value for figures in report.heads]
    most, least = int(np.argmax(loss)), int(np.argmin(loss))
    assert f"loss +{loss[most]:.3f} nats" in importance_text(report, report.heads[most])
    assert f"rank 1 of {len(loss)}" in importance_text(report, report.heads[most])
    assert "loss −" in importance_text(report, report.heads[least])
    assert f"rank {len(loss)} of {len(loss)}" in importance_text(report, report.heads[least])
    layer = [figures for figures in report.heads if figures.place[:2] == places[0][:2]]
    first = max(layer, key=lambda figures: figures.measures["gradient"].value)
    assert f"gradient in its layer: 1 of {len(layer)}." in importance_text(report, first)


def test_a_head_like_the_open_one_is_a_click_away(opened, report) -> None:
    app = opened(kind="cross-attention", layer="1", head="2")
    like = next(element for element in app.button if element.key.startswith("similar-measures"))
    kind, layer, head = like.key.removeprefix("similar-measures-").split("-")
    like.click().run()
    place = Head(kind, int(layer), int(head))
    assert role_text(report.head(place)) in " ".join(texts(app))
    title = f"{head_name(*place[1:])} · {SCREEN_NAMES[place.kind]} · "
    assert any(element.value.startswith(title) for element in app.subheader)
    assert app.selectbox(key="layer").value == str(place.layer + 1)


def test_an_example_goes_into_the_bar_and_a_head_is_taken_away_in_the_view_beside(opened) -> None:
    app = opened(kind="cross-attention", layer="2", head="3")
    assert made_reports.EXAMPLE in texts(app)  # as text: its stars are not Markdown
    app.button(key="measured-show-0").click().run()
    assert app.text_area(key="text").value == made_reports.EXAMPLE
    button = app.button(key="measured-take-away")
    for _ in range(2):  # a double click: the second comes when the field is there
        button.click().run()
        assert not app.exception
        assert in_url(app, "roles_view") == "Remove heads"
        assert app.text_input(key="removed").value == in_url(app, "removed") == "L2 H3 cross"


@pytest.mark.parametrize("content", [None, '{"format": 2, "heads": 3}'])
def test_without_a_report_the_roles_on_the_sentence_are_there(
    serve, trained_folder: Path, tmp_path: Path, translator: Translator, content
) -> None:
    folder = made_reports.folder_with(trained_folder, tmp_path / "plain")
    if content:
        (folder / FILE).write_text(content)
    app = serve("roles", checkpoint=folder, text=SENTENCE, roles_view="Roles", kind="encoder")
    (message,) = [text for text in texts(app) if means.COMMAND in text]
    assert folder.name in message
    assert str(tmp_path) not in message  # readers see names
    trace = translator.trace(SENTENCE)
    for kind, rows in zip(KINDS, made_reports.charts(app), strict=True):
        roles = head_roles(axes.by_pieces(trace, kind), kind)
        for row in rows:
            role = roles[row["layer"]][row["head"]]
            assert row["description"].startswith(role_name(role, kind) or "mixed, closest ")
            closest = row["description"].removeprefix("mixed, closest ").split(" ")[0]
            assert row["text"].startswith(role_name(role, kind) or closest)
            assert row["ink"] == (1.0 if role else 0.6)  # mixed heads are quiet
    assert any("In this sentence" in text for text in texts(app))
