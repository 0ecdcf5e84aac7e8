"""python -m training.download: public parallel text as train.en, train.de and their like.

pooch downloads, retries, checks and unpacks. Published checksums are checked. Those of the other
files are written to `archives/SHA256SUMS` when a set was complete, and checked from then on.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

from training.download.extract import (
    DAMAGED,
    PROCESSORS,
    DownloadError,
    remove_unpacked,
    removed,
    write_splits,
)
from training.download.sources import SOURCES, Archive, Source
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.errors import unreadable, unwritable
from transformer.files.atomic import new_folder
from transformer.files.reading import MIB, read_bytes

ARCHIVES, CHECKSUMS = "archives", "SHA256SUMS"
_CHECKSUM = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^/\0]+)")
_PRINTABLE = re.compile(r"[^\s\\<>\"{}|^`\x00-\x20\ud800-\udfff]+")
RETRIES, TIMEOUT = 3, 30  # further attempts, and seconds without a byte


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when a set cannot be downloaded."""
    options = _parser().parse_args(arguments)
    return command.run("training.download", lambda: _download(options))


def _download(options: argparse.Namespace) -> int:
    source = next(source for source in SOURCES if source.name == options.name)
    try:
        counts = download(source, options.out, options.mirror)
    except KeyboardInterrupt:
        command.say("Stopped. Complete files are kept: run the same command again.")
        return command.INTERRUPTED
    for split, count in counts.items():
        print(f"{options.out / split}.en and .de: {count:,} pairs")
    print(f"Licence: {source.licence}.\nCite: {source.citation}")
    return 0


def download(source: Source, out: Path, mirror: str | None = None) -> dict[str, int]:
    """Download what is missing, check and unpack it, and write one sentence a line, UTF-8, NFC.

    Args:
        source: the set.
        out: the folder for its text; the archives stay in a folder of it.
        mirror: address of a folder that holds `multi30k/train.en.gz` and so on.

    Returns:
        How many pairs each split has.

    Raises:
        DownloadError: one sentence on what is wrong.
    """
    try:
        with new_folder(out / ARCHIVES) as archives:
            return _download_into(source, archives, out, mirror)
    except OSError as error:
        raise DownloadError(
            f"{unwritable(error, out)} Make room, or choose another --out, and run the same "
            f"command again."
        ) from error


def _download_into(source: Source, archives: Path, out: Path, mirror: str | None) -> dict[str, int]:
    recorded = _recorded_checksums(archives / CHECKSUMS)
    if (out / "train.en").exists() and not any(a.name in recorded for a in source.archives):
        raise DownloadError(
            f"{out} holds a train.en already that is not {source.name}: choose another --out."
        )
    for archive in source.archives:
        url = f"{mirror}/{source.name}/{archive.name}" if mirror else archive.url
        _fetch(archive, url, archives, recorded.get(archive.name), source)
    counts = write_splits(source, archives, out)
    # only a set that was complete is trusted from now on
    for archive in source.archives:
        recorded[archive.name] = pooch.file_hash(archives / archive.name)
    lines = (f"{digest}  {name}\n" for name, digest in sorted(recorded.items()))
    (archives / CHECKSUMS).write_text("".join(lines), "utf-8")
    return counts


def _recorded_checksums(path: Path) -> dict[str, str]:
    """Read the checksums of SHA256SUMS by file name."""
    try:
        lines = read_bytes(path, MIB).decode("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DownloadError(
            f"{unreadable(error, path)} Delete it, and run the same command again."
        ) from error
    except UnicodeDecodeError:
        lines = ["no UTF-8"]
    matches = [_CHECKSUM.fullmatch(line) for line in lines]
    if None in matches:
        raise DownloadError(
            f"{path} is no list of checksums: delete its folder, and run the same command again."
        )
    return {match["name"]: match["digest"] for match in matches if match}


def _fetch(archive: Archive, url: str, folder: Path, recorded: str | None, source: Source) -> None:
    """Download an archive unless it is there, check it, and unpack what is needed of it.

    Raises:
        DownloadError: if it cannot be downloaded, or is not what was expected.
        OSError: if the disk is full.
    """
    if recorded is None:  # an unpacking that was stopped leaves a part, which pooch takes for all
        remove_unpacked(folder, archive.name)
    pooch.get_logger().setLevel("WARNING")
    wheres = [where for text in source.texts for where in (text.english, text.german)]
    members = [w.partition("/")[2] for w in wheres if w.startswith(f"{archive.name}/")]
    processor = PROCESSORS[Path(archive.name).suffix][0]
    try:
        pooch.create(
            path=folder,
            base_url="",
            registry={archive.name: archive.sha256 or recorded},
            urls={archive.name: url},
            retry_if_failed=RETRIES,
        ).fetch(
            archive.name,
            processor=processor(members=members) if members else processor(),
            downloader=pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT),
        )
    except requests.RequestException as error:
        raise DownloadError(f"{url} cannot be downloaded: {_reason(error)}.") from error
    except DAMAGED as error:
        raise removed(folder, archive.name, f"is damaged ({error})") from error
    except ValueError as error:  # pooch's, of a checksum
        known = "published" if archive.sha256 else "recorded when it was first downloaded"
        raise DownloadError(
            f"{url} does not have the SHA-256 that was {known}: run the same command again, or ask "
            f"its maintainer."
        ) from error


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"nothing came for {TIMEOUT} s; try again later"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached; connect to a network, or name a --mirror"
    return "the connection ended too early; try again later"


def _parser() -> Parser:
    parser = Parser(
        prog="python -m training.download",
        description="Download public English-German text. Complete files are kept: an interrupted "
        "download resumes with the first file that is missing.",
    )
    parser.add_argument("name", choices=[source.name for source in SOURCES])
    parser.add_argument("--out", type=Path, required=True, help="folder for train.en and the rest")
    parser.add_argument(
        "--mirror", type=_address, metavar="URL",
        help="download URL/multi30k/train.en.gz and so on instead of the public addresses",
    )  # fmt: skip
    return parser


def _address(text: str) -> str:
    """Parse the address of a folder on a server, such as https://example.org/texts."""
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"'{text}' must begin with https:// or http://")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port  # a ValueError if it is none
        named = all(0 < len(label.encode("idna")) < 64 for label in host.rstrip(".").split("."))
        requests.Request("GET", text).prepare()
    except (ValueError, requests.RequestException):
        named = False
    if not (named and _PRINTABLE.fullmatch(text)) or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no address of a folder, such as https://example.org/texts"
        )
    return text.rstrip("/")


if __name__ == "__main__":
    sys.exit(main())
