"""Benchmarks as far as their first step: what they look for is still where they look for it."""

import argparse
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import pytest

from benchmarks import __main__
from transformer import Translator


class Step(NamedTuple):
    """The first step of a benchmark: the function of its module that does it, called as here."""

    function: str  # may be one of a class or a module that the module has
    arguments: Sequence[str] = ()
    smallest: Mapping[str, object] = {}  # sizes and parts of the module, as small as they can be
    library: str = ""  # without which there is no such benchmark


class _Done(BaseException):
    """The step is done; nothing in a benchmark takes it for a fault of its own."""


def commands() -> dict[str, Any]:
    """The module of each command."""
    modules: dict[str, Any] = {}
    for module in __main__.MODULES:
        parsers = argparse.ArgumentParser().add_subparsers()
        module.add_arguments(parsers)
        modules |= dict.fromkeys(parsers.choices, module)
    return modules


@cache
def loaded(folder: str) -> Translator:
    """A model, loaded once for all benchmarks."""
    return LOAD(folder or None)


LOAD = Translator.load


def take(name: str, step: Step, monkeypatch: pytest.MonkeyPatch, folder: str = "") -> None:
    """Run a benchmark until its step has returned, with a model in the place of the bundled one."""
    if step.library:
        pytest.importorskip(step.library)
    module = commands()[name]
    load = staticmethod(lambda place="": loaded(str(place or folder)))
    monkeypatch.setattr(Translator, "load", load)
    for attribute, value in step.smallest.items():
        monkeypatch.setattr(module, attribute, value)
    owner, _, function = step.function.rpartition(".")
    place = attrgetter(owner)(module) if owner else module
    monkeypatch.setattr(place, function, _then_done(getattr(place, function)))
    with pytest.raises(_Done):
        __main__.main([name, *step.arguments])


def _then_done(function: Callable[..., Any]) -> Callable[..., Any]:
    async def awaited(*arguments: Any, **options: Any) -> None:
        await function(*arguments, **options)
        raise _Done

    def called(*arguments: Any, **options: Any) -> None:
        function(*arguments, **options)
        raise _Done

    return awaited if inspect.iscoroutinefunction(function) else called
