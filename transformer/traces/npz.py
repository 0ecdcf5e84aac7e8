"""A trace as an NPZ file: the arrays as NumPy has them, everything else as one text of JSON."""

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from transformer import errors, kinds
from transformer.arrays import Singles
from transformer.files import atomic, reading
from transformer.files.documents import parse_json
from transformer.text import languages, special_tokens
from transformer.text.tokenizer import Piece
from transformer.traces.fields import MAX_HEADS, MAX_LAYERS, TraceFields

# what NumPy, zipfile and json raise on a file that is cut, damaged or of another format
_FORMAT_ERRORS = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
)


def write(trace: TraceFields, path: str | Path) -> None:
    """Write a trace to an NPZ file; see `AttentionTrace.save`."""
    read_pieces = trace.read_pieces
    words = {
        "source": trace.source,
        "target": trace.target,
        "source_pieces": _rows(trace.source_pieces),
        "target_pieces": _rows(trace.target_pieces),
        "read_pieces": None if read_pieces is None else _rows(read_pieces),
        "languages": [trace.languages.source, trace.languages.target, [*trace.languages.codes]],
        "head_counts": {kind: [*counts] for kind, counts in trace.head_counts.items()},
        "special": [sorted(trace.special.tokens), sorted(trace.special.ends)],
        "causal": trace.causal,
        "second_start": trace.second_start,
        "notes": [*trace.notes],
    }
    arrays: dict[str, Any] = {kind: trace.weights(kind) for kind in kinds.KINDS}
    packed = io.BytesIO()
    np.savez_compressed(
        packed, **arrays, log_probs=trace.log_probs, words=np.array(json.dumps(words))
    )
    atomic.write_file(Path(path), packed.getvalue())


def read(path: str | Path, *, max_bytes: int) -> TraceFields:
    """Read a trace from an NPZ file; see `AttentionTrace.load`."""
    path = Path(path)
    try:
        arrays = read_arrays(path, (*kinds.KINDS, "log_probs", "words"), max_bytes=max_bytes)
        words = parse_json(str(arrays.pop("words")))
        (source, target, codes), read_pieces = words["languages"], words["read_pieces"]
        counts = {kind: words["head_counts"].get(kind) for kind in kinds.KINDS}
        fields = TraceFields(
            source=words["source"],
            target=words["target"],
            source_pieces=_pieces(words["source_pieces"]),
            target_pieces=_pieces(words["target_pieces"]),
            encoder_self=arrays["encoder_self"],
            decoder_self=arrays["decoder_self"],
            cross=arrays["cross"],
            log_probs=arrays["log_probs"],
            languages=languages.Languages(source, target, tuple(codes)),
            read_pieces=None if read_pieces is None else _pieces(read_pieces),
            head_counts={
                kind: tuple(map(int, count)) for kind, count in counts.items() if count is not None
            },
            special=special_tokens.SpecialTokens(*map(frozenset, words["special"])),
            causal=words["causal"],
            second_start=words["second_start"],
            notes=tuple(words["notes"]),
        )
        _require_consistent(fields)
        return fields
    except OSError as error:
        raise errors.CheckpointError(errors.unreadable(error, path)) from error
    except TooLargeError as error:
        raise errors.CheckpointError(f"{path} cannot be read: {error}.") from error
    except _FORMAT_ERRORS as error:
        raise errors.CheckpointError(f"{path} is not a trace that was saved here.") from error


