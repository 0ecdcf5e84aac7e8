"""Check of choices that are given by name: an argument is one of what its `Literal` lists."""

from collections.abc import Callable, Collection, Iterable
from functools import cache, wraps
from inspect import signature
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from transformer.errors import InputError, quoted

F = TypeVar("F", bound=Callable[..., Any])


def require_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise InputError unless the value of an argument is one of these choices."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise InputError(
            f"{name} = {quoted(value)} does not exist: choose one of {', '.join(known)}."
        )


def require_number(name: str, number: int, count: int) -> None:
    """Raise InputError unless a number, from 0, is one of `count`."""
    if not 0 <= number < count:
        raise InputError(f"There is no {name} {number}: choose one from 0 to {count - 1}.")


def check_choices(function: F) -> F:
    """Let a function, or a class as it is made, raise InputError for a choice that does not exist.

    Checked are arguments whose type is a `Literal`, optional or not, or a collection of one.
    """
    if isinstance(function, type):
        function.__init__ = check_choices(function.__init__)  # type: ignore[misc]
        return function
    parameters = list(signature(function).parameters)

    @cache  # at the first call: the module may define the type below the function
    def hints() -> dict[str, object]:
        return get_type_hints(function)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
            _check(name, value, hints().get(name))
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]


def _check(name: str, value: object, hint: object) -> None:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is None and NoneType in parts:
            return
        parts = tuple(part for part in parts if part is not NoneType)
        if len(parts) == 1:
            _check(name, value, parts[0])
        elif all(get_origin(part) is Literal for part in parts):
            require_choice(name, value, [choice for part in parts for choice in get_args(part)])
    elif origin is Literal:
        require_choice(name, value, parts)
    elif parts and get_origin(parts[0]) is Literal:  # a collection, or the keys of a mapping
        if isinstance(value, str):
            raise InputError(f"{name} = {quoted(value)} is a text: put brackets around it.")
        for single in value if isinstance(value, Collection) else (value,):
            require_choice(name, single, get_args(parts[0]))
