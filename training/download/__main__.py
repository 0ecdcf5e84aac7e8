"""headlight download: public parallel text as train.en, train.de and their like."""

import argparse
import filecmp
import gzip
import os
import random
import shutil
import sys
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import pooch
import requests

from training.data import corpus, text_folders
from training.download.sources import SOURCES, Archive, Source, Text
from transformer.cli import arguments, command, startup
from transformer.errors import HeadlightError, writing
from transformer.files import atomic

_HELD_OUT_SEED = 1

Pair: TypeAlias = tuple[str, str]

# pooch's processor for an ending, and what it appends to the name of what it unpacks
_PROCESSORS: dict[str, tuple[Callable[..., Any], str]] = {
    ".gz": (pooch.Decompress, ".decomp"),
    ".zip": (pooch.Unzip, ".unzip"),
    ".tgz": (pooch.Untar, ".untar"),
    ".tar": (pooch.Untar, ".untar"),
}
_DAMAGED = (gzip.BadGzipFile, zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError)
ARCHIVES = "archives"
RETRIES, TIMEOUT = 3, 30  # further attempts, and seconds without a byte


class DownloadError(HeadlightError):
    """A file that cannot be downloaded, or does not hold what it should."""


def _run(options: argparse.Namespace) -> int:
    source = next(source for source in SOURCES if source.name == options.name)
    advice = "Make room, or choose another --out, and run the same command again."
    try:
        with writing(options.out, DownloadError, advice):
            counts = _download(source, options.out, options.mirror)
    except KeyboardInterrupt:
        command.say("Stopped. Complete files are kept: run the same command again.")
        return startup.INTERRUPTED
    for split, count in counts.items():
        print(f"{options.out / split}.en and .{source.language}: {count:,} pairs")
    print(f"Licence: {source.licence}.\nCite: {source.citation}")
    return 0


def _download(source: Source, out: Path, mirror: str | None) -> dict[str, int]:
    """Download, check and unpack what is missing; return how many pairs each split has."""
    with atomic.new_folder(out / ARCHIVES) as archives:
        there = any((archives / archive.name).exists() for archive in source.archives)
        if (out / "train.en").exists() and not there:
            raise DownloadError(
                f"{out} holds a train.en already that is not {source.name}: choose another --out."
            )
        for archive in source.archives:
            url = f"{mirror}/{source.name}/{archive.name}" if mirror else archive.url
            _fetch(archive, url, archives, source)
        return _write_splits(source, archives, out)


def _fetch(archive: Archive, url: str, folder: Path, source: Source) -> None:
    """Download an archive unless it is there, check it, and unpack what is needed of it."""
    # an unpacking that was stopped leaves a part, which pooch takes for all
    _remove_unpacked(folder, archive.name)
    pooch.get_logger().setLevel("WARNING")
    wheres = [where for text in source.texts for where in (text.english, text.other)]
    members = [w.partition("/")[2] for w in wheres if w.startswith(f"{archive.name}/")]
    processor = _PROCESSORS[Path(archive.name).suffix][0]
    try:
        pooch.create(
            path=folder,
            base_url="",
            registry={archive.name: archive.sha256},
            urls={archive.name: url},
            retry_if_failed=RETRIES,
        ).fetch(
            archive.name,
            processor=processor(members=members) if members else processor(),
            downloader=pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT),
        )
    except requests.RequestException as error:
        raise DownloadError(f"{url} cannot be downloaded: {_reason(error)}.") from error
    except _DAMAGED as error:
        raise _removed(folder, archive.name, f"is damaged ({error})") from error
    except ValueError as error:  # pooch's, of a checksum
        raise DownloadError(
            f"{url} does not have the SHA-256 that was published: run the same command again, or "
            f"ask its maintainer."
        ) from error


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"nothing came for {TIMEOUT} s; try again later"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached; connect to a network, or name a --mirror"
    return "the connection ended too early; try again later"


def _removed(folder: Path, name: str, problem: str) -> DownloadError:
    """Remove an archive that is not as expected, with its content, and return the error."""
    _remove_unpacked(folder, name)
    (folder / name).unlink()
    return DownloadError(f"{folder / name} {problem} and was removed: run the same command again.")


def _remove_unpacked(folder: Path, name: str) -> None:
    unpacked = _unpacked(folder, name)
    if unpacked.is_dir():
        shutil.rmtree(unpacked)
    unpacked.unlink(missing_ok=True)


def _unpacked(folder: Path, where: str) -> Path:
    """Return where pooch puts an unpacked archive or, behind a slash, a file inside it."""
    name, _, member = where.partition("/")
    return folder / f"{name}{_PROCESSORS[Path(name).suffix][1]}" / member


