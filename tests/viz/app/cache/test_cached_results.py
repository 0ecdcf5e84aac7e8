"""Results for a sentence are remembered, and what is too much is refused."""

import pytest
from streamlit.testing.v1 import AppTest

from transformer import InputError, Translator
from transformer.checkpoints import domain
from transformer.decoding.settings import SearchSettings
from transformer.text import languages
from viz.app.cache import cached_results, memory, search_queue
from viz.app.cache.search_queue import SearchQueue


@pytest.fixture(autouse=True)
def forget():
    """No test sees what another one cached."""
    memory.forget_server_wide()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("checksum", "another"),
        ("languages", languages.Languages("English", "Dutch")),
        ("domain", domain.Domain("x", 0.0)),
    ],
)
def test_a_result_is_remembered_for_its_model_alone(translator, monkeypatch, name, value) -> None:
    def results() -> list[object]:
        translation = cached_results.search(translator, "The dog sings.", SearchSettings())
        return [
            translation,
            cached_results.translate_edited(
                translator, "The dog sings.", SearchSettings(), {}, "none"
            ),
            cached_results.score(translator, "The dog sings.", "Der Hund singt.", 0.6),
            cached_results.trace(translator, translation),
            cached_results.trace_of_pair(translator, "The dog sings.", "Der Hund singt."),
        ]

    before = results()
    assert all(earlier is same for earlier, same in zip(before, results(), strict=True))
    monkeypatch.setattr(translator, name, value)
    assert not any(earlier is same for earlier, same in zip(before, results(), strict=True))


def test_a_trace_belongs_to_its_translation(translator: Translator) -> None:
    translation = cached_results.search(
        translator, "The dog sleeps in the garden.", SearchSettings()
    )
    trace = cached_results.trace(translator, translation)
    assert trace.target == translation.text
    # the same pieces, as SentencePiece reads both in NFKC
    for text in ("Der Hund…", "Der Hund..."):
        given = cached_results.score(translator, "The dog.", text, 0.6).translation
        assert cached_results.trace(translator, given).target == text


def test_too_long_for_a_map_says_how_long(translator: Translator, monkeypatch) -> None:
    translation = cached_results.search(
        translator, "The dog sleeps in the garden.", SearchSettings()
    )
    source = len(cached_results.trace(translator, translation).source_tokens)
    target = len(translation.best.pieces)
    monkeypatch.setattr(cached_results, "MAX_PIECES", max(source, target))
    cached_results.trace(translator, translation)  # as long as it may be
    monkeypatch.setattr(cached_results, "MAX_PIECES", source - 1)
    with pytest.raises(InputError, match=rf"The text has {source} pieces, and the app draws up to"):
        cached_results.trace(translator, translation)
    pair = "The dog sleeps in the garden.", "Der Hund schläft im Garten. Der Hund."
    with pytest.raises(InputError, match=rf"The text has {source} pieces, and the app draws"):
        cached_results.trace_of_pair(translator, *pair)
    monkeypatch.setattr(cached_results, "MAX_PIECES", source)
    with pytest.raises(InputError, match=r"The translation has \d+ pieces, and the app"):
        cached_results.trace_of_pair(translator, *pair)


@pytest.mark.parametrize("pieces", [101, 16_001])
def test_what_cannot_be_drawn_is_refused_before_it_is_translated(
    translator: Translator, monkeypatch, pieces: int
) -> None:
    asked = []
    monkeypatch.setattr(SearchQueue, "search", lambda _queue, _model, text, *_: asked.append(text))
    monkeypatch.setattr(cached_results, "MAX_PIECES", 102)
    text = ". " * (pieces // 2)
    assert len(translator.tokenizer.encode(text)) == pieces - 1
    for translate in (
        lambda: cached_results.search(translator, text, SearchSettings()),
        lambda: cached_results.translate_edited(translator, text, SearchSettings(), {}, "none"),
    ):
        if pieces <= cached_results.MAX_PIECES:
            translate()
            continue
        with pytest.raises(InputError, match=rf"has {pieces:,} pieces, and the app draws up"):
            translate()
    assert len(asked) == (2 if pieces <= cached_results.MAX_PIECES else 0)


def test_a_search_ends_with_its_budget_and_says_so(translator: Translator, monkeypatch) -> None:
    monkeypatch.setattr(search_queue, "SECONDS", 0.0)
    translation = cached_results.search(
        translator, "The dog sleeps in the garden.", SearchSettings()
    )
    assert translation.stopped
    (notice,) = translation.notices
    assert notice.startswith("The search was stopped before its end, after 1 piece:")
    monkeypatch.setattr(search_queue, "SECONDS", 60.0)
    assert (
        cached_results.search(translator, "The dog sleeps in the garden.", SearchSettings())
        is translation
    )
    assert not cached_results.search(translator, "The dog sings.", SearchSettings()).stopped


def work() -> None:
    import streamlit as st

    from transformer import InputError
    from viz.app.cache.cached_results import progress_bar

    seen = st.session_state
    try:
        with progress_bar("Working") as report:
            report(1, 2, *seen["now"])
            if seen["end"] == "in an error":
                raise InputError("It cannot be done.")
            if seen["end"] == "in the middle":
                st.stop()
    except InputError as error:
        st.text(str(error))


@pytest.mark.parametrize(
    ("end", "bars", "sentences"),
    [("well", 0, []), ("in an error", 0, ["It cannot be done."]), ("in the middle", 1, [])],
)
def test_the_bar_goes_with_the_work(monkeypatch, end, bars, sentences) -> None:
    monkeypatch.setattr(cached_results, "PATIENCE", -1.0)
    app = AppTest.from_function(work)
    for now in ((), ("the second part",)):
        app.session_state["end"], app.session_state["now"] = end, now
        app.run()
        assert not app.exception
        assert len(app.get("progress")) == bars
        for bar in app.get("progress"):
            assert bar.proto.text == ": ".join(["Working", *now])
    assert [text.value for text in app.text] == sentences
