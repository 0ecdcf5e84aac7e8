"""“Why this word”: its numbers are the model's, and its links open what was seen."""

import math

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import go_back, texts
from tests.viz.pages.reading import SENTENCE
from tests.viz.pages.roles import made_reports
from transformer import AttentionTrace, InputError, Translator, config, decoding
from transformer.analysis.heads import removal, removal_text
from transformer.analysis.logits.contrast import contrast
from viz.draw.labels import SCREEN_NAMES, head_title
from viz.pages.roles import pieces, why_this_word
from viz.pages.roles import why_this_word as why

pytestmark = pytest.mark.slow

ERASED = "lost when erased, nats"
STEP, OTHER = 1, 40  # any piece
URL = {"text": SENTENCE, "roles_view": "Why this word"}


@pytest.fixture
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(SENTENCE)


@pytest.fixture
def link(translator: Translator) -> dict[str, str]:
    return {"written": str(STEP + 1), "other": pieces.piece_name(translator, OTHER)}


def bars(app: AppTest, title: str) -> list[pd.DataFrame]:
    """The tables of the charts with this title: of all heads first, then of the open one."""
    return made_reports.chart_tables(app, title, "piece")


def odds_line(app: AppTest) -> str:
    (line,) = [text for text in texts(app) if "Log-odds" in text]
    return line


def tables_of(app: AppTest) -> set[str]:
    """Return the keys of the tables of heads in the session."""
    ids = (element.proto.id for element in app.get("vega_lite_chart"))
    return {element for element in ids if "why-heads-" in element}


def test_heads_are_named_and_opened_by_what_they_add(opened, link, translator, trace) -> None:
    result = contrast(translator.model, trace, STEP, OTHER)
    values = {
        (k, *at): array[at] for k, array in result.by_head.items() for at in np.ndindex(array.shape)
    }
    app = opened(**link)
    ordered = sorted(values, key=lambda place: -values[place])
    expected = [p for p in ordered if values[p] > 0][:5]
    expected += [p for p in reversed(ordered) if values[p] < 0][:5]
    buttons = [b for b in app.button if b.key and b.key.startswith("why-open-")]
    names = [head_title(*place) for place in expected]
    assert [b.label.rsplit(" ", 1)[0] for b in buttons] == names
    before = tables_of(app)
    buttons[-1].click().run()
    kind, layer, head = expected[-1]
    # a new one, with no selection: a click there opens any head, the one clicked last, too
    new = tables_of(app) - before
    assert any(item.endswith(f"{kind}-{layer}.{head}") for item in new)
    menus = [app.selectbox(key=name).value for name in ("layer", "head")]
    assert menus == [str(layer + 1), str(head + 1)]
    assert app.button_group(key="kind").value == SCREEN_NAMES[kind]
    assert any(line.value == names[-1] for line in app.subheader)
    app.button(key="why-remove").click().run()
    assert app.button_group(key="roles_view").value == "Remove heads"
    assert app.text_input(key="removed").value == removal_text.format_removals(
        [removal.Removal(kind, layer, head)]
    )


def test_what_was_clicked_is_in_the_link_and_link_and_back_open_it(
    opened, link, monkeypatch
) -> None:
    app = opened(**link)
    odds = odds_line(app)
    app.button_group(key="other-pieces").set_value(2).run()
    clicked = odds_line(app)
    assert clicked != odds
    again = opened(written=link["written"], other=app.text_input(key="other").value)
    assert odds_line(again) == clicked
    assert again.button_group(key="other-pieces").value == 2
    # another step has other alternatives
    app.button_group(key="written-pieces").set_value(STEP + 1).run()
    assert app.number_input(key="written").value == STEP + 2
    assert not app.text_input(key="other").value
    assert odds_line(app) != clicked
    go_back(app, monkeypatch, **URL, **link)
    assert app.text_input(key="other").value == link["other"]
    assert odds_line(app) == odds


def test_what_is_not_there_is_one_sentence_and_the_rest_is_alive(opened, trace) -> None:
    app = opened(written="99", other="漢")
    for wrong in ("no step 99", "not in the vocabulary"):
        assert sum(wrong in text for text in texts(app)) == 1
    written = trace.target_pieces[app.number_input(key="written").value - 1].text
    for typed, wrong in (
        ("<pad>", "never written"),
        ("·漢漢", "inside a word"),
        (written, "The model wrote"),
    ):
        app.text_input(key="other").set_value(typed).run()
        assert sum(wrong in text for text in texts(app)) == 1
        assert math.isfinite(bars(app, ERASED)[0]["value"].sum())


def test_a_changed_sentence_without_the_step_says_where_it_is_now(
    opened, given_translations
) -> None:
    app = opened(written="6")
    app.text_area(key="text").set_value("Dog.").run()
    count = len(app.button_group(key="written-pieces").options)
    assert count < 6
    assert any(f"has {count} steps and no step 6" in text for text in texts(app))
    assert 1 <= app.number_input(key="written").value <= count


def test_a_long_sentence_is_erased_when_it_is_asked_for(opened, link, monkeypatch) -> None:
    (at_once,) = bars(opened(**link), ERASED)
    monkeypatch.setattr(why, "MAX_ERASED_AT_ONCE", 2)
    app = opened(**link)
    assert not bars(app, ERASED)
    app.toggle(key="erase").set_value(True).run()
    assert bars(app, ERASED)[0].equals(at_once)
    monkeypatch.setattr(why, "MAX_ERASED", 3)
    assert any("up to 3." in text for text in texts(opened(**link, erase="true")))


def test_every_piece_has_a_name_that_names_it_alone(translator: Translator) -> None:
    for piece in range(translator.model.config.vocab_size):
        if piece in decoding.NEVER_WRITTEN:
            with pytest.raises(InputError, match="never written"):
                pieces.find_piece(translator, translator.tokenizer.pieces_of([piece])[0].text)
            with pytest.raises(InputError, match="inside a word"):
                pieces.find_piece(translator, f"·{translator.tokenizer.pieces_of([piece])[0].text}")
        else:
            assert pieces.find_piece(translator, pieces.piece_name(translator, piece)) == piece
    assert pieces.find_piece(translator, "</s>") == config.EOS
    word = translator.tokenizer.encode("dog")[0]
    assert pieces.find_piece(translator, "dog and more") == word


def test_bars_disagree_where_both_are_of_note_and_apart() -> None:
    first = np.array([1.0, -1.0, 0.01, -0.5, 0.0])
    check = np.array([2.0, 3.0, -3.0, -0.5, 0.0])
    assert why_this_word.disagree(first, check).tolist() == [False, True, False, False, False]


def test_pieces_that_read_alike_stay_apart() -> None:
    labels = pieces.make_unique(["a", "b", "a", "a"])
    assert len(set(labels)) == 4
    assert [label.strip("\u2060") for label in labels] == ["a", "b", "a", "a"]
