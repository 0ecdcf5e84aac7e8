"""Hostile TOML files as the configuration of a run."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.campaign import judged
from benchmarks.campaign.judged import Judged
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.worker import Worker
from training.config import Recipe, RunConfig
from training.schedule import cooldown_left, learning_rate
from transformer import HeadlightError, TransformerConfig
from transformer.shapes import number_of_parameters, refuse_too_large

ENTRANCE = "configurations"

MODEL = (
    "preset", *(field.name for field in dataclasses.fields(TransformerConfig)),
    "layers", "x" * 10_000,
)  # fmt: skip
TRAINING = (*(field.name for field in dataclasses.fields(Recipe)), "step")
VALUES = (
    *("0", "-1", "1", "2", "7", "1000000000", "1000000001", "9223372036854775808", "1" + "0" * 400),
    *(
        "9" * 5_000,
        "0x" + "f" * 5_000,
        "-" + "9" * 400,
        "0.5",
        "1e308",
        "1e999",
        "-1e308",
        "5e-324",
    ),
    *("nan", "inf", "-inf", "true", "false", '""', '"base"', '"' + "x" * 10_000 + '"', "[]", "[1]"),
    *(
        "{}",
        "{a = 1}",
        "1979-05-27",
        "07:32:00",
        "[" * 5_000 + "]" * 5_000,
        "'\\u0000'",
        '"\\u0007"',
    ),
)
WHOLE: tuple[bytes, ...] = (
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf[model]\n", b"[model]\n[model]\n", b"model = 1\n"),
    *(
        b"[training]\n" * 2,
        b"[[model]]\n",
        b"[model.training]\nN = 1\n",
        b"[" * 100_000,
        b"a" * 2**21,
    ),
    *(
        b"[other]\nx = 1\n",
        b"[model\n",
        b"\x1b[31m = 1",
        b"{}",
        b"null",
        b"[model]\nN = 1\nN = 2\n",
    ),
    b"[" + b"x." * 20_000 + b"x]\n",
)
SPECIAL = ("missing", "pipe", "folder", "device", "x" * 300, "a/b/c", "\udcff")


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Every value in every field once, then mixtures of them."""
    chosen = random.Random(seed)
    tables = [("model", name) for name in MODEL] + [("training", name) for name in TRAINING]
    singles = [
        (f"[{table}] {name:.20} = {value:.20}", f"[{table}]\n{name} = {value}\n".encode())
        for (table, name), value in itertools.product(tables, VALUES)
    ]
    chosen.shuffle(singles)
    texts = [(f"the file {content!r:.30}", content) for content in WHOLE]
    with tempfile.TemporaryDirectory() as folder, Worker(_load) as worker:
        path = Path(folder) / "run.toml"
        for number in range(count):
            if number < len(SPECIAL):
                name, at = (
                    f"a path: {SPECIAL[number]!a:.20}",
                    _special(Path(folder), SPECIAL[number]),
                )
            else:
                queue = texts or singles
                name, content = queue.pop() if queue else _mixture(chosen, tables)
                path.write_bytes(content)
                at = path
            reply = worker.call(str(at))
            yield judged.outcome(ENTRANCE, name, reply)


def _special(folder: Path, kind: str) -> Path:
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    return path


def _mixture(chosen: random.Random, tables: list[tuple[str, str]]) -> tuple[str, bytes]:
    """Some fields of each table, most of them with values that each alone is fine."""
    lines: dict[str, list[str]] = {"model": [], "training": []}
    for table, name in chosen.sample(tables, chosen.randint(2, 8)):
        value = chosen.choice(("1", "2", "8", "64", "0.5", "1000000000", chosen.choice(VALUES)))
        lines[table].append(f"{name} = {value}")
    text = "".join(f"[{table}]\n" + "\n".join(of) + "\n" for table, of in lines.items())
    return f"mixture: {text!r:.60}", text.encode()


def _load(path: str) -> Judged:
    """A configuration that is accepted gives a model of countable size and a finite rate."""
    try:
        config = RunConfig.load(Path(path))
        refuse_too_large(config.model)
    except HeadlightError as error:
        return judged.refused(str(error))
    if number_of_parameters(config.model) < 1:
        return "bad", "a model without parameters"
    recipe = config.recipe
    for step in (1, recipe.steps):
        rate = learning_rate(
            step, config.model.d_model, recipe.warmup, recipe.lr_factor,
            cooldown_left(step, recipe.steps, recipe.cooldown),
        )  # fmt: skip
        if not (math.isfinite(rate) and rate >= 0):
            return "bad", f"the learning rate of step {step} is {rate}"
    if RunConfig.from_dict(config.to_dict()) != config:
        return "bad", "it does not survive its own dictionary"
    return "accepted", ""
