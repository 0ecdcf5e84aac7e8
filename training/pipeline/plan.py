"""A plan as a TOML file: one table `[[part]]` for each part, in the order of their work."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from training.pipeline.parts import DIRECTIONS, KINDS, Part
from training.pipeline.place import FIRST, TEXT
from transformer.errors import ConfigError, quoted, unreadable
from transformer.reading import MIB, read_bytes

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
TAKEN = (TEXT, FIRST, "swapped", "done")
CHOICES = {"direction": DIRECTIONS, "side": ("source", "target")}


def load(path: Path) -> tuple[Part, ...]:
    """Read a plan.

    Raises:
        ConfigError: if it cannot be read, or a part is none that can be carried out.
    """
    try:
        document = tomllib.loads(read_bytes(path, MIB).decode("utf-8"))
    except OSError as error:
        raise ConfigError(unreadable(error, path)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error
    tables = document.pop("part", None)
    if document or not isinstance(tables, list) or not tables:
        raise ConfigError(f"{path} is no plan: write a table [[part]] for each part, and no other.")
    parts = tuple(_part(table) for table in tables)
    _refuse_wrong_order(parts)
    return parts


def _part(table: Any) -> Part:
    if not isinstance(table, dict):
        raise ConfigError(f"part = {quoted(table)} must be a table: write [[part]] above it.")
    values = dict(table)
    kind, name = values.pop("kind", None), values.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in TAKEN:
        raise ConfigError(
            f"A part has the name {quoted(name)}: give it one of small letters, digits and '-', "
            f"other than {', '.join(TAKEN)}."
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"Part {name}: kind = {quoted(kind)} must be one of {', '.join(KINDS)}.")
    fields = {field.name: field for field in dataclasses.fields(KINDS[kind])}
    if wrong := sorted(set(values) - set(fields)):
        raise ConfigError(
            f"Part {name}: a part of kind {kind} has no field {quoted(wrong[0])}; it has "
            f"{', '.join(fields)}."
        )
    for field in fields.values():
        if field.name in values:
            values[field.name] = _checked(name, field, values[field.name])
        elif field.default is MISSING:
            raise ConfigError(f"Part {name}: a part of kind {kind} needs {field.name}.")
    return KINDS[kind](**values)


def _checked(part: str, field: dataclasses.Field[Any], value: Any) -> Any:
    """The value of a field, if it is of its type."""
    shown = f"Part {part}: {field.name} = {quoted(value)}"
    if field.name in CHOICES and value not in CHOICES[field.name]:
        raise ConfigError(f"{shown} must be one of {', '.join(CHOICES[field.name])}.")
    if field.type == "str" and isinstance(value, str):
        return value
    if field.type == "tuple[str, ...]":
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise ConfigError(f"{shown} must be a list of texts.")
    if field.type == "int" and type(value) is int and 0 < value < 10**9:
        return value
    if field.type == "float" and type(value) in (int, float) and 0 < value < 10**5:
        return float(value)
    raise ConfigError(f"{shown} must be {'a text' if field.type == 'str' else 'a number above 0'}.")


def _refuse_wrong_order(parts: tuple[Part, ...]) -> None:
    """Raises ConfigError if two parts have one name, or one needs what no earlier part makes."""
    before: set[str] = set()
    for part in parts:
        if part.name in before:
            raise ConfigError(f"Two parts are called {part.name}: give each a name of its own.")
        if missing := sorted(set(part.needs()) - before):
            raise ConfigError(
                f"Part {part.name} needs {quoted(missing[0])}, which no part before it makes."
            )
        before.add(part.name)
