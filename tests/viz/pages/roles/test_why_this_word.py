"""“Why this word”: its numbers are the model's, and its links open what was seen."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import go_back, texts
from tests.viz.pages.reading import SENTENCE
from tests.viz.pages.roles.made_reports import chart_tables
from transformer import AttentionTrace, InputError, Translator
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.analysis.logits.contrast import contrast
from transformer.analysis.teacher_forcing import forced_pair
from transformer.config import EOS
from transformer.decoding import NEVER_WRITTEN
from viz.app.cache import cached_results
from viz.draw.labels import SCREEN_NAMES, head_title
from viz.figures.head_scatter import PICKED
from viz.pages.roles import why_this_word as why
from viz.pages.roles.pieces import find_piece, make_unique, piece_name
from viz.pages.roles.why_this_word import disagree

pytestmark = pytest.mark.slow

FIRST_ORDER, ERASED = "gradient × value, nats", "lost when erased, nats"
STEP, OTHER = 1, 40  # any piece
URL = {"text": SENTENCE, "roles_view": "Why this word"}


@pytest.fixture
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(SENTENCE)


@pytest.fixture
def link(translator: Translator) -> dict[str, str]:
    return {"written": str(STEP + 1), "other": piece_name(translator, OTHER)}


def bars(app: AppTest, title: str) -> list[pd.DataFrame]:
    """The tables of the charts with this title: of all heads first, then of the open one."""
    return chart_tables(app, title, "piece")


def odds_line(app: AppTest) -> str:
    (line,) = [text for text in texts(app) if "Log-odds" in text]
    return line


def test_the_log_odds_are_printed_and_bars_stand_in_the_order_of_the_sentence(
    opened, link, translator, trace
) -> None:
    app = opened(**link)
    printed = re.search(r"ratio: ([+−]?\d+\.\d\d) nats", odds_line(app))
    assert printed
    log_odds = contrast(translator.model, trace, STEP, OTHER).log_odds
    assert float(printed[1].replace("−", "-")) == pytest.approx(log_odds, abs=0.0051)
    for title in (ERASED, FIRST_ORDER):
        table = bars(app, title)[0]
        assert table["place"].tolist() == list(range(len(trace.source_pieces)))
        assert table["sign"].tolist() == ["for" if v >= 0 else "against" for v in table["value"]]


def tables_of(app: AppTest) -> set[str]:
    """Return the keys of the tables of heads in the session."""
    ids = (element.proto.id for element in app.get("vega_lite_chart"))
    return {element for element in ids if "why-heads-" in element}


def test_heads_are_coloured_named_and_opened_by_what_they_add(
    opened, link, translator, trace
) -> None:
    result = contrast(translator.model, trace, STEP, OTHER)
    values = {
        (k, *at): array[at] for k, array in result.by_head.items() for at in np.ndindex(array.shape)
    }
    app = opened(**link)
    tables = pd.concat(chart_tables(app, "fillOpacity", "strength"))
    drawn = dict(zip(tables["name"], tables["value"], strict=True))
    names = {place: head_title(*place) for place in values}
    assert drawn == pytest.approx({names[place]: float(v) for place, v in values.items()}, abs=1e-5)
    ordered = sorted(values, key=lambda place: -values[place])
    expected = [p for p in ordered if values[p] > 0][:5]
    expected += [p for p in reversed(ordered) if values[p] < 0][:5]
    buttons = [b for b in app.button if b.key and b.key.startswith("why-open-")]
    assert [b.label.rsplit(" ", 1)[0] for b in buttons] == [names[place] for place in expected]
    before = tables_of(app)
    buttons[-1].click().run()
    kind, layer, head = expected[-1]
    # a new one, with no selection: a click there opens any head, the one clicked last, too
    new = tables_of(app) - before
    assert any(item.endswith(f"{kind}-{layer}.{head}") for item in new)
    menus = [app.selectbox(key=name).value for name in ("layer", "head")]
    assert menus == [str(layer + 1), str(head + 1)]
    assert app.button_group(key="kind").value == SCREEN_NAMES[kind]
    assert any(line.value == names[expected[-1]] for line in app.subheader)
    keys = result.values[kind][layer, head]
    np.testing.assert_allclose(bars(app, FIRST_ORDER)[1]["value"], keys, atol=1e-5)
    app.button(key="why-remove").click().run()
    assert app.button_group(key="roles_view").value == "Remove heads"
    assert app.text_input(key="removed").value == format_removals([Removal(kind, layer, head)])


def test_a_click_in_a_table_opens_a_head_and_nothing_else_that_is_sent_does(opened, link) -> None:
    app = opened(**link, kind="encoder")
    (table,) = [
        element.proto.id
        for element in app.get("vega_lite_chart")
        if "heads-cross-" in element.proto.id
    ]

    def send(selection: object) -> tuple[object, ...]:
        states = app._tree.get_widget_states()
        states.widgets.add(id=table, string_value=json.dumps({"selection": selection}))
        app._run(states)
        assert not app.exception
        return app.button_group(key="kind").value, *(
            app.selectbox(key=name).value for name in ("layer", "head")
        )

    before = send({})
    assert send({PICKED: [{"layer": 9, "head": 0}]}) == before
    assert before[0] == "encoder"
    assert send({PICKED: [{"layer": 0, "head": 1}]}) == ("cross-attention", "1", "2")


def test_direct_logits_are_there_for_the_kinds_that_have_them(
    opened, link, translator, trace
) -> None:
    result = contrast(translator.model, trace, STEP, OTHER)
    app = opened(**link, why_heads="direct logits")
    titles = "".join(html.proto.body for html in app.get("html"))
    for kind, values in result.direct.items():
        (number,) = re.findall(f"> {SCREEN_NAMES[kind]} (.*?)<", titles)
        shown = float(number.replace("−", "-"))
        assert shown == pytest.approx(float(values.sum()), abs=0.0051)
    assert "> encoder " not in titles


def test_what_was_clicked_is_in_the_link_and_the_link_opens_it(opened) -> None:
    app = opened(written="1")
    app.button_group(key="written-pieces").set_value(2).run()
    assert app.number_input(key="written").value == 3
    app.button_group(key="other-pieces").set_value(3).run()
    name = app.text_input(key="other").value
    assert name
    again = opened(written="3", other=name)
    assert odds_line(again) == odds_line(app)
    assert (
        again.button_group(key="other-pieces").value == app.button_group(key="other-pieces").value
    )
    # another step has other alternatives
    app.number_input(key="written").set_value(2).run()
    assert not app.text_input(key="other").value
    assert odds_line(app) != odds_line(again)


def test_what_is_not_there_is_one_sentence_and_the_rest_is_alive(opened, trace) -> None:
    app = opened(written="99", other="漢")
    wrong = ["no step 99", "not in the vocabulary"]
    typed = ["<pad>", "·漢漢", "written"]
    for then in (*typed, None):
        message = texts(app)
        assert [len([text for text in message if why_not in text]) for why_not in wrong] == [
            1
        ] * len(wrong)
        assert math.isfinite(bars(app, ERASED)[0]["value"].sum())
        at = app.number_input(key="written").value
        assert 1 <= at <= len(trace.target_pieces)
        if then is not None:
            text = trace.target_pieces[at - 1].text if then == "written" else then
            wrong = [
                {"<pad>": "never written", "written": "The model wrote"}.get(then, "inside a word")
            ]
            app.text_input(key="other").set_value(text).run()


def test_a_written_piece_is_text_and_has_the_name_of_its_button(
    opened, translator, monkeypatch
) -> None:
    trace = translator.trace(SENTENCE, target="Das ist $ $ .")
    monkeypatch.setattr(cached_results, "trace", lambda *_: trace)
    step = 1 + trace.target_tokens.index("$")
    app = opened(written=str(step))
    assert "“\u2068$\u2069”" in odds_line(app)


def test_back_compares_the_piece_that_the_link_names(opened, link, monkeypatch) -> None:
    app = opened(**link)
    odds = odds_line(app)
    app.button_group(key="other-pieces").set_value(2).run()
    assert odds_line(app) != odds
    go_back(app, monkeypatch, text=SENTENCE, roles_view="Why this word", **link)
    assert app.text_input(key="other").value == link["other"]
    assert odds_line(app) == odds


def test_back_to_a_shorter_sentence_asks_for_no_piece_of_the_longer_one(
    opened, given_translations, monkeypatch
) -> None:
    url = {"text": "Dog.", "written": "2"}
    app = opened(**url)
    app.text_area(key="text").set_value(SENTENCE).run()
    app.number_input(key="written").set_value(6).run()
    go_back(app, monkeypatch, roles_view="Why this word", **url)
    assert app.number_input(key="written").value == 2
    assert not any("no piece" in text for text in texts(app))


def test_a_changed_sentence_without_the_step_says_where_it_is_now(
    opened, given_translations
) -> None:
    app = opened(written="6")
    app.text_area(key="text").set_value("Dog.").run()
    count = len(app.button_group(key="written-pieces").options)
    assert count < 6
    assert any(f"has {count} steps and no step 6" in text for text in texts(app))
    assert 1 <= app.number_input(key="written").value <= count


def test_where_nobody_chose_the_least_certain_step_is_open(opened, translator) -> None:
    app = opened()
    for sentence in (SENTENCE, "Dog."):
        app.text_area(key="text").set_value(sentence).run()
        trace = translator.trace(sentence)
        pair = forced_pair(translator.model, trace)
        with torch.no_grad():
            logits = translator.model(pair.source, pair.target)[0]
        logits[:, list(NEVER_WRITTEN)] = -torch.inf
        own = logits.gather(-1, pair.written[:, None])[:, 0]
        best = logits.scatter(-1, pair.written[:, None], -torch.inf).amax(-1)
        assert app.number_input(key="written").value == int((own - best).argmin()) + 1


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
        if piece in NEVER_WRITTEN:
            with pytest.raises(InputError, match="never written"):
                find_piece(translator, translator.tokenizer.pieces_of([piece])[0].text)
            with pytest.raises(InputError, match="inside a word"):
                find_piece(translator, f"·{translator.tokenizer.pieces_of([piece])[0].text}")
        else:
            assert find_piece(translator, piece_name(translator, piece)) == piece
    assert find_piece(translator, "</s>") == EOS
    word = translator.tokenizer.encode("dog")[0]
    assert find_piece(translator, "dog and more") == word


def test_bars_disagree_where_both_are_of_note_and_apart() -> None:
    first = np.array([1.0, -1.0, 0.01, -0.5, 0.0])
    check = np.array([2.0, 3.0, -3.0, -0.5, 0.0])
    assert disagree(first, check).tolist() == [False, True, False, False, False]


def test_pieces_that_read_alike_stay_apart() -> None:
    labels = make_unique(["a", "b", "a", "a"])
    assert len(set(labels)) == 4
    assert [label.strip("\u2060") for label in labels] == ["a", "b", "a", "a"]
