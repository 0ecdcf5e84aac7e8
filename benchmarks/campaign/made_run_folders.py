"""Run folders as nobody should have them, made one by one."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from training.run.journal import LOG
from transformer.files.installed import BUNDLED

# what stands where a number belongs
VALUES = (
    "null", "true", '"text"', '""', "[]", "{}", "[1]", "NaN", "Infinity", "-Infinity", "1e999",
    "-1e999", "1e308", "-1e308", "5e-324", "0", "-0.0", "-1", "-5", "0.5", "1" + "0" * 30,
    "1" + "0" * 400, "1" + "0" * 5000, '"\\ud800"', '"<b>"', '"[a](javascript:1)"', "1_000", "0x1",
)  # fmt: skip
FIELDS = (
    "step", "loss", "lr", "seconds", "tokens_per_second", "validation_loss",
    "validation_perplexity", "validation_bleu", "steps", "warmup", "cooldown", "lr_factor",
    "d_model", "epoch", "parameters", "unknown",
)  # fmt: skip
LINES = (
    "[" * 9_000, "[" * 200_000, '{"a":' * 3_000, "{}", "[]", "7", "null", "\x00" * 50, "\ufffd",
    '{"step": 1' * 3, '{"step": 1} {"step": 2}', "﻿{}", "x" * 100_000, '{"step": 1, "step": []}',
    '{"": 1, "step": 1}', '{"step": 1, "' + "k" * 9_000 + '": null}', "\u2028", '"step"',
    '{"step": 1, "loss": 1}\r', '{"step": 1, "\\ud800": null}', "--1", '{"step": 1,}',
)  # fmt: skip
RECORD: dict[str, Any] = {
    "step": 50, "epoch": 0, "loss": 3.5, "lr": 1e-3, "tokens_per_second": 900.0, "seconds": 9.0,
}  # fmt: skip
PLAN: dict[str, Any] = {
    "step": 0, "parameters": 9, "d_model": 8, "warmup": 4, "lr_factor": 1.0, "steps": 100,
    "cooldown": 10,
}  # fmt: skip
VALIDATION: dict[str, Any] = {
    "step": 100, "validation_loss": 2.0, "validation_perplexity": 7.4, "validation_bleu": 9.0,
}  # fmt: skip

NPY = "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}"
"""Header of an array."""

Make = Callable[[Path], None]


def makers(count: int, seed: int) -> list[tuple[str, Make]]:
    """What is wrong with each folder, in a few words, and how it is made; no two are alike."""
    random_ = random.Random(seed)
    found = [
        (
            f"{field} is {value[:12]} ({len(value)} characters) in a record of {kind}",
            _with_line(_put(record, field, value)),
        )
        for field in FIELDS
        for value in VALUES
        for kind, record in (("training", RECORD), ("the plan", PLAN), ("validation", VALIDATION))
        if field in record or kind == "training"
    ]
    found += [(f"the line {line[:12]!r} of {len(line)}", _with_line(line)) for line in LINES]
    found += [
        (f"{kind} without {field}", _with_line(_without(record, field)))
        for kind, record in (("training", RECORD), ("plan", PLAN), ("validation", VALIDATION))
        for field in record
    ]
    found += [("a log that " + name, make) for name, make in _logs().items()]
    found += [("probes that " + name, make) for name, make in _probes().items()]
    random_.shuffle(found)
    damaged = (random_.randrange(10**9) for _ in range(max(0, count - len(found))))
    return [*found, *((f"bytes damaged by {seed}", _damaged(seed)) for seed in damaged)][:count]


def _put(record: dict[str, Any], field: str, value: str) -> str:
    """The record as a line, with any text as the value of one field."""
    return json.dumps({**record, field: "HERE"}).replace('"HERE"', value)


def _without(record: dict[str, Any], field: str) -> str:
    return json.dumps({name: value for name, value in record.items() if name != field})


def _with_line(line: str) -> Make:
    """A sound log and sound probes, with one line more, which comes twice."""

    def make(folder: Path) -> None:
        shutil.copytree(BUNDLED / "probes", folder / "probes")
        lines = [json.dumps(PLAN), json.dumps(RECORD), line, json.dumps(VALIDATION), line, ""]
        (folder / LOG).write_text("\n".join(lines), "utf-8")

    return make


def _log(content: bytes) -> Make:
    return lambda folder: _write(folder / LOG, content)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _sparse(folder: Path) -> None:
    with (folder / LOG).open("wb") as file:
        file.truncate(2**31)


def _live(folder: Path) -> None:
    (folder / LOG).write_text(json.dumps(PLAN) + "\n" + json.dumps(RECORD) + '\n{"ste')


def _link(target: str) -> Make:
    return lambda folder: (folder / LOG).symlink_to(target)


def _logs() -> dict[str, Make]:
    return {
        "has a million lines": _log(b'{"step": 1, "loss": 2.5}\n' * 10**6),
        "has a million lines of nothing": _log(b"\n" * 10**6),
        "has 50,000 good lines": _log(
            b"".join(b'{"step": %d, "loss": 2.5, "lr": 0.1}\n' % n for n in range(1, 50_001))
        ),
        "has 50,000 bad lines": _log(b'{"step": null}\n' * 50_000),
        "has 2 GB of holes": _sparse,
        "is one line of 10 MB": _log(b"[" * 10**7 + b"\n"),
        "is empty": _log(b""),
        "is one line without an end": _log(b'{"step": 1, "loss": 1'),
        "is binary": _log(random.Random(0).randbytes(10**6)),
        "is UTF-16": _log(json.dumps(RECORD).encode("utf-16") * 9),
        "is a pipe": lambda folder: os.mkfifo(folder / LOG),
        "is a folder": lambda folder: (folder / LOG).mkdir(),
        "is /dev/zero": _link("/dev/zero"),
        "is /etc/passwd": _link("/etc/passwd"),
        "is a link to itself": _link(LOG),
        "is a link to nothing": _link("nothing"),
        "is not there": lambda _: None,
        "goes on": _live,
    }


def _arrays() -> dict[str, Any]:
    with np.load(next(iter(sorted((BUNDLED / "probes").glob("*.npz"))))) as file:
        return dict(file)


def _with_probe(change: Callable[[Path], None], *, alone: bool = False) -> Make:
    """A sound log and sound probes, with one file more or instead."""

    def make(folder: Path) -> None:
        _with_line("")(folder)
        path = folder / "probes" / "step-00000003-sentence-1.npz"
        if alone:
            for other in path.parent.iterdir():
                other.unlink()
        change(path)

    return make


def _saved(**changes: Any) -> Callable[[Path], None]:
    return lambda path: np.savez_compressed(path, **{**_arrays(), **changes})


def _words(**changes: Any) -> Callable[[Path], None]:
    words = {**json.loads(str(_arrays()["words"])), **changes}
    return _saved(words=np.array(json.dumps(words)))


def _header(header: str, size: int = 8) -> Callable[[Path], None]:
    """A member whose header says anything."""

    def change(path: Path) -> None:
        _saved()(path)
        content = BytesIO()
        content.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        content.write(bytes(size))
        with zipfile.ZipFile(path) as archive:
            others = {m: archive.read(m) for m in archive.namelist() if m != "cross.npy"}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, kept in {**others, "cross.npy": content.getvalue()}.items():
                archive.writestr(name, kept)

    return change


def _many(folder: Path) -> None:
    _with_line("")(folder)
    for number in range(4_000):
        (folder / "probes" / f"step-{number:08d}-sentence-9.npz").touch()


def _shape(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _changes() -> dict[str, Callable[[Path], None]]:
    return {
        "are not a number": _saved(cross=np.full((3, 8, 9, 8), np.nan, np.float32)),
        "are infinite": _saved(encoder_self=np.full((3, 8, 8, 8), np.inf, np.float32)),
        "are negative": _saved(cross=np.full((3, 8, 9, 8), -1, np.float32)),
        "are huge": _saved(cross=np.full((3, 8, 9, 8), 1e38, np.float32)),
        "are integers": _saved(cross=np.ones((3, 8, 9, 8), int)),
        "are objects": _saved(cross=np.array([{}], dtype=object)),
        "are text": _saved(cross=np.array(["a"])),
        "have another shape": _saved(cross=_shape(3, 8, 9, 9)),
        "have three axes": _saved(cross=_shape(3, 8, 9)),
        "have no axis": _saved(cross=np.float32(1)),
        "have no layers": _saved(cross=_shape(0, 8, 9, 8)),
        "have a million heads": _saved(cross=_shape(1, 10**6, 1, 1)),
        "unpack to a thousand times their size": _saved(cross=np.zeros(2**28, np.uint8)),
        "are a lie of a header": _header(NPY.format("10**9,")),
        "ask for 40 GB": _header(NPY.format("10000000000,")),
        "have a negative axis": _header(NPY.format("-2,")),
        "have brackets as a header": _header("(" * 9_000),
        "have code as a header": _header("__import__('os').abort()"),
        "have half the words": _words(target=None),
        "have pieces of numbers": _words(source_pieces=[[1, 2, 3]] * 8),
        "have no pieces": _words(source_pieces=[]),
        "have words out of order": _words(source_pieces=[[9, "a", 9 - n] for n in range(8)]),
        "have a broken character": _words(source="\ud800"),
        "have a script for a source": _words(source="<script>alert(1)</script>" * 50),
        "have another sentence": _words(source="Another."),
        "have brackets as words": _saved(words=np.array("[" * 100_000)),
        "are empty": lambda path: _write(path, b""),
        "are text files": lambda path: _write(path, b"hello"),
        "are a pipe": os.mkfifo,
        "are a folder": Path.mkdir,
        "are 2 GB of holes": lambda path: os.truncate(_touched(path), 2**31),
        "are a link to elsewhere": lambda path: path.symlink_to("/etc/passwd"),
        "are a link to nothing": lambda path: path.symlink_to("nothing"),
    }


def _touched(path: Path) -> Path:
    path.touch()
    return path


def _probes() -> dict[str, Make]:
    changes = _changes()
    return {
        **{name: _with_probe(change) for name, change in changes.items()},
        **{f"{name}, all": _with_probe(change, alone=True) for name, change in changes.items()},
        "are 4,000 files": _many,
    }


def _damaged(seed: int) -> Make:
    """A sound folder in which some bytes of one file are others."""

    def make(folder: Path) -> None:
        random_ = random.Random(seed)
        shutil.copytree(BUNDLED / "probes", folder / "probes")
        shutil.copyfile(BUNDLED / LOG, folder / LOG)
        path = random_.choice([folder / LOG, *sorted((folder / "probes").iterdir())])
        content = bytearray(path.read_bytes())
        for _ in range(random_.choice((1, 1, 3, 30))):
            content[random_.randrange(len(content))] = random_.randrange(256)
        if random_.random() < 0.2:
            del content[random_.randrange(len(content)) :]
        path.write_bytes(content)

    return make
