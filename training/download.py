"""python -m training.download: public parallel text, from its address to train.en and train.de.

Checksums that somebody has published are checked. Those of the other files are written to
`archives/SHA256SUMS` when the file is first fetched and unpacked, and checked from then on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from training.fetch import DownloadError, disk_error, fetch
from training.sources import SOURCES, Source
from training.unpack import unpack
from transformer.errors import HeadlightError

ARCHIVES, LOCK = "archives", "SHA256SUMS"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when a set cannot be had."""
    options = _parser().parse_args(arguments)
    source = next(source for source in SOURCES if source.name == options.name)
    try:
        counts = download(source, options.out, options.mirror)
    except HeadlightError as error:
        print(f"training.download: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. Go on with the same command.", file=sys.stderr)
        return 130
    for split, count in counts.items():
        print(f"{options.out / split}.en and .de: {count:,} pairs")
    print(f"Licence: {source.licence}.\nCite: {source.citation}")
    return 0


def download(source: Source, out: Path, mirror: str | None = None) -> dict[str, int]:
    """Fetch what is not there yet, check all of it, and unpack it.

    Args:
        source: the set.
        out: the folder for its text; the archives stay in a folder of it.
        mirror: address of a folder that holds `multi30k/train.en.gz` and so on.

    Returns:
        How many pairs each split has.

    Raises:
        HeadlightError: one sentence on what is wrong.
    """
    archives = out / ARCHIVES
    try:
        archives.mkdir(parents=True, exist_ok=True)
        recorded = _recorded(archives)
        if (out / "train.en").exists() and not any(a.name in recorded for a in source.archives):
            raise DownloadError(
                f"{out} holds a train.en already that is not {source.name}: choose another --out."
            )
        sums = {}
        for archive in source.archives:
            url = f"{mirror}/{source.name}/{archive.name}" if mirror else archive.url
            path = archives / archive.name
            sums[archive.name] = fetch(archive, url, path, recorded.get(archive.name))
        counts = unpack(source, archives, out)
        # only what could be unpacked is worth being trusted from now on
        _record(archives, recorded | sums)
    except OSError as error:
        raise disk_error(error, out) from error
    return counts


def _recorded(archives: Path) -> dict[str, str]:
    """What SHA256SUMS says, by file name."""
    path = archives / LOCK
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _record(archives: Path, sums: dict[str, str]) -> None:
    """Write SHA256SUMS as sha256sum itself does."""
    new = archives / f"{LOCK}.new"
    new.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())), "utf-8")
    new.replace(archives / LOCK)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.download",
        description="Fetch public English-German text. An interrupted download goes on where it "
        "stopped.",
    )
    parser.add_argument("name", choices=[source.name for source in SOURCES])
    parser.add_argument("--out", type=Path, required=True, help="folder for train.en and the rest")
    parser.add_argument(
        "--mirror", type=_address, metavar="URL",
        help="fetch URL/multi30k/train.en.gz and so on instead of the public addresses",
    )  # fmt: skip
    return parser


def _address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"'{text}' must begin with https:// or http://")
    return text.rstrip("/")


if __name__ == "__main__":
    sys.exit(main())
