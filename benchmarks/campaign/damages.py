"""What can be wrong with a checkpoint folder: by accident, or made so on purpose."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import safetensors.torch
import torch

from transformer.checkpoint import CONFIG, MANIFEST, TOKENIZER, WEIGHTS

FILES = (WEIGHTS, CONFIG, TOKENIZER, MANIFEST, "MODEL_CARD.md", "run.jsonl")
Accepted = Literal["no", "same", "other"]

NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 3, 7, 2**16, 2**20, 2**31, 2**63, 10**18, 10**400, -(10**400), 1.5, 16.0),
    *(math.nan, math.inf, True, False, None, "16", "", [], {}, [16], {"16": 16}, "x" * 10_000),
)
DTYPES = (
    *(torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int16),
    *(torch.int32, torch.int64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2),
)
TEXTS: tuple[bytes, ...] = (
    *(b"", b"null", b"[]", b"{}", b"1", b'"x"', b"\xff\xfe\x00", b"not json", b"{", b"\x00" * 500),
    *(b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000, b'{"x": 1e999}', b"\xef\xbb\xbf{}", b"NaN"),
    b'{"' + b"x" * 100_000 + b'": 1}',
)
NAMES = (
    *(
        "x",
        "",
        "x" * 300,
        "x" * 10_000,
        "a\nb",
        "a\0b",
        "\x1b[31m",
        "\u202e",
        "../x",
        "/etc/passwd",
    ),
    *(".", "..", "a/b", "\ud800", "__metadata__", "NUL", "shared_embedding.", "MANIFEST.json"),
)


@dataclass(frozen=True)
class Damage:
    """One thing that is done to a copy of a folder.

    Args:
        name: what it is, in a few words.
        do: does it.
        accepted: whether the folder may still be loaded: not at all, with the same translations as
            before, or with others, where other weights or sizes are as good.
        at: what is loaded, inside the folder.
    """

    name: str
    do: Callable[[Path], None]
    accepted: Accepted
    at: str = "."


def made_damages(chosen: random.Random) -> Iterator[Damage]:
    """Every damage that has a name once, then random ones without end."""
    yield from itertools.chain(
        _special_files(), _of_config(), _of_weights(), _of_manifest(), _of_texts()
    )
    for number in itertools.count():
        make = (_flip, _cut, _signed_flip, _signed_header, _signed_cut)[number % 5]
        yield make(chosen.choice(FILES), random.Random(chosen.random()))


def _sign(folder: Path) -> None:
    """Make all checksums anew, as the program that wrote the files would."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_bytes())
    manifest["sha256"] = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in manifest["sha256"]
    }
    path.write_text(json.dumps(manifest))


def _written(name: str, file: str, content: bytes, accepted: Accepted) -> Damage:
    def do(folder: Path) -> None:
        (folder / file).write_bytes(content)
        if file != MANIFEST:
            _sign(folder)

    return Damage(name, do, accepted)


# files that are none


def _special_files() -> Iterator[Damage]:
    for file in FILES:
        for kind in (
            "missing",
            "pipe",
            "folder",
            "endless device",
            "empty device",
            "12 GB",
            "loop",
        ):
            yield Damage(f"{file}: {kind}", lambda f, a=file, k=kind: _replace(f / a, k), "no")
    for name in NAMES:
        yield Damage(
            f"folder {name!a:.30}", lambda _: None, "same" if name in (".", "") else "no", at=name
        )


