"""The request to the search: in the link, in the bar, released, refused."""

from dataclasses import fields
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import figures, go_back, in_url, press, texts
from transformer import Translator
from transformer import __main__ as command
from transformer.decoding.settings import UNCONSTRAINED, SearchArguments, SearchSettings
from transformer.text.words import ForbiddenWords
from viz.app.links import address
from viz.app.sentence import search_request, sentence_bar
from viz.app.sentence.search_request import (
    CONSTRAINTS,
    OPTIONS,
    TEXTS,
    SearchOption,
    SearchRequest,
    arguments,
    fields_of,
    translate_request,
    unconstrained,
)

SENTENCE = "The dog sleeps in the garden."


def bar() -> None:
    import streamlit as st

    from viz.app.links import address
    from viz.app.sentence import sentence_bar

    visited = st.session_state.get("visited")
    st.session_state[address.PAGE_CHANGED] = visited is not None
    sentence_bar.show()


def german(app: AppTest) -> str:
    return texts(app)[1]


@pytest.fixture
def prefix(translator: Translator) -> list[str]:
    """Pieces that the model does not begin with by itself."""
    pieces = translator.tokenizer.pieces(translator.translate("My brother eats.").text)[:2]
    return [piece.text for piece in pieces]


def test_a_link_steers_the_search_and_the_bar_says_so(serve, translator, prefix) -> None:
    own = translator.translate(SENTENCE).text
    app = serve(bar, text=SENTENCE, prefix=" ".join(prefix), beam="2", alpha="1.3")
    wanted = translator.translate(SENTENCE, beam_size=2, alpha=1.3, prefix=prefix)
    assert german(app) == wanted.text != own
    assert f"begins with “\u2068{search_request.as_text(prefix)}\u2069”" in texts(app)[2]
    assert f"log probability −{-wanted.log_prob:.2f}" in figures(app)
    press(app, "Back to the model’s translation")
    assert german(app) == translator.translate(SENTENCE, beam_size=2, alpha=1.3).text
    assert in_url(app, "prefix") is None
    assert (in_url(app, "beam"), in_url(app, "alpha")) == ("2", "1.3")


def test_another_english_sentence_releases_what_belonged_to_the_last_and_back_brings_it_back(
    serve, translator: Translator, prefix: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = {"text": SENTENCE, "prefix": " ".join(prefix), "forbid": "Nilpferd"}
    app = serve(bar, **url)
    steered = german(app)
    app.text_area(key="text").set_value("The cat").run()
    app.text_area(key="text").set_value("The cat sings.").run()
    assert german(app) == translator.translate("The cat sings.").text
    assert in_url(app, "prefix") is None
    assert in_url(app, "forbid") == "Nilpferd"  # a setting of the search
    notice = (
        f"The prefix “\u2068{search_request.as_text(prefix)}\u2069” belonged to the sentence before"
    )
    assert any(line.startswith(notice) for line in texts(app))
    go_back(app, monkeypatch, **url)
    assert (app.text_area(key="text").value, german(app)) == (SENTENCE, steered)
    assert not any(line.startswith(notice) for line in texts(app))


def test_what_is_released_is_said_where_the_next_sentence_cannot_be_translated(
    serve, prefix: list[str]
) -> None:
    app = serve(bar, text=SENTENCE, prefix=" ".join(prefix), beam="3")
    app.text_area(key="text").set_value("dog " * 2_001).run()
    message = german(app)
    assert message.count(" belonged to the sentence before; Back brings it back.") == 1
    assert "There is no beam" not in message  # that was another request


@pytest.mark.parametrize("field", ["text", "edited"])
def test_back_brings_what_its_entry_has_or_keeps_what_no_link_holds(
    serve, monkeypatch, field: str
) -> None:
    url = {"text": SENTENCE, "edited": "Der Hund schläft."}
    app = serve(bar, **url)
    (box,) = [widget for widget in (*app.text_area, *app.text_input) if widget.key == field]
    box.set_value("Hund " * 2_001).run()
    go_back(app, monkeypatch, kind="decoder")  # of an entry that lies after the text
    (box,) = [widget for widget in (*app.text_area, *app.text_input) if widget.key == field]
    assert box.value == "Hund " * 2_001
    assert any("too long for a link" in line for line in texts(app))
    go_back(app, monkeypatch, **url)
    assert (app.text_area(key="text").value, german(app)) == tuple(url.values())
    assert not any("too long for a link" in line for line in texts(app))


WORD = "Hund"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"prefix": "▁Nilpferd"}, "“▁Nilpferd” is not a piece of this model's vocabulary"),
        ({"prefix": "{words}", "forbid": "{word}"}, f"contains “{WORD}”, which is forbidden"),
        ({"beam": "10000"}, "no beam of “\u206810000\u2069”: it is 1, 2, 4 or 8, and here 4."),
        ({"alpha": "nan"}, "“\u2068nan\u2069” is not an α of the length penalty"),
    ],
)
def test_what_cannot_be_done_gets_one_sentence_and_the_rest_goes_on(
    serve, translator: Translator, asked: dict[str, str], says: str
) -> None:
    words = [piece.text for piece in translator.tokenizer.pieces(f"Der {WORD} schläft")]
    given = {"words": " ".join(words), "word": WORD}
    app = serve(bar, text=SENTENCE, **{name: v.format(**given) for name, v in asked.items()})
    (message,) = [line for line in texts(app)[2:] if says in line]
    assert message.endswith(".")
    forbidden = [WORD] if "forbid" in asked else []
    assert german(app) == translator.translate(SENTENCE, forbidden=forbidden).text
    # it stands until something else is asked
    assert message in texts(app.run())
    app.text_area(key="text").set_value("The cat sings.").run()
    assert message not in texts(app)


