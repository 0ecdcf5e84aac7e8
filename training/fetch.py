"""Fetch one file over HTTP: what arrives is kept, and gets its name when it is whole."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from training.sources import Archive
from transformer.errors import HeadlightError, unwritable

CHUNK = 1 << 16
AGENT = "Mozilla/5.0 (compatible; headlight)"  # some servers refuse Python's own name


@dataclass(frozen=True)
class Patience:
    """How long to bear with a server.

    Args:
        attempts: in a row that brought nothing new, before giving up.
        timeout: seconds without a byte that end an attempt.
        wait: seconds before the second attempt; doubled before each further one.
    """

    attempts: int = 6
    timeout: float = 30.0
    wait: float = 1.0


PATIENCE = Patience()


class DownloadError(HeadlightError):
    """A file that cannot be fetched, or is not the one that was expected."""


class _Interrupted(Exception):
    """A connection that ended too early; worth another attempt."""


def fetch(archive: Archive, url: str, path: Path, recorded: str | None = None) -> str:
    """Fetch one file, unless it is there; under its name stands nothing but the whole file.

    Args:
        archive: what is known of it.
        url: where it is.
        path: where to put it; what has arrived so far stands beside it with the ending `.part`.
        recorded: its SHA-256 when it was first fetched, if it ever was.

    Returns:
        Its SHA-256.

    Raises:
        DownloadError: if it cannot be had, or is not the file that was expected.
    """
    expected = archive.sha256 or recorded
    if path.exists():
        found = _sha256(path)
        if expected not in (None, found):
            raise DownloadError(
                f"{path} is not the file that was expected (SHA-256 {found} instead of "
                f"{expected}): delete it and run the same command again."
            )
        return found
    part = path.with_name(path.name + ".part")
    _fetch_part(url, part, archive.size)
    found = _sha256(part)
    if expected not in (None, found):
        part.unlink()
        changed = "" if archive.sha256 else ", which it had when it was first fetched"
        raise DownloadError(
            f"{url} is not the file that was expected (SHA-256 {found} instead of "
            f"{expected}{changed}): run the same command again, or ask its keeper."
        )
    part.replace(path)
    return found


def _fetch_part(url: str, part: Path, size: int | None) -> None:
    """Fetch into `part`, going on from what it holds, until it is whole."""
    failures, best = 0, _size(part)
    while True:
        try:
            if _attempt(url, part, size):
                return
            problem = "the connection ended too early"
        except _Interrupted as error:
            problem = str(error)
        except OSError as error:
            raise disk_error(error, part) from error
        # a server that ignores ranges starts anew each time: only more than ever before is gain
        failures = 0 if _size(part) > best else failures + 1
        best = max(best, _size(part))
        if failures >= PATIENCE.attempts:
            kept = f"; the {best:,} bytes that arrived are kept" if best else ""
            raise DownloadError(
                f"{url} could not be fetched in {failures} attempts: {problem}{kept}. "
                f"Run the same command again later."
            )
        time.sleep(PATIENCE.wait * 2 ** max(failures - 1, 0))


def _attempt(url: str, part: Path, size: int | None) -> bool:
    """Ask once and write what comes; whether the file is whole now.

    Raises:
        OSError: from the disk alone.
    """
    try:
        answer = _ask(url, _size(part))
    except urllib.error.HTTPError as error:
        return _refused(error, url, part)
    with answer:
        start, total = _range(answer, part)
        if size is not None and total not in (None, size):
            raise DownloadError(
                f"{url} has {total:,} bytes instead of {size:,}: it is not the file that was "
                f"expected."
            )
        with (
            part.open("ab" if start else "wb") as file,
            tqdm(
                desc=part.stem, total=total, initial=start, unit="B", unit_scale=True, disable=None
            ) as bar,
        ):
            for chunk in _chunks(answer):
                file.write(chunk)
                bar.update(len(chunk))
            file.flush()
            os.fsync(file.fileno())
    return total is None or _size(part) == total


def _ask(url: str, have: int) -> http.client.HTTPResponse:
    """Open the connection; an answer that is an error is urllib's own exception."""
    headers = {"User-Agent": AGENT, **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=PATIENCE.timeout)
    except urllib.error.HTTPError:
        raise
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, socket.gaierror):
            host = urllib.parse.urlsplit(url).hostname
            raise DownloadError(
                f"{host} cannot be found: connect to a network, or name a --mirror."
            ) from error
        raise _Interrupted(_sentence(reason)) from error
    assert isinstance(answer, http.client.HTTPResponse)
    return answer


def _refused(error: urllib.error.HTTPError, url: str, part: Path) -> bool:
    """What an answer that is an error means: whole already, try again, or give up."""
    with error:
        beyond_the_end = error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        if beyond_the_end and part.exists():
            if error.headers.get("Content-Range", "") == f"bytes */{_size(part)}":
                return True
            part.unlink()
            raise _Interrupted("what had arrived belongs to another file") from error
        if error.code >= 500 or error.code in (
            http.HTTPStatus.REQUEST_TIMEOUT,
            http.HTTPStatus.TOO_MANY_REQUESTS,
        ):
            raise _Interrupted(f"the server answers {error.code} {error.reason}") from error
        raise DownloadError(
            f"{url} cannot be fetched: the server answers {error.code} {error.reason}."
        ) from error


def _range(answer: http.client.HTTPResponse, part: Path) -> tuple[int, int | None]:
    """Where in the file this answer begins, and how long the whole file is, if it says so."""
    length = answer.headers.get("Content-Length")
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
        # the whole file, whatever was asked for
        return 0, int(length) if length and length.isdecimal() else None
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    if not found or int(found[1]) != _size(part):
        part.unlink(missing_ok=True)  # the next attempt asks for the whole file
        raise _Interrupted("the server sends another part than was asked for")
    return int(found[1]), int(found[2])


def _chunks(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        # read1: what has arrived counts, even if nothing comes behind it
        while chunk := answer.read1(CHUNK):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(_sentence(error)) from error


def _sentence(reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return f"nothing came for {PATIENCE.timeout:g} s"
    return (isinstance(reason, OSError) and reason.strerror) or str(reason) or repr(reason)


def disk_error(error: OSError, path: Path) -> DownloadError:
    """What a full or closed disk means, in one sentence."""
    return DownloadError(
        f"{unwritable(error, path)} Run the same command again when that is mended."
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
