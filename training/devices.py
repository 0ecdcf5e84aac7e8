"""Devices and processes of a run: how processes join, agree, stop and notice a lost one."""

import gc
import hashlib
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
from torch import distributed
from torch.distributed.distributed_c10d import _get_default_store

from transformer.errors import ConfigError, HeadlightError, quoted

CPUINFO = Path("/proc/cpuinfo")
BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})  # the last one is Arm's


@dataclass(frozen=True)
class ProcessInfo:
    """This process among those of the run, ranks counted from 0, and where its tensors are."""

    device: torch.device
    rank: int = 0
    world_size: int = 1

    @property
    def is_main_process(self) -> bool:
        """True in the process of rank 0, which writes files and logs."""
        return self.rank == 0

    @property
    def length_multiple(self) -> int:
        """Batches are padded to multiples of this length.

        On a GPU few lengths mean few sizes of buffers to keep memory for. Multiples of 8 would save
        one compiled graph, and at captions' lengths compute a quarter of padding in every step.
        """
        return 4 if self.device.type == "cuda" else 1

    @property
    def is_asynchronous(self) -> bool:
        """True if reading a tensor's value waits for all work queued on the device."""
        return self.device.type == "cuda"

    @property
    def has_native_bf16(self) -> bool:
        """True if the device computes in bfloat16 natively.

        Without it bfloat16 is emulated: on a CPU with AVX2 alone, a step of the demo model was
        measured to take a hundred seconds.
        """
        if self.device.type == "cuda":
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
        return _cpu_has_bf16()


def set_up_distributed() -> ProcessInfo:
    """Choose the device, and join the other processes when torchrun started this one."""
    gpu = torch.cuda.is_available()
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cpu")
    if gpu:
        number, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
        if number >= count:
            raise ConfigError(
                f"Process {number + 1} of this machine has no GPU, since it has {count}: start "
                f"{count} processes."
            )
        device = torch.device("cuda", number)
        torch.cuda.set_device(device)
        # TF32 where float32 is multiplied. This sets the old flag and the new one: with one of
        # them alone, torch.compile fails in releases that read the other (pytorch issue 166387)
        torch.set_float32_matmul_precision("high")
        _avoid_planned_attention()
    else:
        # oneDNN and its callers would cache the kernels of 1,024 shapes, hardly one of which comes
        # again: half a megabyte each, measured to double a run's memory and to slow it by a tenth
        for variable in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
            os.environ.setdefault(variable, "100")
    if world_size > 1:
        join_processes(device, rank, world_size)
    return ProcessInfo(device, rank, world_size)


def inference_device() -> torch.device:
    """Return the device for evaluation and translation: the first GPU, if any, without cuDNN."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    _avoid_planned_attention()
    return torch.device("cuda")


def _avoid_planned_attention() -> None:
    """Keep scaled dot-product attention off cuDNN: flash and memory-efficient kernels serve.

    cuDNN, which torch prefers on an H100, plans a kernel for each shape that it meets. An epoch has
    hundreds of them, forward and backward, and a search has another one at each step.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def _cpu_has_bf16(cpuinfo: Path = CPUINFO) -> bool:
    """Return whether the processor has bfloat16 instructions; assumed where this is unknown."""
    try:
        text = cpuinfo.read_text("utf-8")
    except OSError:
        return True
    return not BF16_FLAGS.isdisjoint(text.split())


MAX_WAIT = timedelta(hours=2)
"""Others wait so long for one process, which learns a vocabulary, say. They notice its end."""


class LostProcessError(HeadlightError):
    """A process of a run whose other processes are gone or do not answer."""


def join_processes(device: torch.device, rank: int, world_size: int) -> None:
    """Join the other processes of the run."""
    on_gpu = device.type == "cuda"
    try:
        # named, or the first collective would guess which GPU is this process's
        distributed.init_process_group(
            "nccl" if on_gpu else "gloo",
            device_id=device if on_gpu else None,
            timeout=MAX_WAIT,
        )
    except (RuntimeError, ValueError, OSError) as error:
        cause = str(error).partition("\n")[0].rstrip(".")
        raise LostProcessError(
            f"Process {rank} of the {world_size} processes of this run, counted from 0, cannot "
            f"join the others ({cause}): start all of them with torchrun."
        ) from error


def leave_processes() -> None:
    """Leave the other processes, after everything that computed together with them is freed.

    DistributedDataParallel holds the group, too. Freed last and while a process is lost, it waits
    for a thread that waits for Python's lock, which it does not release.
    """
    if distributed.is_initialized():
        gc.collect()
        distributed.destroy_process_group()


def require_agreement(world_size: int, outcome: Mapping[str, object] | Exception) -> None:
    """Compare settings by name, or the error of its checks, with those of the other processes.

    All of them call this together, and all of them raise the error of the first one that has one.
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
    """Turn what torch raises when another process is gone into one sentence; a context manager."""
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
    """Return whether no other process of the run, for which none waits, has logged the message."""
    if not distributed.is_initialized():
        return True
    key = "logged/" + hashlib.sha256(message.encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return bool(_get_default_store().add(key, 1) == 1)
    except RuntimeError:  # the process that has the store is gone: twice is better than never
        return True


class StopRequest:
    """Request to stop a run; all of its processes stop at the same step, once all have `agreed`."""

    def __init__(self, process: ProcessInfo) -> None:
        self.process = process
        self.signalled = False  # a signal came to this process
        self.agreed = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGTERM and Ctrl-C as the request, and give them back in the end."""
        before = {name: signal.signal(name, self._note) for name in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def agree(self, *, may_communicate: bool) -> None:
        """Stop if a signal came to any process; several ask each other where all of them may."""
        if self.process.world_size == 1:
            self.agreed = self.signalled
        elif may_communicate:
            asked = torch.tensor(int(self.signalled), device=self.process.device)
            distributed.all_reduce(asked)
            self.agreed = bool(asked)

    def _note(self, *_: object) -> None:
        self.signalled = True
