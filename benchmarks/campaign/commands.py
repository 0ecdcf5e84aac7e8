"""Hostile arguments for every command: one sentence and status 2, and nothing left behind."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from streamlit.web import cli

from benchmarks.campaign import judged
from benchmarks.campaign.hostile_arguments import every, mixture
from benchmarks.campaign.judged import Judged
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.small_model import SENTENCE, SENTENCES, save_small_model
from benchmarks.campaign.text import run_main
from benchmarks.campaign.worker import Worker
from training.download import __main__

ENTRANCE = "commands"
PROCESSES = 12
"""Of the inputs, how many are tried as real processes; each takes seconds to start."""

RECIPE = """
[model]
preset = "demo"
vocab_size = 100
N = 1
d_model = 16
d_ff = 16
h = 2
[training]
steps = 1
batch_tokens = 200
bf16 = false
validate_sentences = 2
"""


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Single hostile values for every option, mixtures of them, and some real processes."""
    chosen = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        pristine = Path(name) / "pristine"
        furnish(pristine)
        tried = list(every())
        chosen.shuffle(tried)
        processes = min(PROCESSES, count // 10)
        with Worker(_call) as worker:
            for number in range(count - processes):
                arguments = tried[number] if number < len(tried) else mixture(chosen, tried)
                folder = _fresh(pristine)
                reply = worker.call((str(folder), arguments))
                yield judged.outcome(ENTRANCE, _name(arguments), reply)
        for script in _SCRIPTS[:processes]:
            started = time.perf_counter()
            verdict, why = _process(_fresh(pristine), script)
            yield Outcome(
                ENTRANCE, f"process: {script}", verdict, why, time.perf_counter() - started
            )


def furnish(folder: Path) -> None:
    """What the valid arguments name, and what the hostile ones do."""
    folder.mkdir()
    save_small_model(folder / "model")
    run_ = folder / "run"
    shutil.copytree(folder / "model", run_ / "checkpoints" / "step-00000001")
    (run_ / "run.jsonl").write_text('{"step": 1}\n')
    for split, count in (("train", 100), ("valid", 6)):
        for language in ("en", "de"):
            lines = (SENTENCES * 2)[:count]
            (folder / "data" / f"{split}.{language}").parent.mkdir(exist_ok=True)
            (folder / "data" / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    (folder / "run.toml").write_text(RECIPE)
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "text").write_text("one line\n")
    (folder / "gold").write_text("0-0 1-1\n" * 6)
    (folder / "folder").mkdir()
    for broken in ("binary-log", "binary-sums"):
        shutil.copytree(run_, folder / broken)
    (folder / "binary-log" / "run.jsonl").write_bytes(b"\xff\xfe\x00")
    (folder / "binary-sums" / "archives").mkdir()
    (folder / "binary-sums" / "archives" / "SHA256SUMS").write_bytes(b"\xff\xfe\x00\n")


def _fresh(pristine: Path) -> Path:
    """A copy, and beside it what cannot be copied."""
    folder = pristine.with_name("copy")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pristine, folder)
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    for name, size in (("12gb", 12 * 10**9), ("nul-filled", 10**7)):
        with (folder / name).open("wb") as file:
            file.truncate(size)
    return folder


def _name(arguments: list[str]) -> str:
    return " ".join(f"{word!a:.40}" for word in arguments)


def _call(argument: tuple[str, list[str]]) -> Judged:
    """One command in a folder of its own."""
    folder, arguments = argument
    os.chdir(folder)
    torch.set_num_threads(1)
    setattr(cli, "main", lambda *_, **__: None)  # noqa: B010 (serving would never end)
    __main__.RETRIES = 0  # each waits for seconds
    before = _everything()
    main = importlib.import_module("headlight.__main__").main
    status, out, err = run_main(main, arguments, SENTENCE.encode())
    return _judged(status, out, err, before)


def _judged(status: object, out: str, err: str, before: set[str]) -> Judged:
    if "Traceback" in err or "Traceback" in out:
        return "bad", err[-500:]
    if status == 0:
        return "accepted", ""
    if status != 2:
        return "bad", f"exit status {status}: {err[-500:]}"
    said = err.rstrip("\n").rpartition("\n")[2].rpartition("\r")[2]
    if not said.isprintable() or not 0 < len(said) < 1_500:
        return "bad", f"no plain sentence: {err[-500:]!r}"
    if left := sorted(_everything() - before):
        return "bad", f"left behind: {', '.join(left)[:200]}; {said:.200}"
    return "refused", said


def _everything() -> set[str]:
    return {str(path) for path in itertools.chain(Path().rglob("*"), Path().rglob(".*"))}


# each with a folder of its own as the working directory
_SCRIPTS = (
    "$H translate --checkpoint model <&-",
    "$H translate --checkpoint model < binary",
    f"$H translate --checkpoint model '{SENTENCE}' > /dev/full",
    "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 $H translate --checkpoint model < data/train.de",
    "$H translate --checkpoint model $'\\xff\\xfe'",
    "$H translate --checkpoint $'\\xff\\xfe' x",
    f"$H report --checkpoint model '{SENTENCE}' -o /dev/full",
    "$H evaluate bleu --checkpoint model --src data/valid.en --ref data/valid.de > /dev/full",
    "$H average run --out $'a\\xff'",
    "$H train --config run.toml --data data --out out --steps 2 > /dev/full",
    "$H app --port 99999",
    "$H translate --checkpoint model --beam 1 < data/train.en | head -n 1",
)


def _process(folder: Path, script: str) -> Judged:
    command = f"{sys.executable} -m headlight"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    before = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    try:
        ran = subprocess.run(
            ["bash", "-c", script.replace("$H", command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=90,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "bad", "nothing for 90 s"
    out, err = (text.decode("utf-8", "replace") for text in (ran.stdout, ran.stderr))
    if "train " in script:  # its run had begun
        before |= {str(path.relative_to(folder)) for path in folder.rglob("*")}
    here = Path.cwd()
    os.chdir(folder)
    try:
        return _judged(ran.returncode, out, err.replace("\ufffd", "?"), before)
    finally:
        os.chdir(here)
