"""A file of measured lines: arrays as safetensors, with their texts as JSON beside them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from transformer import errors, kinds
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.stored import checksum_of_weights
from transformer.config import BOS, PAD
from transformer.corpus import measured, measuring
from transformer.corpus.corpus_roles import MAX_OFFSET, measures_of
from transformer.files import reading
from transformer.files.documents import from_json, parse_json
from transformer.translator import Translator

FORMAT = 1
FILE = "corpus.safetensors"
MAX_BYTES = 192 * reading.MIB
"""Largest size of a file, in bytes: 10,000 lines of a model with 144 heads take some 110 MiB."""
MAX_TEXT_BYTES = 16 * reading.MIB
"""Largest size of the header, which has the texts: 10,000 lines have some 4 MiB."""
MAX_JSON_TOKENS = 500_000
"""Commas and brackets of the header, at most: as many values are parsed, while nobody is served."""
MAX_NUMBER = 10**6  # number of a line, at most
MEASURED_AGAIN = 3  # lines that are scored once more when a file is read
NATS = 0.01  # difference per subword up to which a line that is scored again is the same

DAMAGED = "This is not a file of measured lines, or a part of it is missing: write it again."


class LineText(NamedTuple):
    """The text of a line."""

    number: int
    source: str
    target: str
    reference: str


@dataclass(frozen=True)
class Header:
    """All of a file but its arrays."""

    format: int
    checksum: str
    heads: tuple[Head, ...]
    pairs: tuple[LineText, ...]
    left_out: tuple[measured.LeftOut, ...]


def to_bytes(lines: measured.MeasuredLines) -> bytes:
    """Write measured lines as the content of a file."""
    arrays: dict[str, np.ndarray] = {
        "offset_counts": lines.offset_counts,
        **{f"rows/{kind}": rows for kind, rows in lines.rows.items()},
        **{f"head/{name}": values for name, values in lines.head_values.items()},
        **{f"sentence/{name}": values for name, values in lines.sentence_values.items()},
    }
    for side in ("source", "target"):
        ids = [getattr(pair, f"{side}_ids") for pair in lines.pairs]
        arrays[f"{side}/ids"] = np.array([token for row in ids for token in row], np.int32)
        arrays[f"{side}/lengths"] = np.array([len(row) for row in ids], np.int32)
    texts = tuple(
        LineText(pair.number, pair.source, pair.target, pair.reference) for pair in lines.pairs
    )
    header = asdict(Header(FORMAT, lines.checksum, lines.heads, texts, lines.left_out))
    metadata = {"headlight": json.dumps(header, ensure_ascii=False)}
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return safetensors.numpy.save(contiguous, metadata)


def from_bytes(content: bytes, translator: Translator) -> measured.MeasuredLines:
    """Read measured lines of this model; some lines are scored again, and must agree."""
    lines = read_unchecked(content)
    if lines.checksum != checksum_of_weights(translator.folder):
        raise errors.InputError(
            "The file was measured on another model: open that model first, or measure the "
            "lines again."
        )
    config = translator.model.config
    source_size, size = config.source_vocab_size or config.vocab_size, config.vocab_size
    if lines.heads != tuple(all_heads(config)) or any(
        max(len(pair.source_ids), len(pair.target_ids)) > config.max_length
        or max(pair.source_ids) >= source_size
        or max(pair.target_ids) >= size
        for pair in lines.pairs
    ):
        raise errors.InputError(DAMAGED)
    count = len(lines)
    for row in {int(n) for n in np.linspace(0, count - 1, min(count, MEASURED_AGAIN))}:
        scored = float(measuring.trace_of(translator, lines.pairs[row]).log_probs.mean())
        stored = float(lines.sentence_values[measured.LOG_P][row])
        if not abs(scored - stored) <= NATS:
            raise errors.InputError(
                f"Line {lines.pairs[row].number:,} has log p {stored:.3f} per subword in the file, "
                f"and {scored:.3f} by this model: measure the lines again."
            )
    return lines


def read_lines(path: Path, translator: Translator) -> measured.MeasuredLines:
    """Read a file of measured lines of this model; see `from_bytes`."""
    with errors.reading(path, errors.InputError):
        content = reading.read_bytes(path, MAX_BYTES)
    return from_bytes(content, translator)


def read_unchecked(content: bytes) -> measured.MeasuredLines:
    """Read measured lines of any model, which nothing shows to be its own."""
    try:
        header: Header = from_json(Header, parse_json(_metadata(content)["headlight"]))
        if header.format == FORMAT:
            return _lines(header, safetensors.numpy.load(content))
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise errors.InputError(DAMAGED) from error
    raise errors.InputError(
        f"The file has format {header.format}, and this version reads {FORMAT}: measure the lines "
        f"again."
    )


def _metadata(content: bytes) -> Mapping[str, str]:
    size = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + min(size, MAX_TEXT_BYTES)]
    if len(header) < size or sum(map(header.count, (b",", b"[", b"{"))) > MAX_JSON_TOKENS:
        raise ValueError("a header that has no end, or too many values")
    return parse_json(header)["__metadata__"]


def _lines(header: Header, arrays: Mapping[str, np.ndarray]) -> measured.MeasuredLines:
    """Make measured lines of the parts of a file, or raise ValueError, KeyError or TypeError."""
    heads = header.heads
    if len(set(heads)) < len(heads) or any(min(head[1:]) < 0 for head in heads):
        raise ValueError("no heads of a model")
    count, numbers = len(header.pairs), {line.number for line in header.pairs}
    if not 1 <= min(numbers, default=0) <= max(numbers) <= MAX_NUMBER or len(numbers) < count:
        raise ValueError("no lines of a text")
    ids = {side: _split(arrays, side, count) for side in ("source", "target")}
    pairs = [
        measured.LinePair(line.number, line.source, line.target, source, target, line.reference)
        for line, source, target in zip(header.pairs, ids["source"], ids["target"], strict=True)
    ]
    head_values = {
        name: _array(arrays[f"head/{name}"], (count, len(heads)), np.float32)
        for name in measured.HEAD_MEASURES
        if f"head/{name}" in arrays
    }
    lines = measured.MeasuredLines(
        checksum=header.checksum,
        pairs=tuple(pairs),
        left_out=header.left_out,
        heads=heads,
        rows={kind: _array(arrays[f"rows/{kind}"], (count,), np.float64) for kind in kinds.KINDS},
        head_values=head_values,
        sentence_values={
            name: _array(arrays[f"sentence/{name}"], (count,), np.float64)
            for name in measured.SENTENCE_MEASURES
        },
        offset_counts=_array(arrays["offset_counts"], (len(heads), 2 * MAX_OFFSET + 1), np.int64),
    )
    required = measured.HEAD_MEASURES.keys() - {*measured.ON_DEMAND}
    if not required <= head_values.keys():
        raise ValueError("a measure is missing")
    for counts in (*lines.rows.values(), lines.subwords):
        if not ((counts >= 0) & (counts <= MAX_BYTES)).all() or not counts.any():
            raise ValueError("counts that are none")
    for column, head in enumerate(heads):
        names = measures_of(head.kind)
        if any(np.isnan(head_values[name][:, column]).any() for name in names):
            raise ValueError("a head without a measure")
    return lines


def _array(array: np.ndarray, shape: tuple[int, ...], dtype: type[np.generic]) -> np.ndarray:
    if array.shape != shape or array.dtype != dtype or np.isinf(array).any():
        raise ValueError("an array of another shape")
    return array


def _split(arrays: Mapping[str, np.ndarray], side: str, count: int) -> list[tuple[int, ...]]:
    lengths = _array(arrays[f"{side}/lengths"], (count,), np.int32)
    ids = _array(arrays[f"{side}/ids"], (int(lengths.sum()),), np.int32)
    if lengths.min() < 1:
        raise ValueError("lengths do not fit")
    if ids.min(initial=BOS) <= PAD:
        raise ValueError("a token that no sentence has")
    return [tuple(part.tolist()) for part in np.split(ids, np.cumsum(lengths)[:-1])]
