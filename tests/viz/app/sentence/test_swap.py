"""⇄ takes the translation to the model of the other direction, in the link."""

import os
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.reverse_model import write_reverse
from tests.viz.app_test import in_url, texts
from transformer import AttentionTrace, Translator
from viz.app.cache import cached_results

SENTENCE = "The dog sleeps in the garden."


@pytest.fixture
def reverse(trained_folder: Path, tmp_path: Path) -> Path:
    """The small model under the name of one that reads German."""
    return write_reverse(trained_folder, tmp_path / "reverse")


@pytest.fixture
def open_(
    serve: Callable[..., AppTest], trained_folder: Path, reverse: Path
) -> Callable[..., AppTest]:
    """The page Translate, with the small model for both directions."""
    return lambda **url: serve(
        "translate", checkpoint=f"{trained_folder}{os.pathsep}{reverse}", **url
    )


def bar(app: AppTest) -> tuple[str, str | None, str]:
    """Return the language that is read, the sentence and its translation."""
    box = app.text_area(key="text")
    return box.label, box.value, texts(app)[1]


def test_the_translation_becomes_the_sentence_in_the_link(
    open_: Callable[..., AppTest], translator: Translator, reverse: Path
) -> None:
    written = translator.translate(SENTENCE, forbidden=["Hund"], alpha=1.0).text
    back = Translator.load(reverse).translate(written, alpha=1.0).text
    app = open_(text=SENTENCE, forbid="Hund", alpha="1.0")
    assert bar(app) == ("English", SENTENCE, written)
    app.button(key="swap").click().run()
    assert bar(app) == ("German", written, back)
    # the search's settings stay, the words of the other language do not
    names = ("text", "model", "alpha", "forbid")
    assert [in_url(app, name) for name in names] == [written, "reverse", "1.0", None]
    app.button(key="swap").click().run()
    assert bar(app)[:2] == ("English", back)


def test_a_text_that_is_not_translated_stays_and_a_version_by_hand_is_taken_along(open_) -> None:
    app = open_(text=" ")
    app.button(key="swap").click().run()
    assert bar(app)[:2] == ("German", " ")
    assert all(button.key != "swap" for button in open_(text=SENTENCE, **{"class": "1"}).button)
    app = open_(text=SENTENCE, edited="Der Hund schläft.")
    app.button(key="swap").click().run()
    assert bar(app)[:2] == ("German", "Der Hund schläft.")
    assert in_url(app, "edited") is None


def test_the_translation_is_translated_back_beside_the_sentence(open_, translator, reverse) -> None:
    own = translator.translate(SENTENCE)
    back = Translator.load(reverse).translate(own.text)
    app = open_(text=SENTENCE, versus="translation back", versus_maps="true")
    shown = [re.sub("<[^>]+>", "", html.proto.body) for html in app.get("html")]
    assert not app.exception
    for text in (SENTENCE, back.text):
        assert any(text in unescape(body) for body in shown), text
    app.button(key="versus-take").click().run()
    assert bar(app) == ("German", own.text, back.text)


def test_heads_are_compared_with_those_that_read_the_pair_the_other_way_round(
    serve: Callable[..., AppTest],
    trained_folder: Path,
    translator: Translator,
    reverse: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs, trace = [], cached_results.trace_of_pair

    def recorded(model: Translator, source: str, target: str) -> AttentionTrace:
        pairs.append((model.languages.source, source, target))
        return trace(model, source, target)

    monkeypatch.setattr(cached_results, "trace_of_pair", recorded)
    both = f"{trained_folder}{os.pathsep}{reverse}"
    choices = {"view": "compare", "with": "another model", "model2": "reverse"}
    app = serve("heads", checkpoint=both, text=SENTENCE, **choices)
    assert not app.exception
    assert pairs == [("German", translator.translate(SENTENCE).text, SENTENCE)]
