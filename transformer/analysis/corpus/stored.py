"""Figures of a checkpoint with their intervals, stored beside it as JSON."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_origin
from typing import get_type_hints as hints_of

from transformer.checkpoints.checkpoint import MANIFEST, MAX_JSON_BYTES, WEIGHTS
from transformer.checkpoints.marian import is_marian
from transformer.checkpoints.marian.weights import MAX_BYTES, weights_files
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.files.reading import read_bytes, sha256_of

MAX_CHARACTERS = 2**16
"""Largest length of a text in such a file."""

Count: TypeAlias = Annotated[int, "from 0"]


class Figure(NamedTuple):
    """One figure with its 95 % bootstrap interval over the sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Report:
    """Figures of one checkpoint."""

    weights: str  # SHA-256 of the weights that were measured
    sentences: Count  # the number of sentences that were measured
    left_out: Count  # those that could not be, such as empty or too long ones


AnyReport = TypeVar("AnyReport", bound=Report)


def read_report(
    path: Path,
    form: type[AnyReport],
    version: int,
    require: Callable[[AnyReport], None],
    measure: str,
    at_most: int,
) -> AnyReport | None:
    """Read the report beside a checkpoint; None where there is none.

    `version` is the only format that is read, `require` raises ValueError on what cannot be used,
    `measure` is the command that writes such a file, and `at_most` the bytes that it may have.
    """
    if not path.exists():
        return None
    try:
        values = json.loads(read_bytes(path, at_most))
        if values["format"] != version:
            raise ValueError(f"format {quoted(values['format'])}")
        report: AnyReport = from_json(form, values)
        require(report)
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise CheckpointError(
            f"{path} is no report that this version wrote: run {measure} again."
        ) from error
    if checksum_of_weights(path.parent) != report.weights:
        raise CheckpointError(f"{path} was measured on other weights: run {measure} again.")
    return report


def checksum_of_weights(folder: Path) -> str:
    """Return the SHA-256 of a model's weights; for our own checkpoints, from the manifest."""
    try:
        if is_marian(folder):
            return "".join(sha256_of(path, MAX_BYTES) for path in weights_files(folder))
        manifest = json.loads(read_bytes(folder / MANIFEST, MAX_JSON_BYTES))
        return str(manifest["sha256"][WEIGHTS])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(
            f"{folder} has no manifest of ours: copy the folder again."
        ) from error


def to_json(value: Any) -> Any:
    """Convert data classes and tuples to what JSON has, numbers to six digits."""
    if is_dataclass(value):
        return {_key(field): to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def from_json(form: Any, value: Any) -> Any:
    """Check a value, and convert it to the type that `to_json` converted.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: if it is no such value.
    """
    arguments = get_args(form)
    if isinstance(form, type) and is_dataclass(form):
        hints = _hints(form)
        items = {field.name: (hints[field.name], value[_key(field)]) for field in fields(form)}
        return form(**{name: from_json(*item) for name, item in items.items()})
    if get_origin(form) is Mapping:
        key, item = arguments
        return {from_json(key, name): from_json(item, inner) for name, inner in value.items()}
    if get_origin(form) is tuple:
        return tuple(from_json(arguments[0], item) for item in value)
    if isinstance(form, type) and issubclass(form, tuple):
        return form(*(from_json(*item) for item in zip(_hints(form).values(), value, strict=True)))
    if form in _CHECKS:
        return _CHECKS[form](value)
    return arguments[arguments.index(value)]  # of a Literal


_hints = cache(lambda form: hints_of(form, include_extras=True))


def _key(field: Any) -> str:
    return str(field.metadata.get("key", field.name))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**31:
        raise ValueError("no whole number of bounded size")
    return value


def _count(value: Any) -> int:
    if _whole(value) < 0:
        raise ValueError("no count")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise ValueError("no text of bounded length")
    value.encode()  # no half of a character, which no screen can show
    return value


_CHECKS: dict[Any, Callable[[Any], Any]] = {
    float: _number,
    int: _whole,
    Count: _count,
    str: _text,
    bool: lambda value: value is True,
}
