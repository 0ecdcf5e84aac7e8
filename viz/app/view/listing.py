"""Calls of a view, each with its key in the cache and the Python that makes it again.

Code and key come from one walk over the arguments, so that neither has what the other lacks. User
input stands in the code as its `repr`, on one line: it ends no string and begins no line.
"""

import dataclasses
import re
from collections.abc import Callable, Hashable, Mapping
from operator import attrgetter
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import torch

from transformer import AttentionTrace, Translator
from transformer.config import EOS
from transformer.files import installed
from viz.app.cache import cached_results, memory
from viz.app.sentence.sentence_bar import Bar

WIDTH = 72  # characters of a line of code, before its arguments get a line each


class Written(NamedTuple):
    """A value as an expression of Python, and its key in the cache."""

    code: str
    key: Hashable


class Content(NamedTuple):
    """The content of a file, which only the code reads."""

    path: Path


class Listing:
    """The calls of one run of a view, with the sentence bar's model and trace."""

    def __init__(self, bar: Bar | None = None) -> None:
        self.bar = bar or Bar()
        self.values: dict[str, object] = {}
        """Results by name."""
        self._lines: list[str] = []
        self._imports: dict[str, str] = {}  # modules by the names that they provide
        # by identity; the values stay alive, so that no other one gets their identity
        self._known: dict[int, tuple[object, Written]] = {}

    def copy(self) -> "Listing":
        """Return a listing that knows the same values, and lists for itself alone."""
        listing = Listing(self.bar)
        listing.values, listing._lines = dict(self.values), [*self._lines]
        listing._imports, listing._known = dict(self._imports), dict(self._known)
        return listing

    def call(
        self, function: Callable[..., object], values: tuple[object, ...], named: dict[str, Any]
    ) -> Written:
        """Return the call of a function, by whose key its result is cached."""
        parts = [self._written(value) for value in values]
        parts += [
            Written(f"{name}={written.code}", (name, written.key))
            for name, written in ((name, self._written(value)) for name, value in named.items())
        ]
        head = self._written(function)
        code = _bracketed(f"{head.code}(", [part.code for part in parts], ")")
        return Written(code, (head.key, *(part.key for part in parts)))

    def part(self, values: object, index: object) -> Written:
        """Return the expression of a part."""
        whole, at = self._written(values), self._written(index)
        code = at.code[1:-1] if isinstance(index, tuple) else at.code
        return Written(f"{whole.code}[{code}]", (whole.key, at.key))

    def add(self, name: str, call: Written, result: object) -> None:
        """List a call, whose result has this name from now on, as have its fields."""
        if name in self.values or name in self._imports:
            raise ValueError(f"The code under the view has two things named {name!r}.")
        self.values[name] = result
        self._lines.append(f"{name} = {call.code}")
        self._know_whole(result, Written(name, call.key))

    def add_call(self, call: Written) -> None:
        """List a call whose result has no name."""
        self._lines.append(call.code)

    def add_model(self, name: str, offered: str, translator: Translator) -> None:
        """List a model, named as in the menu of models."""
        if id(translator) in self._known:
            return
        self._import("headlight", "Translator")
        self._lines.append(f"{name} = {load_call(offered)}")
        key = cached_results.identity(translator)
        for part in ("", ".model", ".model.config", ".target_tokenizer"):
            known = attrgetter(part[1:])(translator) if part else translator
            self._know(known, Written(f"{name}{part}", (part, key)))

    def source(self) -> str:
        """Return the program of all calls, with what they import."""
        used = set(re.findall(r"\w+", "\n".join(self._lines)))  # a call may not have been listed
        names: dict[str, list[str]] = {}
        for name, module in self._imports.items():
            if name in used:
                names.setdefault(module, []).append(name)
        imports = [
            f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)
        ]
        return "\n".join([*imports, "", *self._lines])

    def _know_whole(self, value: object, written: Written) -> None:
        """Know a value and all its fields."""
        self._know(value, written)
        for field in _fields(value):
            part = Written(f"{written.code}.{field}", (written.key, field))
            self._know_whole(getattr(value, field), part)

    def _know(self, value: object, written: Written) -> Written:
        # the same number or word can come from elsewhere
        if not isinstance(value, int | float | str | None):
            self._known.setdefault(id(value), (value, written))
        return written

    def _written(self, value: object) -> Written:
        if id(value) in self._known:
            return self._known[id(value)][1]
        match value:
            case None | bool() | int() | float() | str():
                return Written(repr(value), (type(value).__name__, value))
            case np.generic():
                return self._written(value.item())
            case range():
                return Written(repr(value).replace("(0, ", "("), value)
            case Translator() | torch.nn.Module() | AttentionTrace():
                return self._bar_value(value)
            case Path():
                return self._path(value)
            case Content():
                path = self._path(value.path)
                code = path.code if path.code.startswith("Path(") else f"({path.code})"
                return Written(f"{code}.read_bytes()", path.key)
            case list() | tuple() if not _fields(value):
                parts = [self._written(part) for part in value]
                end = ",)" if isinstance(value, tuple) and len(parts) == 1 else ")"
                begin, end = ("[", "]") if isinstance(value, list) else ("(", end)
                code = _bracketed(begin, [part.code for part in parts], end)
                return Written(code, (begin, *(part.key for part in parts)))
            case Mapping():
                pairs = [(self._written(name), self._written(value[name])) for name in value]
                code = _bracketed("{", [f"{name.code}: {x.code}" for name, x in pairs], "}")
                return Written(code, ("{", *((name.key, x.key) for name, x in pairs)))
            case _ if fields := _fields(value):
                given = {name: getattr(value, name) for name in fields}
                usual = _defaults(type(value))
                given = {n: x for n, x in given.items() if n not in usual or usual[n] != x}
                return self.call(type(value), (), given)
            case _ if callable(value) and hasattr(value, "__qualname__"):
                return self._function(value)
        raise TypeError(f"A {type(value).__name__} in the call is not a result of `compute`.")

    def _function(self, function: Any) -> Written:
        owner = getattr(function, "__self__", None)
        if owner is not None:  # a method
            written = self._written(owner)
            name = function.__name__
            return Written(f"{written.code}.{name}", (written.key, name))
        name = self._import(function.__module__, function.__qualname__)
        # a class would be measured with all that it has
        return Written(
            name, (function.__module__, name) if isinstance(function, type) else function
        )

    def _import(self, module: str, name: str) -> str:
        if name in self.values or self._imports.setdefault(name, module) != module:
            raise ValueError(f"The code under the view has two things named {name!r}.")
        return name

    def _bar_value(self, value: object) -> Written:
        """Write the sentence bar's model or trace, or another trace of that model."""
        if (translator := self.bar.translator) is not None:
            self.add_model("translator", self.bar.model, translator)
        if isinstance(value, AttentionTrace):
            call = Written(trace_call(value, translator), ref(value))
            if (bar := self.bar.translation) is None or value is not bar.trace:
                return call
            self._lines.append(f"trace = {call.code}")
            self._know_whole(value, Written("trace", call.key))
        if id(value) not in self._known:
            raise TypeError("The call has a model that is not the sentence bar's.")
        return self._known[id(value)][1]

    def _path(self, path: Path) -> Written:
        if path.is_relative_to(installed.ASSETS):
            name = self._import("transformer.files.installed", "ASSETS")
            code = " / ".join([name, *map(repr, path.relative_to(installed.ASSETS).parts)])
        elif (model := self.bar.translator) and path.is_relative_to(model.folder):
            folder = f"{self._written(model).code}.folder"
            parts = path.relative_to(model.folder).parts
            code = " / ".join([folder, *map(repr, parts)])
        else:  # whose folder is the server's
            code = f"{self._import('pathlib', 'Path')}({path.name!r})"
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        return Written(code, (path, *((file, memory.state_of_file(file)) for file in files)))


