"""Each option of the search is known wherever options are read, written, kept or left out."""

from dataclasses import fields
from typing import Any

import pytest

from transformer import __main__ as command
from transformer.decoding.settings import UNCONSTRAINED, SearchArguments, SearchSettings
from viz.app.links import address
from viz.app.sentence import search_request
from viz.app.sentence.search_options import (
    CONSTRAINTS,
    OPTIONS,
    TEXTS,
    SearchOption,
    SearchRequest,
    arguments,
    settings_of,
    typed,
    unconstrained,
)

OF_COMMAND_AND_CODE = {"n_best", "max_length", "tree"}
"""Settings that the app has no field for."""
USUAL = settings_of(SearchRequest(""))
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
    settings = settings_of(request)
    assert settings != USUAL
    assert (
        settings_of(SearchRequest("", **typed(SearchSettings(**arguments(settings))))) == settings
    )
    assert [*arguments(settings)] == [option.field]
    assert request._replace(**typed(settings)) == request
    assert typed(settings)[option.field] == getattr(request, option.field)


@EVERY
def test_a_constraint_is_searched_alone_and_left_out_for_another_language(option) -> None:
    settings = settings_of(chosen(option))
    if option in CONSTRAINTS:
        assert [*settings.constrained] == [option.field]
        # the prefix is named apart: what follows it is the model's own
        assert bool(settings.constraints_phrase) == (option.field != "prefix")
        assert typed(unconstrained(settings)) == typed(USUAL)
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
