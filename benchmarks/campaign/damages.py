"""What can be wrong with a checkpoint folder: by accident, or made so on purpose."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.campaign.damage import FILES, NAMES, NUMBERS, Accepted, Damage, short, sign
from benchmarks.campaign.weight_damages import weight_damages
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST, TOKENIZER, WEIGHTS
from transformer.config import TransformerConfig

SPECIAL = ("missing", "pipe", "folder", "endless device", "empty device", "12 GB", "loop")
FIELDS = (*(field.name for field in dataclasses.fields(TransformerConfig)), "unknown_field")
TEXTS: tuple[bytes, ...] = (
    *(b"", b"null", b"[]", b"{}", b"1", b'"x"', b"\xff\xfe\x00", b"not json", b"{", b"\x00" * 500),
    *(b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000, b'{"x": 1e999}', b"\xef\xbb\xbf{}", b"NaN"),
    b'{"' + b"x" * 100_000 + b'": 1}',
)
OTHERS = ("MODEL_CARD.md", "run.jsonl")  # any text at all may stand there
_REMOVED = object()


def made_damages(chosen: random.Random) -> Iterator[Damage]:
    """Every damage that has a name once, in any order, then random ones without end."""
    named = [*_of_files(), *_of_config(), *weight_damages(), *_of_manifest()]
    chosen.shuffle(named)
    yield from named
    for number in itertools.count():
        make = (_flip, _cut, _signed_flip, _signed_header, _signed_cut)[number % 5]
        yield make(chosen.choice(FILES), random.Random(chosen.random()))


def _of_files() -> Iterator[Damage]:
    """Files that are none, folders that are none, and other text in their place."""
    for file, kind in itertools.product(FILES, SPECIAL):
        yield Damage(f"{file}: {kind}", partial(_replace, file=file, kind=kind), "no")
    for name in NAMES:
        same: Accepted = "same" if name in (".", "") else "no"
        yield Damage(f"folder {name!a:.30}", partial(Path.exists), same, at=name)
    for file, content in itertools.product(FILES, TEXTS):
        yield Damage(
            f"{file}: {content!r:.20}",
            partial(_write, file=file, content=content),
            "same" if file in OTHERS else "no",
        )


def _replace(folder: Path, file: str, kind: str) -> None:
    path = folder / file
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "12 GB":
        with path.open("wb") as opened:
            opened.truncate(12 * 10**9)
    elif kind != "missing":
        target = {"endless device": "/dev/zero", "empty device": "/dev/null"}.get(kind, path.name)
        path.symlink_to(target)


def _write(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    if file != MANIFEST:
        sign(folder)


def _of_config() -> Iterator[Damage]:
    """Fields of the configuration, with checksums made anew."""
    for field, value in itertools.product(FIELDS, (*NUMBERS, _REMOVED)):
        shown = "missing" if value is _REMOVED else f"= {short(value)}"
        yield Damage(f"{CONFIG}: {field} {shown}", partial(_set, field=field, value=value), "other")


def _set(folder: Path, field: str, value: Any) -> None:
    values = json.loads((folder / CONFIG).read_bytes()) | {field: value}
    if value is _REMOVED:
        del values[field]
    (folder / CONFIG).write_text(json.dumps(values))
    sign(folder)


def _of_manifest() -> Iterator[Damage]:
    for value in NUMBERS:
        for key in ("format", "sha256"):
            same: Accepted = "same" if key == "format" and value in (1, True) else "no"
            damage = partial(_set_manifest, key=key, value=value)
            yield Damage(f"{MANIFEST}: {key} = {short(value)}", damage, same)
    for name in NAMES:
        damage = partial(_list, name=name, checksum="0" * 64)
        yield Damage(f"{MANIFEST}: lists {name!a:.30}", damage, "no")
    checksums: tuple[Any, ...] = ("", None, 0, [], "0" * 64, "x" * 10_000)
    for file, checksum in itertools.product(FILES, checksums):
        damage = partial(_list, name=file, checksum=checksum)
        yield Damage(f"{MANIFEST}: {file} has {checksum!r:.10}", damage, "no")


def _set_manifest(folder: Path, key: str, value: Any) -> None:
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {key: value}))


def _list(folder: Path, name: str, checksum: Any) -> None:
    path = folder / MANIFEST
    manifest = json.loads(path.read_bytes())
    manifest["sha256"][name] = checksum
    path.write_text(json.dumps(manifest))


# accidents at random


def _flip(file: str, chosen: random.Random) -> Damage:
    def do(folder: Path) -> None:
        content = bytearray((folder / file).read_bytes())
        content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        (folder / file).write_bytes(content)

    # the manifest has no checksum: a space in it may become a tab
    return Damage(f"{file}: one bit", do, "same" if file == MANIFEST else "no")


def _cut(file: str, chosen: random.Random) -> Damage:
    def do(folder: Path) -> None:
        content = (folder / file).read_bytes()
        (folder / file).write_bytes(content[: chosen.randrange(len(content) - 2)])

    return Damage(f"{file}: cut off", do, "no")


def _signed_flip(file: str, chosen: random.Random) -> Damage:
    where = TOKENIZER if file == MANIFEST else file

    def do(folder: Path) -> None:
        content = bytearray((folder / where).read_bytes())
        for _ in range(chosen.choice((1, 3, 20))):
            content[chosen.randrange(len(content))] = chosen.randrange(256)
        (folder / where).write_bytes(content)
        sign(folder)

    return Damage(f"{where}: some bytes, signed anew", do, "other")


def _signed_header(_: str, chosen: random.Random) -> Damage:
    def do(folder: Path) -> None:
        content = bytearray((folder / WEIGHTS).read_bytes())
        length = int.from_bytes(content[:8], "little")
        content[chosen.randrange(8 + length)] = chosen.randrange(256)
        (folder / WEIGHTS).write_bytes(content)
        sign(folder)

    return Damage(f"{WEIGHTS}: a byte of the header, signed anew", do, "other")


def _signed_cut(file: str, chosen: random.Random) -> Damage:
    where = TOKENIZER if file == MANIFEST else file

    def do(folder: Path) -> None:
        content = (folder / where).read_bytes()
        (folder / where).write_bytes(content[: chosen.randrange(len(content))])
        sign(folder)

    return Damage(f"{where}: cut off, signed anew", do, "other")
