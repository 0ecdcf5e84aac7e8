"""Preparation of a text in stages that can be resumed: scan, vocabulary, encoding."""

import errno
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from tqdm import tqdm

from training.data import encoded_text
from training.data.corpus import (
    MOST_BYTES_OF_STREAM,
    CorpusError,
    ParallelText,
)
from training.data.encoded_text import EncodedFiles, encode_chunk, refuse_empty, stored_type
from training.data.manifest import (
    FileRecord,
    damaged,
    locked,
    read_manifest,
    record_files,
    verify_files,
    write_manifest,
)
from training.data.prepared import MANIFEST, TOKENIZER, VALIDATION, is_prepared, prepared_files
from training.data.scan import KEPT, Cleaning, Scan, drawn_lines, drawn_pairs, scan
from training.data.text_folders import DataFolder, Endings, read_validation_text
from transformer.errors import HeadlightError, unreadable
from transformer.files.atomic import (
    FolderKind,
    has_content,
    new_folder,
    refusal,
    remove_folder,
    remove_leftovers,
    replace_folder,
    write_file,
)
from transformer.files.reading import sha256_of
from transformer.text.languages import LANGUAGES
from transformer.text.tokenizer import Tokenizer

BEGUN, REASONS, PROGRESS = NOTES = ("begun.json", "reasons", "progress.json")
"""In an unfinished folder: the request with the records of files, what becomes of each pair, and
how far the encoding has come."""

_EMPTY = hashlib.sha256().hexdigest()


def unfinished_kind(endings: Endings) -> FolderKind:
    """Return the kind of folder that holds an unfinished text in two languages."""
    names = (*prepared_files(endings), MANIFEST, *NOTES)
    return FolderKind("prepared text", lambda _: dict.fromkeys(names))


@dataclass(frozen=True)
class Request:
    """Request for a prepared folder; the first folder of text also holds the validation text.

    The vocabulary is learnt on at most `sample_lines`, unless a tokenizer is given.
    """

    folders: tuple[DataFolder, ...]
    vocab_size: int
    max_pieces: int
    sample_lines: int
    cleaning: Cleaning = field(default_factory=Cleaning)
    tokenizer: Tokenizer | None = None

    def options(self) -> dict[str, Any]:
        """Return every option that the result depends on, beside the text itself."""
        vocabulary = (
            {"vocab_size": self.vocab_size, "sample_lines": self.sample_lines}
            if self.tokenizer is None
            else {"tokenizer": hashlib.sha256(self.tokenizer.model).hexdigest()}
        )
        weights = [folder.weight for folder in self.folders]
        options = {**asdict(self.cleaning), "max_pieces": self.max_pieces, "weights": weights}
        return options | vocabulary | self.endings.record()

    @property
    def endings(self) -> Endings:
        """The languages of all folders."""
        return self.folders[0].endings

    def checksums(self) -> dict[str, Any]:
        """Compute the SHA-256 of each file of training text."""
        digests = []
        for path in (path for folder in self.folders for path in folder.files().paths):
            try:
                digests.append(sha256_of(path, MOST_BYTES_OF_STREAM))
            except OSError as error:
                raise CorpusError(unreadable(error, path)) from error
        return {"text": digests}


def unfinished(out: Path) -> Path:
    """Return the path of the work until it is finished."""
    if not out.name:
        raise CorpusError(f"{out} cannot be what is written: give the new folder a name.")
    return out.with_name(out.name + ".unfinished")


def prepare(request: Request, out: Path) -> None:
    """Prepare a text, or go on where an earlier call with the same request was stopped.

    A refusal leaves nothing behind, and what was prepared before stays as it is.

    Raises:
        OSError: if something cannot be written; a later call goes on.
    """
    work = unfinished(out)
    _check_place(out, work)
    for folder in request.folders:
        if is_prepared(folder.path):
            raise CorpusError(f"{folder.path} is prepared already: give folders of text.")
    if is_prepared(out):
        _prepare(request, out, work)  # only looks: the folder around it may be read-only
        return
    lock = work.with_name(work.name + ".lock")
    busy = CorpusError(f"{work} is being prepared by another process: wait until it has finished.")
    with new_folder(out.parent), locked(lock, busy):
        remove_leftovers(work)
        if sentence := refusal(work, unfinished_kind(request.endings)):
            raise CorpusError(sentence)
        _prepare(request, out, work)


