"""headlight download: public parallel text as train.en, train.de and their like."""

import argparse
import filecmp
import os
import random
import sys
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import pooch
import requests

from training.data import corpus, text_folders
from training.download.sources import SOURCES, Source, Text
from transformer.cli import arguments, command, startup
from transformer.errors import HeadlightError, writing
from transformer.files import atomic

_HELD_OUT_SEED = 1

Pair: TypeAlias = tuple[str, str]

_DAMAGED = (corpus.CorpusError, zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError)
ARCHIVES = "archives"
RETRIES, TIMEOUT = 3, 30  # further attempts, and seconds without a byte


class DownloadError(HeadlightError):
    """A file that cannot be downloaded, or does not hold what it should."""


def _run(options: argparse.Namespace) -> int:
    source = next(source for source in SOURCES if source.name == options.name)
    advice = "Make room, or choose another --out, and run the same command again."
    try:
        with writing(options.out, DownloadError, advice):
            counts = _download(source, options.out)
    except KeyboardInterrupt:
        command.say("Stopped. Complete files are kept: run the same command again.")
        return startup.INTERRUPTED
    for split, count in counts.items():
        print(f"{options.out / split}.en and .{source.language}: {count:,} pairs")
    print(f"Licence: {source.licence}.\nCite: {source.citation}")
    return 0


def _download(source: Source, out: Path) -> dict[str, int]:
    """Download and check what is missing, and write each split; return how many pairs it has."""
    with atomic.new_folder(out / ARCHIVES) as archives, atomic.temporary_folder(out) as work:
        there = any((archives / _name(url)).exists() for url in source.archives)
        if (out / "train.en").exists() and not there:
            raise DownloadError(
                f"{out} holds a train.en already that is not {source.name}: choose another --out."
            )
        for url, sha256 in source.archives.items():
            _fetch(url, sha256, archives)
        return _write_splits(source, archives, work, out)


def _name(url: str) -> str:
    return url.rpartition("/")[2]


def _fetch(url: str, sha256: str | None, archives: Path) -> None:
    """Download an archive unless it is there, and compare it with its checksum."""
    pooch.get_logger().setLevel("WARNING")
    name = _name(url)
    registry = pooch.create(
        path=archives, base_url="", registry={name: sha256}, urls={name: url},
        retry_if_failed=RETRIES,
    )  # fmt: skip
    bar = sys.stderr.isatty()
    try:
        registry.fetch(name, downloader=pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT))
    except requests.RequestException as error:
        reason = "the connection ended too early"
        if isinstance(error, requests.HTTPError) and error.response is not None:
            reason = f"the server answers {error.response.status_code} {error.response.reason}"
        elif isinstance(error, (requests.Timeout, requests.ConnectionError)):
            reason = "the server cannot be reached"
        raise DownloadError(
            f"{url} cannot be downloaded: {reason}; try again later, or put the file into "
            f"{archives}."
        ) from error
    except ValueError as error:  # pooch's, of a checksum
        raise DownloadError(
            f"{url} does not have the SHA-256 that was published: run the same command again, or "
            f"ask its maintainer."
        ) from error


def _write_splits(source: Source, archives: Path, work: Path, out: Path) -> dict[str, int]:
    """Write every split; the files get their names together, when all are complete."""
    splits: dict[str, Iterable[Pair]] = {}
    for text in source.texts:
        splits[text.split] = chain(splits.get(text.split, ()), _pairs(text, archives, work))
    if source.held_out:
        splits |= _hold_out(list(splits["train"]), source.held_out)
    codes = text_folders.SOURCE, source.language
    counts = {
        split: _write_split([work / f"{split}.{code}" for code in codes], pairs)
        for split, pairs in splits.items()
    }
    written = [work / f"{split}.{code}" for split in splits for code in codes]
    for new in written:
        final = out / new.name
        if os.path.lexists(final) and not (final.is_file() and filecmp.cmp(new, final, False)):
            raise DownloadError(
                f"{final} is there with another content: move it away, or choose another --out."
            )
    for new in written:
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


def _pairs(text: Text, archives: Path, work: Path) -> Iterator[Pair]:
    """Yield the pairs of one text; those with an empty side are left out."""
    count, again = 0, f"delete {archives} and run the same command again"
    sides = [_lines(where, text, archives, work) for where in (text.english, text.other)]
    pairs: Iterable[Sequence[str]] = zip(*sides, strict=True)
    if text.english == text.other:
        pairs = (columns for line in sides[0] if len(columns := line.split("\t")) > 1)
    try:
        for english, other, *_ in pairs:
            pair = _clean(english), _clean(other)
            if all(pair):
                count += 1
                yield pair
    except ValueError as error:  # of zip
        raise DownloadError(
            f"{text.english} and {text.other} differ in length: {again}."
        ) from error
    if not count or text.pairs not in (None, count):
        expected = "some" if text.pairs is None else f"{text.pairs:,}"
        raise DownloadError(
            f"{text.english} has {count:,} sentence pairs for {text.split}, but {expected} were "
            f"expected: {again}."
        )


def _lines(where: str, text: Text, archives: Path, work: Path) -> Iterator[str]:
    """Yield the lines of a file, which is unpacked, with the other side's, where it is needed."""
    name, _, member = where.partition("/")
    path = archives / name
    try:
        if member:
            members = [
                side.partition("/")[2]
                for side in (text.english, text.other)
                if side.startswith(f"{name}/")
            ]
            unpack = pooch.Unzip if path.suffix == ".zip" else pooch.Untar
            unpack(members, extract_dir=str(work / "unpacked"))(str(path), "fetch", None)
            path = work / "unpacked" / member
        yield from chain.from_iterable(corpus.line_chunks(path, corpus.MAX_STREAM_BYTES))
    except _DAMAGED as error:
        (archives / name).unlink()
        raise DownloadError(
            f"{archives / name} is damaged, or does not hold {member or 'lines'} ({error}), and "
            f"was removed: run the same command again."
        ) from error


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
    return parser


main = command.main(_parser, _run)
