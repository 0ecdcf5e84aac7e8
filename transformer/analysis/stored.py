"""Figures of a checkpoint with their intervals, stored beside it as JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from transformer.checkpoints import checkpoint, marian
from transformer.checkpoints.marian.weights import MAX_BYTES, weights_file
from transformer.errors import CheckpointError, reading
from transformer.files.documents import Count, from_json, parse_json
from transformer.files.reading import MIB, read_bytes, sha256_of

MAX_REPORT_BYTES = 16 * MIB


class Figure(NamedTuple):
    """One figure with its 95 % bootstrap interval over the sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Report:
    """Figures of one checkpoint."""

    FORMAT: ClassVar[int]  # the only one that is read
    FILE: ClassVar[str]
    COMMAND: ClassVar[str]  # which writes such a file

    weights: str  # SHA-256 of the weights that were measured
    sentences: Count  # the number of sentences that were measured
    left_out: Count  # those that could not be, such as empty or too long ones


AnyReport = TypeVar("AnyReport", bound=Report)


def read_report(
    folder: Path, form: type[AnyReport], require: Callable[[AnyReport], None]
) -> AnyReport | None:
    """Read the report beside a checkpoint, if any; `require` raises ValueError on what is wrong."""
    path, again = folder / form.FILE, f"run {form.COMMAND} again."
    if not path.exists():
        return None
    try:
        with reading(path):
            values = parse_json(read_bytes(path, MAX_REPORT_BYTES))
        report: AnyReport = from_json(form, values)
        if values.get("format") != form.FORMAT:
            raise ValueError("another format")
        require(report)
    except (ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is not a report that this version wrote: {again}") from error
    if checksum_of_weights(folder) != report.weights:
        raise CheckpointError(f"{path} was measured on other weights: {again}")
    return report


def checksum_of_weights(folder: Path) -> str:
    """Return the SHA-256 of a model's weights; for our own checkpoints, from the manifest."""
    try:
        if marian.is_marian(folder):
            return sha256_of(weights_file(folder), MAX_BYTES)
        manifest = parse_json(read_bytes(folder / checkpoint.MANIFEST, checkpoint.MAX_JSON_BYTES))
        return str(manifest["sha256"][checkpoint.WEIGHTS])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{folder} has no Headlight manifest: copy the folder again."
        ) from error