def _require_consistent(trace: TraceFields) -> None:
    """Raise ValueError unless each array has the shape that the pieces give it, and numbers."""
    tokens = (*trace.source_tokens, *trace.target_tokens, *trace.decoder_tokens)
    known = (trace.languages.source, trace.languages.target, *trace.languages.codes)
    special = (*trace.special.tokens, *trace.special.ends)
    "".join((trace.source, trace.target, *tokens, *known, *special, *trace.notes)).encode()
    source = len(trace.source_pieces)
    sides = {len(pieces) for pieces in (trace.target_pieces, trace.decoder_pieces) if pieces}
    if len(sides) > 1 or not trace.kinds:
        raise ValueError("the two sequences of the decoder differ, or there is no weight")
    if "decoder_self" in trace.kinds and not trace.reads_known:
        raise ValueError("the rows of decoder_self have no tokens")
    target = max(sides, default=0)
    for kind in kinds.KINDS:
        weights, shape = trace.weights(kind), kinds.axes(kind, source, target)
        if weights.ndim != 4 or weights.shape[2:] != shape:
            raise ValueError(f"{kind} is of {weights.shape}, not of {shape}")
        _require_numbers(weights, kind)
        if kind in trace.kinds:
            if len(weights) > MAX_LAYERS or weights.shape[1] > MAX_HEADS:
                raise ValueError(f"{kind} has more layers or heads than a trace can")
            counts = trace.head_count(kind)
            if not weights.size or len(counts) != len(weights) or max(counts) != weights.shape[1]:
                raise ValueError(f"{kind} has other heads than it says")
            if min(counts) < 0 or weights[~trace.existing_heads(kind)].any():
                raise ValueError(f"{kind} has fewer heads than none, or weights of none")
    if type(trace.causal) is not bool:
        raise ValueError("causal is neither true nor false")
    start = trace.second_start
    if start is not None and (type(start) is not int or not 0 < start < source):
        raise ValueError("the second text does not begin among the pieces")
    if len(trace.log_probs) not in (0, target):
        raise ValueError("the log-probabilities are not those of the pieces")
    _require_numbers(trace.log_probs, "log_probs")


def _require_numbers(array: Singles, name: str) -> None:
    if array.dtype != np.float32 or not np.isfinite(array).all():
        raise ValueError(f"{name} is {array.dtype}, or holds what is not a number")


def _rows(pieces: Sequence[Piece]) -> list[list[Any]]:
    return [[piece.id, piece.text, piece.word] for piece in pieces]


def _pieces(rows: list[list[Any]]) -> tuple[Piece, ...]:
    """Parse pieces from their JSON; raise TypeError or ValueError if they are invalid."""
    pieces = tuple(Piece(int(number), "" + text, int(word)) for number, text, word in rows)
    words = [piece.word for piece in pieces]
    if not set(words) <= set(range(len(words))) or words != sorted(words):
        raise ValueError("the words of the pieces are out of order")
    return pieces


_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class TooLargeError(ValueError):
    """An archive whose arrays together unpack to more than they may."""


def read_arrays(path: Path, names: Iterable[str], *, max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    """Read the named arrays, unpacked; `max_bytes` bounds the file, and all arrays together.

    Raises:
        OSError: if the file cannot be read, is not a regular file or is larger.
        TooLargeError: if it unpacks to more than `max_bytes`.
        ValueError: if it is damaged or holds other arrays; or another error of NumPy or zipfile.
    """
    with reading.open_bounded(path, max_bytes) as (file, _), zipfile.ZipFile(file) as archive:
        members = {name: archive.getinfo(f"{name}.npy") for name in names}
        # zipfile unpacks no more of a member than its entry says
        size = sum(member.file_size for member in members.values())
        if size > max_bytes:
            raise TooLargeError(f"it unpacks to {size:,} bytes, and up to {max_bytes:,} are read")
        return {name: _read(archive, member) for name, member in members.items()}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is packed in another way than NumPy packs")
    with archive.open(member) as file:
        _check_header(file, member.file_size)
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], size: int) -> None:
    """Refuse a header that asks for more than follows it: NumPy makes room for it first."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER:
        raise ValueError(f"format {version} of NPY is not read")
    try:
        shape, _, dtype = _HEADER[version](file)
    except (SyntaxError, TokenError, MemoryError) as error:  # it is parsed as Python
        raise ValueError("the header of an array is malformed") from error
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError("an array is not as large as its header says")
