"""A choice given by name that does not exist is refused, with those that do, by every function."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from types import FunctionType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints
from unittest.mock import MagicMock

import pytest
import torch

import headlight
from transformer import (
    HeadlightError,
    InputError,
    analysis,
    corpus,
    paper,
)
from transformer.choices import check_choices, require_choice


class Choice(NamedTuple):
    """A parameter of a public function that is chosen by name."""

    name: str  # of the function, with its module
    call: Callable[..., Any]
    parameter: str
    known: tuple[str, ...]
    others: Mapping[str, Any]  # arguments without a default, those that are choices valid ones
    several: bool


def functions() -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    """Yield name, function and what is called: of each public function, class and method."""
    modules = [
        importlib.import_module(module.name)
        for package in (analysis, corpus, paper)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    every = {f"headlight.{name}": getattr(headlight, name) for name in headlight.__all__}
    for module in modules:
        own = {n: o for n, o in vars(module).items() if not n.startswith("_")}
        every |= {
            f"{module.__name__}.{n}": o
            for n, o in own.items()
            if getattr(o, "__module__", "") == module.__name__
        }
    for name, member in every.items():
        if isinstance(member, FunctionType):
            yield name, member, member
        elif inspect.isclass(member):
            if isinstance(vars(member).get("__init__"), FunctionType):
                yield name, vars(member)["__init__"], member
            for method, function in vars(member).items():
                plain = getattr(function, "__func__", function)
                if isinstance(plain, FunctionType) and not method.startswith("_"):
                    yield f"{name}.{method}", plain, plain


def names_of(hint: Any) -> tuple[tuple[str, ...], bool]:
    """Return the names of a `Literal` within a type, and whether it is a collection of them.

    Those of a mapping's keys are not choices.
    """
    origin = get_origin(hint)
    if origin is Literal:
        return get_args(hint), False
    collection = isinstance(origin, type) and issubclass(origin, Collection)
    if collection and issubclass(origin, Mapping):
        return (), False
    inner = [named for part in get_args(hint) if (named := names_of(part))[0]]
    names = tuple(name for listed, _ in inner for name in listed)
    return names, collection or any(several for _, several in inner)


def choices() -> Iterator[Choice]:
    members = list(functions())  # which loads their modules
    loaded = [vars(m) for n, m in sys.modules.items() if n.startswith(("transformer", "viz."))]
    known_types = {name: value for names in loaded for name, value in names.items()}
    known_types |= {"pd": MagicMock(), "Count": int}
    for name, function, call in members:
        plain = inspect.unwrap(function)
        hints = get_type_hints(plain, {**known_types, **plain.__globals__})
        parameters = inspect.signature(plain).parameters
        others = tuple(
            n
            for n, p in parameters.items()
            if (p.default is p.empty or n == "trace") and p.kind not in (2, 4)
        )
        if call is not function:  # a class
            others = others[1:]
        hints.pop("return", None)
        every = {name: names_of(hint) for name, hint in hints.items()}
        valid = {
            n: known if several else known[0] for n, (known, several) in every.items() if known
        }
        arguments = {other: valid.get(other, MagicMock()) for other in others}
        for parameter, (known, several) in every.items():
            if known:
                yield Choice(name, call, parameter, known, arguments, several)


EVERY = list(choices())


def test_the_walk_finds_the_choices_of_the_public_functions() -> None:
    walked = {(choice.name, choice.parameter) for choice in EVERY}
    assert len(walked) > 80
    assert walked >= {
        ("headlight.align", "words"),
        ("headlight.align_both", "words"),
        ("headlight.Removal", "how"),
        ("headlight.explore", "theme"),
        ("headlight.AttentionTrace.labels", "queries"),
        ("transformer.paper.positions.Edit", "stacks"),
    }


@pytest.mark.parametrize("choice", EVERY, ids=lambda choice: f"{choice.name}-{choice.parameter}")
def test_nonsense_is_refused_with_the_choices(choice, trace, translator):
    outputs = {"attentions": (torch.full((1, 1, 2, 2), 0.5),)}
    given = {"trace": trace, "self": trace, "translator": translator, "outputs": outputs}
    given["model"] = translator.model
    arguments = {name: given.get(name, value) for name, value in choice.others.items()}
    arguments[choice.parameter] = ("nonsense",) if choice.several else "nonsense"
    with pytest.raises(HeadlightError) as refused:
        next(iter(choice.call(**arguments)))
    assert "nonsense" in str(refused.value)
    assert any(name in str(refused.value) for name in choice.known)


Size = Literal["small", "large"]


@check_choices
def fit(size: Size | None = None, more: tuple[Size, ...] = (), text: str | Size = "") -> str:
    return f"{size} {more} {text}"


@pytest.mark.parametrize("odd", ["", "SMALL", 1, ["small"], float("nan"), ("small",)])
def test_whatever_is_given_is_compared_and_never_raises_another_error(odd: object) -> None:
    with pytest.raises(InputError, match=r"size = .* does not exist: choose one of small, large"):
        fit(odd)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more = "):
        fit(more=(odd,))  # type: ignore[arg-type]


def test_what_may_be_another_text_is_not_checked() -> None:
    assert fit("small", ("large", "small"), "medium") == "small ('large', 'small') medium"
    with pytest.raises(InputError, match="does not exist: choose one of 1, 2"):
        require_choice("number", "3", "12")