def _prepare(request: Request, out: Path, work: Path) -> None:
    """Prepare a text, or continue where an earlier call stopped; one process at a time."""
    begun = next((place for place in (out, work) if place.exists() and any(place.iterdir())), None)
    record = read_manifest(begun / (MANIFEST if is_prepared(begun) else BEGUN)) if begun else {}
    if begun:
        _refuse_another(begun, "options", record["asked"], request.options())
    validation = read_validation_text(request.folders[0].path, request.endings)
    lines = "\n".join(validation.source + validation.target).encode()
    texts = request.checksums() | {"validation text": hashlib.sha256(lines).hexdigest()}
    if begun:
        _refuse_another(begun, "texts", record["asked"], texts)
        verify_files(begun, record["files"])
    if begun == out:
        print(f"{out} is prepared already, with these options and from this text.")
        return
    if not begun:
        _begin(request, texts, validation, work)
    _continue(request, work)
    _finish(work, out)


def _check_place(out: Path, work: Path) -> None:
    """Refuse a folder that holds anything but what was prepared there, finished or not.

    Raises:
        OSError: if it cannot be written.
    """
    for place, markers in ((out, (MANIFEST,)), (work, (MANIFEST, BEGUN))):
        taken = any(place.iterdir()) if place.is_dir() else os.path.lexists(place)
        if taken and not any((place / name).is_file() for name in markers):
            raise CorpusError(f"{place} is there and holds no prepared text: choose another --out.")
    lock = work.with_name(work.name + ".lock")
    if os.path.lexists(lock) and not has_content(lock, _EMPTY):
        raise CorpusError(f"{lock} is there and is no lock of ours: choose another --out.")
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))


def _refuse_another(
    folder: Path, name: str, request: Mapping[str, Any], asked: Mapping[str, Any]
) -> None:
    """Raise CorpusError if the `options` or `texts` are not those that a folder was begun with."""
    begun = request[name]
    advice = (
        "choose another --out"
        if is_prepared(folder)
        else "give what it was begun with to go on, or remove it to begin anew"
    )
    for key in sorted(begun.keys() | asked.keys()):
        another = "other" if key == LANGUAGES else "another"
        if begun.get(key) != asked.get(key):
            raise CorpusError(
                f"{folder} was prepared from another {key}: {advice}."
                if name == "texts"
                else f"{folder} was prepared with {another} {key}: {advice}."
            )


def _begin(request: Request, texts: dict[str, Any], validation: ParallelText, work: Path) -> None:
    """Look at all of the text, and make the folder with what is then known."""
    scanned = scan(request.folders, request.cleaning)
    with replace_folder(work, unfinished_kind(request.endings)) as new:
        (new / REASONS).write_bytes(scanned.reasons.tobytes())
        sides = validation.source, validation.target
        for language, lines in zip(request.endings, sides, strict=True):
            text = "".join(f"{line}\n" for line in lines)
            (new / f"{VALIDATION}.{language}").write_bytes(text.encode())
        asked = {"options": request.options(), "texts": texts, "pairs": scanned.pairs}
        files = record_files(new, [path.name for path in new.iterdir()])
        write_manifest(new / BEGUN, {"asked": asked, "files": files})


def _continue(request: Request, work: Path) -> None:
    """Write what is missing: the vocabulary, the pieces, the manifest."""
    if is_prepared(work):
        return
    begun = read_manifest(work / BEGUN)
    asked, files = begun["asked"], begun["files"]
    scanned = Scan(tuple(asked["pairs"]), np.fromfile(work / REASONS, np.uint8))
    dropped = scanned.dropped(request.cleaning)
    total = f"{len(scanned.reasons):,} pairs in {len(scanned.pairs)} folder(s)"
    counts = [f"{count:,} {name}" for name, count in dropped.items()]
    print(f"{total}; dropped: {', '.join(counts)}." if counts else f"{total}.")
    if TOKENIZER not in files:  # what a kill has left of it has no record
        with _removed_if_refused(work, request.endings):
            vocabulary = _vocabulary(request, scanned)
        write_file(work / TOKENIZER, vocabulary.model)
        files |= record_files(work, [TOKENIZER])
        write_manifest(work / BEGUN, {"asked": asked, "files": files})
    tokenizer = Tokenizer.load(work / TOKENIZER)
    progress = encode_into(work, request.folders, scanned, tokenizer, request.max_pieces)
    with _removed_if_refused(work, request.endings):
        refuse_empty(sum(progress.rows), request.max_pieces)
    files |= progress.files
    content = {
        "pieces": stored_type(tokenizer.vocab_size).name,
        "max_pieces": request.max_pieces,
        "left_out": progress.left_out,
        "parts": [
            {"rows": rows, "weight": folder.weight}
            for rows, folder in zip(progress.rows, request.folders, strict=True)
        ],
        "files": {name: files[name] for name in prepared_files(request.endings)},
        "asked": asked,
        "dropped": dropped,
    }
    write_manifest(work / MANIFEST, content)


