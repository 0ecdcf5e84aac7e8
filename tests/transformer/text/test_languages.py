"""Names and codes of a language."""

import pytest

from transformer.text.languages import OURS, Languages, code_of_name, name_of

SEVERAL = Languages("English", "", ("fra", "ukr", "qqq"))


@pytest.mark.parametrize(
    ("languages", "phrase"),
    [
        (OURS, "an English token"),
        (Languages("Ukrainian", ""), "a Ukrainian token"),
        (Languages("Urdu", ""), "an Urdu token"),
        (Languages("", "German"), "a source token"),
    ],
)
def test_one_thing_of_a_language_has_its_article(languages: Languages, phrase: str) -> None:
    assert languages.with_article("source", "token") == phrase


def test_the_target_language_is_noticed_and_what_both_have_says_nothing() -> None:
    for text in ("Lila Häuser singen in der Stadt.", "Warum wartest du in Berlin?", "Aber immer!"):
        assert OURS.mistaken(text) == "German", text
    for text in ("Tom waits in Berlin for Maria.", "Kindergarten in Wien", "Was war in Berlin"):
        assert OURS.mistaken(text) is None, text


@pytest.mark.parametrize(
    ("languages", "text", "target"),
    [
        (OURS, ">>fra<< A dog.", "German"),  # only text: the model reads no codes
        (SEVERAL, ">>ukr<< A dog.", "Ukrainian"),
        (SEVERAL, ">>qqq<< A dog.", "qqq"),
        (SEVERAL, "A dog.", "target"),
        (Languages("English", "", ("fra", "*x*")), ">>*x*<< A dog.", "target"),  # no markup
    ],
)
def test_a_text_chooses_the_language_that_is_written(languages, text, target):
    chosen = languages.for_text(text)
    assert (chosen.name("target"), chosen.source) == (target, "English")


def test_only_a_model_of_several_languages_asks_which_one() -> None:
    assert "writes 3 languages and was not told" in str(SEVERAL.notice("A dog."))
    assert SEVERAL.notice(">>fra<< A dog.") is None
    assert Languages("English", "French", ("fra",)).notice("A dog.") is None


def test_each_name_has_the_code_that_a_page_is_marked_with() -> None:
    assert [code_of_name(name) for name in ("Finnish", "Chinese", "Arabic")] == ["fi", "zh", "ar"]
    assert name_of(code_of_name("Norwegian Bokmål")) == "Norwegian Bokmål"
    assert code_of_name("") == code_of_name("Klingon") == ""