def _replace(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "12 GB":
        with path.open("wb") as file:
            file.truncate(12 * 10**9)
    elif kind != "missing":
        target = {"endless device": "/dev/zero", "empty device": "/dev/null"}.get(kind, path.name)
        path.symlink_to(target)


# configuration, with checksums made anew


def _of_config() -> Iterator[Damage]:
    fields = (
        *("vocab_size", "N", "d_model", "d_ff", "h", "d_k", "d_v", "max_length"),
        *("P_drop", "epsilon_ls", "positions", "unknown_field"),
    )
    for field, value in itertools.product(fields, NUMBERS):
        shown = f"{value!r:.20}" if not isinstance(value, int) or abs(value) < 2**64 else "10^400"
        yield Damage(
            f"{CONFIG}: {field} = {shown}", lambda f, a=field, v=value: _set(f, a, v), "other"
        )
    for field in fields[:-1]:
        yield Damage(f"{CONFIG}: without {field}", lambda f, a=field: _set(f, a, _set), "other")


def _set(folder: Path, field: str, value: Any) -> None:
    values = json.loads((folder / CONFIG).read_bytes())
    if value is _set:
        del values[field]
    else:
        values[field] = value
    (folder / CONFIG).write_text(json.dumps(values))
    _sign(folder)


# weights, with checksums made anew


def _of_weights() -> Iterator[Damage]:
    for dtype in DTYPES:
        for which in ("one", "all"):
            legitimate = dtype in (torch.float16, torch.bfloat16)
            yield Damage(
                f"{WEIGHTS}: {which} as {dtype}",
                lambda f, d=dtype, w=which: _change(
                    f, lambda n, t: t.to(d) if w == "all" or "W_Q" in n else t
                ),
                "other" if legitimate else "no",
            )
    for value in (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e30, 0.0, 1e-45):
        for where in ("shared", "W_O", "norm.bias", "W_2.weight"):
            finite: Accepted = "other" if math.isfinite(value) else "no"
            yield Damage(
                f"{WEIGHTS}: {where} with a {value}",
                lambda f, v=value, w=where: _change(f, lambda n, t: _with(t, v) if w in n else t),
                finite,
            )
            yield Damage(
                f"{WEIGHTS}: {where} all {value}",
                lambda f, v=value, w=where: _change(
                    f, lambda n, t: torch.full_like(t, v) if w in n else t
                ),
                finite,
            )
    for name, edit in {
        "transposed": lambda t: (
            t.T.contiguous() if t.ndim == 2 and t.size(0) != t.size(1) else t[:1]
        ),
        "one row less": lambda t: t[:-1].contiguous(),
        "empty": lambda t: t[:0].contiguous(),
        "one dimension more": lambda t: t[None].contiguous(),
        "a single number": lambda t: t.sum(),
    }.items():
        yield Damage(
            f"{WEIGHTS}: {name}",
            lambda f, e=edit: _change(f, lambda n, t: e(t) if "cross" in n else t),
            "no",
        )
    for name in NAMES:
        if name not in ("__metadata__", "\ud800"):
            yield Damage(f"{WEIGHTS}: one more, {name!a:.30}", lambda f, a=name: _add(f, a), "no")
    for key, value in itertools.product(
        ("dtype", "shape", "data_offsets"),
        (*NUMBERS, "F32", "F4", "C64", "I8", [2**60, 2**60], [-1], [0, 10**19]),
    ):
        yield Damage(
            f"{WEIGHTS}: header {key} = {value!r:.20}"
            if not isinstance(value, int) or abs(value) < 2**64
            else f"{WEIGHTS}: header {key} = 10^400",
            lambda f, k=key, v=value: _edit_header(
                f, lambda h: h["shared_embedding"].update({k: v})
            ),
            "same",
        )
    for length in (0, 1, 2**20, 2**31, 2**40, 2**63, 2**64 - 1):
        yield Damage(
            f"{WEIGHTS}: header of {length} bytes", lambda f, n=length: _set_length(f, n), "no"
        )


def _with(tensor: torch.Tensor, value: float) -> torch.Tensor:
    changed = tensor.clone()
    changed.view(-1)[0] = value
    return changed


def _change(folder: Path, edit: Callable[[str, torch.Tensor], torch.Tensor]) -> None:
    tensors = safetensors.torch.load((folder / WEIGHTS).read_bytes())
    edited = {name: edit(name, tensor) for name, tensor in tensors.items()}
    (folder / WEIGHTS).write_bytes(safetensors.torch.save(edited))
    _sign(folder)


def _add(folder: Path, name: str) -> None:
    tensors = safetensors.torch.load((folder / WEIGHTS).read_bytes())
    (folder / WEIGHTS).write_bytes(safetensors.torch.save(tensors | {name: torch.ones(2)}))
    _sign(folder)


def _edit_header(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    content = (folder / WEIGHTS).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    edit(header)
    written = json.dumps(header).encode()
    (folder / WEIGHTS).write_bytes(
        len(written).to_bytes(8, "little") + written + content[8 + length :]
    )
    _sign(folder)


def _set_length(folder: Path, length: int) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + content[8:])
    _sign(folder)


# manifest, and whole files as other text


def _of_manifest() -> Iterator[Damage]:
    for value in (*NUMBERS, 1):
        same: Accepted = "same" if value in (1, True) else "no"
        shown = f"{value!r:.20}" if not isinstance(value, int) or abs(value) < 2**64 else "10^400"
        yield Damage(
            f"{MANIFEST}: format = {shown}", lambda f, v=value: _set_manifest(f, "format", v), same
        )
        yield Damage(
            f"{MANIFEST}: sha256 = {shown}", lambda f, v=value: _set_manifest(f, "sha256", v), "no"
        )
    for name in NAMES:
        yield Damage(
            f"{MANIFEST}: lists {name!a:.30}", lambda f, n=name: _list(f, n, "0" * 64), "no"
        )
    for file in FILES:
        for value in ("", None, 0, [], "0" * 64, "x" * 10_000):
            if file != MANIFEST:
                yield Damage(
                    f"{MANIFEST}: {file} has {value!r:.10}",
                    lambda f, n=file, v=value: _list(f, n, v),
                    "no",
                )


def _set_manifest(folder: Path, key: str, value: Any) -> None:
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {key: value}))


def _list(folder: Path, name: str, checksum: Any) -> None:
    path = folder / MANIFEST
    manifest = json.loads(path.read_bytes())
    manifest["sha256"][name] = checksum
    path.write_text(json.dumps(manifest))


def _of_texts() -> Iterator[Damage]:
    for file, content in itertools.product(FILES, TEXTS):
        others: Accepted = "same" if file in ("MODEL_CARD.md", "run.jsonl") else "no"
        yield _written(f"{file}: {content!r:.20}", file, content, others)


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
        _sign(folder)

    return Damage(f"{where}: some bytes, signed anew", do, "other")


def _signed_header(_: str, chosen: random.Random) -> Damage:
    def do(folder: Path) -> None:
        content = bytearray((folder / WEIGHTS).read_bytes())
        length = int.from_bytes(content[:8], "little")
        content[chosen.randrange(8 + length)] = chosen.randrange(256)
        (folder / WEIGHTS).write_bytes(content)
        _sign(folder)

    return Damage(f"{WEIGHTS}: a byte of the header, signed anew", do, "same")


def _signed_cut(file: str, chosen: random.Random) -> Damage:
    where = TOKENIZER if file == MANIFEST else file

    def do(folder: Path) -> None:
        content = (folder / where).read_bytes()
        (folder / where).write_bytes(content[: chosen.randrange(len(content))])
        _sign(folder)

    return Damage(f"{where}: cut off, signed anew", do, "other")
