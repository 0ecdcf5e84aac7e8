"""JSON documents that Headlight wrote, as typed values; what does not fit is refused."""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from transformer.errors import CheckpointError, quoted, reading
from transformer.files.reading import read_bytes

T = TypeVar("T")

MAX_CHARACTERS, MAX_NAME_LENGTH = 2**16, 200
"""Largest length of a text in a document, and of a name."""

_INT = -(2**31), 2**31
_FLOAT = -sys.float_info.max, sys.float_info.max

Count: TypeAlias = Annotated[int, 0, 2**31]
Name: TypeAlias = Annotated[str, 1, MAX_NAME_LENGTH]  # a printable text that is not blank


class DocumentError(ValueError):
    """A document that a type cannot have: the rest of a sentence that begins with the file."""


def read_document(path: Path, form: type[T], at_most: int) -> T:
    """Read a JSON file of at most `at_most` bytes as a value of a type; see `from_json`."""
    try:
        with reading(path):
            document: T = from_json(form, parse_json(read_bytes(path, at_most)))
            return document
    except DocumentError as error:
        raise CheckpointError(f"{path} {error}: copy the folder again.") from error


def parse_json(content: bytes | str) -> Any:
    """Parse JSON, or raise DocumentError."""
    try:
        return json.loads(content)  # noqa: TID251
    except (ValueError, RecursionError) as error:
        raise DocumentError("is not JSON") from error


def to_json(value: Any) -> Any:
    """Convert data classes and tuples to what JSON has, numbers to six digits."""
    if is_dataclass(value):
        return {_key(field): to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def from_json(form: Any, value: Any, name: str = "") -> Any:
    """Check a value, and convert it to the type that `to_json` converted, or raise DocumentError.

    The bounds of an `Annotated` number are its least and largest value, those of a text its length.
    """
    arguments, origin = get_args(form), get_origin(form)
    if isinstance(form, type) and is_dataclass(form):
        items = _required(dict, value, name)
        keys = {field.name: _key(field) for field in fields(form)}
        if missing := [f"{name} {key}".lstrip() for key in keys.values() if key not in items]:
            raise DocumentError(f"does not say {', '.join(missing)}")
        hints = field_types(form)
        parts = {n: from_json(hints[n], items[k], f"{name} {k}".lstrip()) for n, k in keys.items()}
        return form(**parts)
    if form is Any:
        return value
    if origin in (Union, UnionType):  # with None
        return None if value is None else from_json(arguments[0], value, name)
    if origin is Mapping:
        items = _required(dict, value, name)
        return {from_json(arguments[0], k): from_json(arguments[1], v, k) for k, v in items.items()}
    if origin is tuple:
        return tuple(from_json(arguments[0], item, name) for item in _required(list, value, name))
    if isinstance(form, type) and issubclass(form, tuple):
        types = field_types(form)
        if len(_required(list, value, name)) != len(types):
            raise _wrong(name, value)
        return form(*map(from_json, types.values(), value, types))
    if origin is Literal:
        if value not in arguments:
            raise _wrong(name, value, f", which must be one of {', '.join(arguments)}")
        return arguments[arguments.index(value)]
    return _plain(name, value, *arguments or (form,))


def _plain(name: str, value: Any, form: type, *bounds: float) -> Any:
    """Check a text, a truth value or a number."""
    if form is str:
        text: str = _required(str, value, name)
        if len(text) > (bounds[1] if bounds else MAX_CHARACTERS):
            raise _wrong(name, value)
        is_whole = text.encode(errors="ignore").decode() == text  # no half of a character
        if not is_whole or (bounds and not (text.isprintable() and text.strip())):
            raise _wrong(name, value)
        return text
    if form is bool:
        if not isinstance(value, bool):
            raise _wrong(name, value, ", which must be true or false")
        return value
    least, most = bounds or (_INT if form is int else _FLOAT)
    if isinstance(value, bool) or not isinstance(value, int if form is int else int | float):
        raise _wrong(name, value, f", which must be a {'whole ' * (form is int)}number")
    if not least <= value <= most:  # NaN is in no range
        raise _wrong(name, value, f", which must be from {least:,} to {most:,}" if bounds else "")
    return form(value)


def _required(form: type[T], value: Any, name: str) -> T:
    if not isinstance(value, form):
        raise _wrong(name, value)
    return value


def _wrong(name: str, value: Any, expected: str = "") -> DocumentError:
    return DocumentError(f"says {name} = {quoted(value)}{expected}".replace("says  = ", "is "))


field_types = cache(lambda form: hints_of(form, include_extras=True))


def _key(field: Any) -> str:
    return str(field.metadata.get("key", field.name))