@contextmanager
def _removed_if_refused(work: Path, endings: Endings) -> Iterator[None]:
    """Remove the work if its block finds that it can lead to nothing; a context manager."""
    try:
        yield
    except HeadlightError:
        remove_folder(work, unfinished_kind(endings))
        raise


def _vocabulary(request: Request, scanned: Scan) -> Tokenizer:
    if request.tokenizer is not None:
        return request.tokenizer
    drawn = drawn_pairs(scanned, request.sample_lines)
    if not drawn.any():
        raise CorpusError(
            f"All {len(drawn):,} pairs are dropped: allow more words or a higher ratio."
        )
    print(
        f"Learning a vocabulary of {request.vocab_size:,} pieces from "
        f"{2 * int(drawn.sum()):,} of {2 * len(drawn):,} lines."
    )
    return Tokenizer.train(drawn_lines(request.folders, drawn), request.vocab_size)


def _finish(work: Path, out: Path) -> None:
    """Give the folder its name."""
    manifest = read_manifest(work / MANIFEST)
    for name in NOTES:
        (work / name).unlink(missing_ok=True)
    work.rename(out)  # also over an empty folder
    rows = sum(part["rows"] for part in manifest["parts"])
    print(
        f"{out} holds {rows:,} pairs; {manifest['left_out']:,} were left out as empty, "
        f"as tags of IWSLT, or with {manifest['max_pieces']:,} pieces and more."
    )


@dataclass(frozen=True)
class Progress:
    """Progress of the encoding: pairs that were read, with dropped ones; rows of each folder."""

    pairs: int
    rows: tuple[int, ...]
    left_out: int = 0
    files: Mapping[str, FileRecord] = field(default_factory=dict)


def encode_into(
    out: Path,
    folders: Sequence[DataFolder],
    scan: Scan,
    tokenizer: Tokenizer,
    max_pieces: int,
) -> Progress:
    """Write the files of `encoded_text` into a folder, or what is missing of them.

    What is written is recorded only afterwards; what stands behind it is cut off by the call that
    goes on, so that the files do not depend on where one was stopped.

    Raises:
        OSError: if the files cannot be written.
    """
    progress = _read(out, len(folders))
    print(f"Cutting {len(scan.reasons) - progress.pairs:,} pairs into pieces.")
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(_opened(out / name, progress.files.get(name)))
            for name in encoded_text.NAMES
        }
        written = EncodedFiles(files, stored_type(tokenizer.vocab_size))
        for name, record in written.records().items():
            if record != progress.files.get(name, record):
                raise damaged(out / name)
        bar = stack.enter_context(
            tqdm(
                total=len(scan.reasons), initial=progress.pairs, desc="pieces", unit=" pairs",
                unit_scale=True, disable=None,
            )
        )  # fmt: skip
        for folder, pairs in _remaining(folders, scan, progress.pairs):
            mask = scan.reasons[progress.pairs : progress.pairs + len(pairs)] == KEPT
            chosen = ParallelText(
                list(compress(pairs.source, mask)), list(compress(pairs.target, mask))
            )
            lines = np.flatnonzero(mask) + progress.pairs
            chunk = encode_chunk(chosen, (tokenizer, tokenizer), max_pieces, lines)
            written.append(chunk)
            written.sync()
            rows = list(progress.rows)
            rows[folder] += len(chunk)
            progress = Progress(
                progress.pairs + len(pairs),
                tuple(rows),
                progress.left_out + chunk.left_out,
                written.records(),
            )
            write_manifest(out / PROGRESS, asdict(progress))
            bar.update(len(pairs))
    return progress


def _remaining(
    folders: Sequence[DataFolder], scan: Scan, done: int
) -> Iterator[tuple[int, ParallelText]]:
    """Yield folder numbers and chunks of pairs after the first `done` pairs of all folders."""
    first = 0
    for number, (folder, pairs) in enumerate(zip(folders, scan.pairs, strict=True)):
        if done >= first + pairs:
            first += pairs
            continue
        for chunk in folder.files().chunks():
            skipped = max(0, done - first)
            first += len(chunk)
            if skipped < len(chunk):
                yield number, ParallelText(chunk.source[skipped:], chunk.target[skipped:])


def _read(out: Path, folders: int) -> Progress:
    path = out / PROGRESS
    if not path.exists():
        return Progress(0, (0,) * folders)
    content = read_manifest(path)
    del content["version"]
    progress = Progress(**content)
    return replace(progress, rows=tuple(progress.rows))


def _opened(path: Path, record: FileRecord | None) -> BinaryIO:
    """Open a file for reading and writing, and cut it to the size that was recorded."""
    size = record["bytes"] if record else 0
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
    if file.seek(0, os.SEEK_END) < size:
        file.close()
        raise damaged(path)
    file.truncate(size)
    return file