def _write_splits(source: Source, archives: Path, out: Path) -> dict[str, int]:
    """Write every split; the files get their names together, when all are complete."""
    splits: dict[str, Iterable[Pair]] = {}
    for text in source.texts:
        splits[text.split] = chain(splits.get(text.split, ()), _pairs(text, archives))
    if source.held_out:
        splits |= _hold_out(list(splits["train"]), source.held_out)
    codes = text_folders.SOURCE, source.language
    with atomic.temporary_folder(out) as work:
        counts = {
            split: _write_split([work / f"{split}.{code}" for code in codes], pairs)
            for split, pairs in splits.items()
        }
        for new in work.iterdir():
            final = out / new.name
            if os.path.lexists(final) and not (final.is_file() and filecmp.cmp(new, final, False)):
                raise DownloadError(
                    f"{final} is there with another content: move it away, or choose another --out."
                )
        for new in list(work.iterdir()):
            new.replace(out / new.name)
    return counts


def _write_split(files: Sequence[Path], pairs: Iterable[Pair]) -> int:
    count = 0
    with (
        files[0].open("w", encoding="utf-8", newline="\n") as english,
        files[1].open("w", encoding="utf-8", newline="\n") as other,
    ):
        for count, pair in enumerate(pairs, start=1):  # noqa: B007
            english.write(pair[0] + "\n")
            other.write(pair[1] + "\n")
    return count


def _pairs(text: Text, archives: Path) -> Iterator[Pair]:
    """Yield the pairs of one text; those with an empty side are left out."""
    count = 0
    try:
        for english, other in _rows(text, archives):
            if english and other:
                count += 1
                yield english, other
    except ValueError as error:  # of zip
        raise DownloadError(
            f"{text.english} and {text.other} differ in length: delete {archives} and run the "
            f"same command again."
        ) from error
    if not count or text.pairs not in (None, count):
        expected = "some" if text.pairs is None else f"{text.pairs:,}"
        raise DownloadError(
            f"{text.english} has {count:,} sentence pairs for {text.split}, but {expected} were "
            f"expected: delete {archives} and run the same command again."
        )


def _rows(text: Text, archives: Path) -> Iterator[Pair]:
    if text.english == text.other:
        for line in _lines(archives, text.english):
            columns = line.split("\t")
            if len(columns) > 1:
                yield _clean(columns[0]), _clean(columns[1])
    else:
        sides = (_lines(archives, text.english), _lines(archives, text.other))
        yield from zip(*(map(_clean, side) for side in sides), strict=True)


def _lines(archives: Path, where: str) -> Iterator[str]:
    name, _, member = where.partition("/")
    path = _unpacked(archives, where)
    if not path.exists():
        raise _removed(archives, name, f"does not hold {member}")
    try:
        yield from chain.from_iterable(corpus.line_chunks(path, corpus.MAX_STREAM_BYTES))
    except corpus.CorpusError as error:
        raise _removed(archives, name, "is not UTF-8 with one sentence a line") from error


def _clean(sentence: str) -> str:
    return unicodedata.normalize("NFC", sentence).strip()


def _hold_out(pairs: list[Pair], count: int) -> dict[str, Iterable[Pair]]:
    """Split off validation pairs; no sentence of a language is on both sides of the split."""
    chosen = random.Random(_HELD_OUT_SEED).sample(range(len(pairs)), min(count, len(pairs) // 10))
    held_out = [pairs[row] for row in sorted(chosen)]
    english, other = ({pair[side] for pair in held_out} for side in (0, 1))
    train = [pair for pair in pairs if pair[0] not in english and pair[1] not in other]
    return {"train": train, "valid": held_out}


def _parser() -> arguments.Parser:
    parser = arguments.Parser(
        prog="headlight download",
        description="Download public text, English with German or (wmt14-fr) with French. Complete "
        "files stay: an interrupted download resumes with the first missing file.",
    )
    parser.add_argument("name", choices=[source.name for source in SOURCES])
    parser.add_argument("--out", type=Path, required=True, help="folder for all files")
    parser.add_argument(
        "--mirror", type=address, metavar="URL",
        help="download from URL/multi30k/train.en.gz and so on, not from the public addresses",
    )  # fmt: skip
    return parser


def address(text: str) -> str:
    """Parse the address of a folder on a server, such as https://example.org/texts."""
    parts = urlsplit(text)
    (parts.hostname or "").encode("idna")  # a part of it that is empty or too long is not a name
    requests.Request("GET", text).prepare()
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment or parts.port == 0:
        raise ValueError("no address of a folder")
    return text.rstrip("/")


main = command.main(_parser, _run)