def visit(app: AppTest, page: str) -> None:
    """Walk to a page; the browser, which has not heard of the bar yet, leaves its values behind."""
    app.query_params.clear()
    app.session_state["visited"] = page
    app.run()


def test_what_the_bar_had_no_time_to_take_goes_along_to_another_page(
    serve, translator, monkeypatch
) -> None:
    with monkeypatch.context() as early:
        early.setattr(sentence_bar, "_inputs", st.stop)  # the click ends the run here
        app = serve(bar, text=SENTENCE, beam="2", alpha="9")
    visit(app, "masks")
    assert translator.translate(SENTENCE, beam_size=2).text in texts(app)
    assert (in_url(app, "text"), in_url(app, "beam")) == (SENTENCE, "2")
    assert app.slider(key="alpha").value == 0.6  # there is no such α
    app.text_area(key="text").set_value("A cat.").run()
    visit(app, "heads")
    assert app.text_area(key="text").value == "A cat."


@pytest.mark.parametrize(
    ("prefix", "forbid", "went_on"),
    [
        (None, "Hund-", "with all words allowed"),
        ("▁Nilpferd", "Hund-", "without the prefix and with all words allowed"),
    ],
)
def test_what_is_wrong_goes_and_what_is_sound_stays(translator, prefix, forbid, went_on) -> None:
    own = translator.translate(SENTENCE)
    request = SearchRequest(SENTENCE, prefix=prefix or own.best.pieces[0].text, forbidden=forbid)
    _, used, message = translate_request(translator, request)
    assert used == request._replace(
        prefix="" if "prefix" in went_on else request.prefix,
        forbidden="" if "words" in went_on else request.forbidden,
    )
    assert message.endswith(f". The search went on {went_on}.")
    for wrong in filter(None, (prefix, forbid if "-" in forbid else None)):
        assert message.count(f"“{wrong}”") == 1


def test_where_every_word_is_forbidden_the_search_goes_on_without(
    serve, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForbiddenWords, "completes", lambda *_: True)
    app = serve(bar, text=SENTENCE, forbid="Hund")
    assert german(app) == translator.translate(SENTENCE).text
    assert texts(app)[2] == (
        "Every continuation is forbidden: forbid fewer words. "
        "The search went on with all words allowed."
    )


OF_COMMAND_AND_CODE = {"n_best", "max_length", "tree"}
"""Settings that the app has no field for."""
USUAL = SearchRequest("").settings
EVERY = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)


def chosen(option: SearchOption) -> SearchRequest:
    """A request with another value than the usual one."""
    numbers: dict[str, Any] = {"beam_size": 8, "alpha": 1.3}
    return SearchRequest("A dog.")._replace(**{option.field: numbers.get(option.field, "Infinity")})


def test_every_setting_has_its_option_and_every_option_its_field_and_setting() -> None:
    settings = {field.name for field in fields(SearchSettings)}
    assert SearchArguments.__annotations__.keys() == settings
    assert {option.field for option in OPTIONS} == settings - OF_COMMAND_AND_CODE
    _, *names, _, _ = SearchRequest._fields
    assert [option.field for option in OPTIONS] == names  # as `NAMES` has those in links
    assert {option.field for option in CONSTRAINTS} == settings - UNCONSTRAINED


@EVERY
def test_an_option_reaches_the_search_its_code_and_comes_back_from_it(option) -> None:
    request = chosen(option)
    settings = request.settings
    assert settings != USUAL
    assert (
        SearchRequest("", **fields_of(SearchSettings(**arguments(settings)))).settings == settings
    )
    assert [*arguments(settings)] == [option.field]
    assert request._replace(**fields_of(settings)) == request
    assert fields_of(settings)[option.field] == getattr(request, option.field)


@EVERY
def test_a_constraint_is_searched_alone_and_left_out_for_another_language(option) -> None:
    settings = chosen(option).settings
    if option in CONSTRAINTS:
        assert [*settings.constrained] == [option.field]
        # the prefix is named apart: what follows it is the model's own
        assert bool(settings.constraints_phrase) == (option.field != "prefix")
        assert fields_of(unconstrained(settings)) == fields_of(USUAL)
        attempts = search_request._relaxed_requests(chosen(option))
        assert attempts[-1] == SearchRequest("A dog.")
    else:
        assert settings.constrained == {}
        assert unconstrained(settings) == settings


@EVERY
def test_a_link_brings_an_option_and_only_a_text_may_be_any_text(option) -> None:
    value = str(getattr(chosen(option), option.field))
    assert option.problem(value) == ""
    assert option.read(value) == getattr(chosen(option), option.field)
    query = {option.name: ["Infinity"]}
    assert address.clean(query, TEXTS) == (query if option.read is str else {})


@pytest.mark.parametrize("setting", [f.name for f in fields(SearchSettings) if f.name != "tree"])
def test_the_command_has_each_setting_and_refuses_it_for_a_given_translation(
    setting: str, capsys
) -> None:
    (action,) = (a for a in command._parser().parse_args([]).search if a.dest == setting)
    name = action.option_strings[0]
    assert command.main(["A dog.", "--align", "--target", "Ein Hund.", name, "2"]) == 2
    assert name in capsys.readouterr().err
