"""The devices of a run: one CPU, one GPU, or several processes started by torchrun."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from training.processes import join_processes
from transformer.errors import ConfigError

CPUINFO = Path("/proc/cpuinfo")
BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})  # the last one is Arm's
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4  # of mallopt(3)


@dataclass(frozen=True)
class ProcessInfo:
    """This process among those of the run.

    Args:
        device: where its tensors are.
        rank: its number, from 0.
        world_size: how many processes there are.
    """

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

        On a GPU few lengths mean few sizes of buffers to keep memory for. A larger multiple would
        gain little more: no kernel of attention is planned for a length, and a product's rows are
        those of all sentences together. A compiled layer has one graph for the lengths that are
        multiples of 8, to which attention aligns its mask, and one for the others: multiples of 8
        would save the second, which is compiled once, and at captions' lengths compute a quarter of
        padding in every step (`python -m benchmarks.training --multiple 8` measures it). On a CPU,
        none.
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
    """Choose the device, and join the other processes when torchrun started this one.

    Raises:
        ConfigError: if there are GPUs, but fewer than processes on this machine.
        LostProcessError: if the processes of the run do not come together.
    """
    gpu = torch.cuda.is_available()
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = _gpu_of_process() if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
        # TF32 where float32 is multiplied. This sets the old flag and the new one: with one of
        # them alone, torch.compile fails in releases that read the other (pytorch issue 166387)
        torch.set_float32_matmul_precision("high")
        _avoid_planned_attention()
    else:
        _limit_kernel_cache()
        _keep_freed_memory()
    if world_size > 1:
        join_processes(device, rank, world_size)
    return ProcessInfo(device, rank, world_size)


def inference_device() -> torch.device:
    """Return the device for evaluation and translation: the first GPU, if there is one.

    Attention there is kept off cuDNN, as in training.
    """
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


def _gpu_of_process() -> torch.device:
    number, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if number >= count:
        raise ConfigError(
            f"Process {number + 1} of this machine has no GPU, since it has {count}: start "
            f"{count} processes."
        )
    return torch.device("cuda", number)


def _cpu_has_bf16(cpuinfo: Path = CPUINFO) -> bool:
    """Return whether the processor has bfloat16 instructions; assumed where this is unknown."""
    try:
        text = cpuinfo.read_text("utf-8")
    except OSError:
        return True
    return not BF16_FLAGS.isdisjoint(text.split())


def _limit_kernel_cache() -> None:
    """Let oneDNN and its callers cache the kernels of a hundred shapes instead of 1,024.

    Each batch has other shapes, so a cached kernel is hardly used again after a step. Half a
    megabyte a kernel, scattered over the heap, was measured to double the memory of a run within a
    hundred steps and to make it a tenth slower.
    """
    for variable in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(variable, "100")


def _keep_freed_memory() -> None:
    """Ask glibc to keep freed memory for the next step instead of returning it.

    Each step frees and allocates the same large buffers; getting them back from the system page
    by page was measured to cost about a sixth of a step.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_MAX, 0)
        libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(_M_TOP_PAD, 2**28)
        _ask_for_huge_pages(libc, 3 * 2**29)


def _ask_for_huge_pages(libc: ctypes.CDLL, size: int) -> None:
    """Advise huge pages of 2 MiB for the first allocations: a step is a tenth faster.

    The space is allocated and freed at once. It stays at the end of the heap, untouched and
    so without cost, until it is needed.
    """
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    space = libc.malloc(ctypes.c_size_t(size))
    if not space:
        return
    page = mmap.PAGESIZE
    start = -(-space // page) * page
    advice = ctypes.c_int(getattr(mmap, "MADV_HUGEPAGE", 14))
    libc.madvise(
        ctypes.c_void_p(start), ctypes.c_size_t((size - page) // page * page), advice
    )  # a kernel without them says no, and nothing changes
    libc.free(space)
