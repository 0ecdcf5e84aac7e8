"""A request that cannot be met as a whole is met as far as it can be."""

import pytest

from transformer.decoding.settings import SearchSettings
from viz.app.sentence.search_request import SearchRequest, settings_of, translate_request

SENTENCE = "The dog sleeps in the garden."


@pytest.mark.parametrize(
    ("prefix", "forbid", "went_on"),
    [
        (None, "Hund-", "with all words allowed"),
        ("▁Nilpferd", "Hund", "without the prefix"),
        ("▁Nilpferd", "Hund-", "without the prefix and with all words allowed"),
    ],
)
def test_what_is_wrong_goes_and_what_is_sound_stays(translator, prefix, forbid, went_on) -> None:
    own = translator.translate(SENTENCE)
    request = SearchRequest(SENTENCE, prefix=prefix or own.best.pieces[0].text, forbid=forbid)
    _, used, message = translate_request(translator, request)
    assert used == request._replace(
        prefix="" if "prefix" in went_on else request.prefix,
        forbid="" if "words" in went_on else request.forbid,
    )
    assert message.endswith(f". The search went on {went_on}.")
    for wrong in filter(None, (prefix, forbid if "-" in forbid else None)):
        assert message.count(f"“{wrong}”") == 1


def test_a_request_becomes_the_settings_of_the_search() -> None:
    request = SearchRequest("", 2, 1.3, "▁Der ▁Hund", "Herr, Frau  , ja,")
    assert settings_of(request) == SearchSettings(
        beam_size=2, alpha=1.3, prefix=("▁Der", "▁Hund"), forbidden=("Herr", "Frau", ",", "ja")
    )