def _fields(value: object) -> tuple[str, ...]:
    """Return the names of the fields of a record; none for anything else."""
    if isinstance(value, type):
        return ()
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    return tuple(getattr(value, "_fields", ())) if isinstance(value, tuple) else ()


def _defaults(record: Any) -> dict[str, object]:
    if dataclasses.is_dataclass(record):
        return {field.name: field.default for field in dataclasses.fields(record)}
    return dict(record._field_defaults)


def _bracketed(begin: str, parts: list[str], end: str) -> str:
    """Put parts between brackets: on one line where they fit, else on one each."""
    line = f"{begin}{', '.join(parts)}{end}"
    is_short = len(line) <= WIDTH and "\n" not in line
    if is_short or not parts or (len(parts) == 1 and parts[0][0] in "[{"):
        return line
    return "\n".join([begin, *(indent(f"{part},", "    ") for part in parts), end.lstrip(",")])


def load_call(model: str) -> str:
    """Return the call that loads a model, named as in the menu of models."""
    is_default = model == next(iter(installed.BUNDLED_BY_NAME))
    return f"Translator.load({'' if is_default else repr(model)})"


def trace_call(trace: AttentionTrace, translator: Translator | None = None) -> str:
    """Return the call that traces a sentence and its translation."""
    return f"translator.trace({trace.source!r}, target={trace_target(trace, translator)!r})"


def trace_target(trace: AttentionTrace, translator: Translator | None) -> str | list[str]:
    """Return the translation of a trace, as text if it has its pieces."""
    if translator and trace.target:
        read = translator.target_tokenizer.pieces(" ".join(trace.target.split()))
        if [*(piece.id for piece in read), EOS] == [piece.id for piece in trace.target_pieces]:
            return trace.target
    return [piece.text for piece in trace.target_pieces]
