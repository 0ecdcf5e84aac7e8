"""Processes of a run: how they join, agree on their settings, and notice a lost one."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import distributed
from torch.distributed.distributed_c10d import _get_default_store, _set_pg_timeout

from transformer.errors import ConfigError, HeadlightError, quoted

JOIN_SECONDS = 50.0
"""All processes of a run must have started within so long of each other."""

LONGEST_WAIT = timedelta(hours=2)
"""Others may wait so long for one process, which learns a vocabulary or translates, say.

It need not be short: the connection to a process that ends is closed, which the others notice at
once.
"""


class LostProcessError(HeadlightError):
    """A process of a run whose other processes are gone or do not answer."""


def join_processes(device: torch.device, rank: int, world_size: int) -> None:
    """Join the other processes of the run.

    Raises:
        LostProcessError: if they do not come together.
    """
    on_gpu = device.type == "cuda"
    try:
        if rank > 0:
            _wait_for_address()
        # named, or the first collective would guess which GPU is this process's
        distributed.init_process_group(
            "nccl" if on_gpu else "gloo",
            device_id=device if on_gpu else None,
            timeout=timedelta(seconds=JOIN_SECONDS),
        )
    except (RuntimeError, ValueError, OSError) as error:
        cause = str(error).partition("\n")[0].rstrip(".")
        raise LostProcessError(
            f"Process {rank} of the {world_size} processes of this run, counted from 0, cannot "
            f"join the others ({cause}): start all of them within {JOIN_SECONDS:.0f} seconds, with "
            f"the same MASTER_ADDR and MASTER_PORT."
        ) from error
    _set_pg_timeout(LONGEST_WAIT)


def _wait_for_address() -> None:
    """Wait until the meeting point of the processes answers.

    torch would wait for twice its timeout, and print a stack of C++.

    Raises:
        OSError: if it does not.
        ValueError: if its port is not a number.
    """
    host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if not host or not port:
        return  # torch says so
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=JOIN_SECONDS).close()
        except OSError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{host}:{port} does not answer") from error
            time.sleep(0.1)
        else:
            return


def require_agreement(world_size: int, outcome: Mapping[str, object] | Exception) -> None:
    """Compare what the processes of a run are about to do; all of them call this together.

    Args:
        world_size: the number of processes.
        outcome: the settings of this process by name, or the error of its checks.

    Raises:
        Exception: in all processes, the error of the first one that has one.
        ConfigError: in all processes, if they differ in a setting.
    """
    outcomes = [outcome]
    if world_size > 1:
        outcomes *= world_size
        distributed.all_gather_object(outcomes, outcome)
    everywhere = []
    for settings in outcomes:
        if isinstance(settings, Exception):
            raise settings
        everywhere.append(settings)
    for rank, settings in enumerate(everywhere):
        for name, value in everywhere[0].items():
            if settings[name] != value:
                raise ConfigError(
                    f"{name} is {quoted(value)} in process 0 of the run and "
                    f"{quoted(settings[name])} in process {rank}: start all processes with the "
                    f"same configuration, data and options."
                )


@contextmanager
def lost_process_as_error() -> Iterator[None]:
    """Turn what torch raises when another process is gone into one sentence; a context manager.

    Raises:
        LostProcessError: if one is gone, or does not answer.
    """
    try:
        yield
    except RuntimeError as error:
        # gloo has no exception of its own, but names the file of its source
        if not isinstance(error, distributed.DistError) and "gloo/" not in str(error):
            raise
        raise LostProcessError(
            "Another process of this run has ended or does not answer: see what it printed, then "
            "start all of them again, with --resume if the run has begun."
        ) from error


def is_first_to_log(message: str) -> bool:
    """Return whether no other process of the run has logged the same message.

    No process waits for another: one may be wrong alone.
    """
    if not distributed.is_initialized():
        return True
    key = "logged/" + hashlib.sha256(message.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return bool(_get_default_store().add(key, 1) == 1)
    except RuntimeError:  # the process that has the store is gone: twice is better than never
        return True
