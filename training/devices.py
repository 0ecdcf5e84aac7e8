"""Where a run computes: one CPU, one GPU, or several processes started by torchrun."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from dataclasses import dataclass

import torch
from torch import distributed

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4  # of mallopt(3)


@dataclass(frozen=True)
class Placement:
    """This process among those of the run.

    Args:
        device: where its tensors are.
        rank: its number, from 0; rank 0 writes the files.
        world: how many processes there are.
    """

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    @property
    def length_multiple(self) -> int:
        """Batches are padded to multiples of this length.

        On a GPU few lengths mean few shapes to plan for, and its matrix units take eight numbers
        at a time; a CPU would just compute the padding.
        """
        return 8 if self.device.type == "cuda" else 1


def place() -> Placement:
    """Choose the device, and join the other processes when torchrun started this one."""
    gpu = torch.cuda.is_available()
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = (
        torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if gpu else torch.device("cpu")
    )
    if gpu:
        torch.cuda.set_device(device)
        torch.backends.cuda.matmul.allow_tf32 = True
    else:
        _keep_few_kernels()
        _keep_freed_memory()
    if world > 1:
        distributed.init_process_group("nccl" if gpu else "gloo")
    return Placement(device, rank, world)


def _keep_few_kernels() -> None:
    """Let oneDNN and what calls it remember the kernels of a hundred shapes instead of 1,024.

    Each batch has other shapes, so what is remembered for longer than a step is hardly met again.
    Half a megabyte a kernel, scattered over the heap, was measured to double the memory of a run
    within a hundred steps and to make it a tenth slower.
    """
    for variable in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(variable, "100")


def _keep_freed_memory() -> None:
    """Ask glibc to keep freed memory for the next step instead of returning it.

    Each step frees and takes the same large buffers; getting them back from the system page
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
    """Let the memory that will be taken first come in pages of 2 MiB: a step is a tenth faster.

    The space is taken and given back at once. It stays at the end of the heap, untouched and
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
