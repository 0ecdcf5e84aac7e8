"""The request to the search: in the link, in the bar, released, refused."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.app_test import figures, go_back, in_url, press, texts
from transformer import Translator
from transformer.text.words import ForbiddenWords
from viz.app.sentence import search_options, sentence_bar
from viz.app.sentence.search_options import SearchRequest
from viz.app.sentence.search_request import (
    translate_request,
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
    assert f"begins with “\u2068{search_options.as_text(prefix)}\u2069”" in texts(app)[2]
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
        f"The prefix “\u2068{search_options.as_text(prefix)}\u2069” belonged to the sentence before"
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
