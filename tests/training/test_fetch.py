"""A download ends whole, or in one sentence and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.training.bad_server import BODY, QUARTER, Server, names, server
from training import fetch
from training.sources import Archive

__all__ = ["server"]  # a fixture: used by name

SHA256 = hashlib.sha256(BODY).hexdigest()


def _fetch(server: Server, folder: Path, **known: object) -> Path:
    server.files["/data.txt"] = BODY
    url = f"{server.address}/data.txt"
    fetch.fetch(Archive(url=url, **known), url, folder / "data.txt")  # type: ignore[arg-type]
    return folder / "data.txt"


def _range(quarters: int) -> str:
    return f"bytes={quarters * QUARTER}-"


@pytest.mark.parametrize(
    ("mischief", "ranges"),
    [
        ([], [None]),
        (["drop"], [None, _range(1)]),
        (["drop", "drop", "503"], [None, _range(1), _range(2), _range(2)]),
        (["drop"] * 3, [None, _range(1), _range(2), _range(3)]),  # each brought something
        (["drop", "deaf"], [None, _range(1)]),
        (["drop", "astray"], [None, _range(1), None]),
        (["stall"], [None, _range(2)]),
        (["slow"], [None]),
        (["500", "429"], [None, None, None]),
    ],
    ids=str,
)
def test_a_file_arrives_whole_through_what_passes(
    server: Server, tmp_path: Path, mischief: list[str], ranges: list[str | None]
) -> None:
    server.mischief = list(mischief)
    assert _fetch(server, tmp_path).read_bytes() == BODY
    assert server.ranges == ranges
    assert names(tmp_path) == ["data.txt"]


@pytest.mark.parametrize(
    ("kept", "ranges"),
    [
        (BODY[:QUARTER], [_range(1)]),
        (BODY, [f"bytes={len(BODY)}-"]),  # stopped just before it got its name
        (BODY + b"more", [f"bytes={len(BODY) + 4}-", None]),
    ],
    ids=["a quarter", "whole", "too long"],
)
def test_a_stopped_download_goes_on_where_it_stopped(
    server: Server, tmp_path: Path, kept: bytes, ranges: list[str | None]
) -> None:
    (tmp_path / "data.txt.part").write_bytes(kept)
    assert _fetch(server, tmp_path).read_bytes() == BODY
    assert server.ranges == ranges


@pytest.mark.parametrize(
    ("mischief", "known", "sentence"),
    [
        (["404"], {}, "cannot be fetched: the server answers 404 Not Found"),
        (["500"] * 3, {}, "could not be fetched in 3 attempts: the server answers 500"),
        (["mute"] * 3, {}, "nothing came for 0.3 s"),
        (["drop deaf"] * 4, {}, "connection ended too early; the .* bytes that arrived are kept"),
        (["reversed"], {"sha256": SHA256}, f"is not the file that was expected .*{SHA256}"),
        ([], {"size": 7}, f"has {len(BODY):,} bytes instead of 7"),
    ],
    ids=["404", "500", "mute", "drop deaf", "reversed", "size"],
)
def test_what_does_not_pass_is_an_error_and_no_file(
    server: Server, tmp_path: Path, mischief: list[str], known: dict[str, object], sentence: str
) -> None:
    server.mischief = list(mischief)
    with pytest.raises(fetch.DownloadError, match=sentence):
        _fetch(server, tmp_path, **known)
    assert set(names(tmp_path)) <= {"data.txt.part"}
    assert not server.mischief


def test_wrong_bytes_are_thrown_away_and_right_ones_taken_the_next_time(
    server: Server, tmp_path: Path
) -> None:
    server.mischief = ["reversed"]
    with pytest.raises(fetch.DownloadError):
        _fetch(server, tmp_path, sha256=SHA256)
    assert _fetch(server, tmp_path, sha256=SHA256).read_bytes() == BODY
    assert server.ranges == [None, None]


def test_a_file_that_is_there_is_checked_and_not_asked_for(server: Server, tmp_path: Path) -> None:
    path = _fetch(server, tmp_path)
    _fetch(server, tmp_path, sha256=SHA256)
    assert len(server.ranges) == 1
    path.write_bytes(BODY[:-1])
    with pytest.raises(fetch.DownloadError, match=r"data\.txt is not the file that was expected"):
        _fetch(server, tmp_path, sha256=SHA256)


def test_a_full_disk_is_one_sentence(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.txt.part").symlink_to("/dev/full")
    with pytest.raises(fetch.DownloadError, match="cannot be written: No space left on device"):
        _fetch(server, tmp_path)
    assert not (tmp_path / "data.txt").exists()
