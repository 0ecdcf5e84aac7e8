"""A job of a plan in a process of its own."""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import sys
import threading
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from training.pipeline.parts import Job


def context() -> BaseContext:
    """How processes are started: CUDA does not survive a fork; elsewhere the imports are shared."""
    if torch.cuda.is_available():
        return get_context("spawn")
    forks = get_context("forkserver")
    # Adam imports _dynamo
    forks.set_forkserver_preload(
        ["training.train", "training.evaluate", "torch._dynamo", "torch.distributed"]
    )
    return forks


def start(job: Job, output: Path) -> BaseProcess:
    """Start a job; what it prints is appended to a file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    # the type of a context does not say that it has processes
    process: BaseProcess = context().Process(target=carry_out, args=(job, output))  # type: ignore[attr-defined]
    process.start()
    return process


def carry_out(job: Job, output: Path) -> None:
    """Call the job's command, in the process that was started for it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent passes SIGTERM on
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    words = (sys.executable, "-m", job.module, *job.arguments)
    print(f"\n$ {shlex.join(words)}", file=sys.stderr, flush=True)
    new = job.product.with_name(job.product.name + ".new")
    if job.takes_output:
        new.parent.mkdir(parents=True, exist_ok=True)
        with new.open("wb") as file:
            os.dup2(file.fileno(), 1)
    status: int = importlib.import_module(job.module).main(list(job.arguments))
    sys.stdout.flush()
    if job.takes_output and status == 0:
        new.replace(job.product)
    sys.exit(status)


def _end_with_parent() -> None:
    """A job without its plan would go on beside the next call's."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)
