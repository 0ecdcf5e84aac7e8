"""What a run asks of its device and of the libraries below."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.training.runs import forkserver
from training.devices import _cpu_has_bf16, inference_device, set_up_distributed

CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


class Heap(ctypes.Structure):
    """What mallinfo2(3) of glibc says."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used",
            "free", "keepcost",
        )
    ]  # fmt: skip


def _measure(environment: dict[str, str], result: Path) -> None:
    """What `_growth` gives, as JSON; in a process that has used no kernel yet."""
    for name in CACHES:
        os.environ.pop(name, None)
    os.environ.update(environment)
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Heap
    set_up_distributed()
    weight = torch.randn(32, 32, 3)

    def used(first: int, last: int) -> float:
        for n in range(first, last):
            torch.nn.functional.conv1d(torch.randn(1, 32, n), weight)
        return float(libc.mallinfo2().used) / 2**20

    # by the kernels of oneDNN beyond the first hundred; in float32, so on any processor
    growth = -used(800, 905) + used(905, 945)
    result.write_text(json.dumps([growth, *(os.environ[name] for name in CACHES)]))


def _growth(result: Path, **environment: str) -> tuple[float, list[str]]:
    """MiB by which the heap grows after the first hundred shapes, and the sizes of the caches."""
    process = forkserver().Process(target=_measure, args=(environment, result))
    process.start()
    process.join()
    assert process.exitcode == 0
    growth, *sizes = json.loads(result.read_text())
    return float(growth), sizes


@pytest.mark.skipif(sys.platform != "linux", reason="reads the heap of glibc")
def test_the_kernels_of_shapes_that_are_gone_are_forgotten_unless_the_user_keeps_them(
    tmp_path: Path,
) -> None:
    unlimited, sizes = _growth(
        tmp_path / "kept", **dict.fromkeys(CACHES, "1024")
    )  # what is set already stays
    assert sizes == ["1024", "1024"]
    growth, sizes = _growth(tmp_path / "limited")
    assert sizes == ["100", "100"]
    assert unlimited > 1
    assert growth < unlimited / 8


@pytest.mark.parametrize(
    ("flags", "native"),
    [
        ("fpu sse4_2 avx2 f16c", False),
        ("avx2 avx512f avx512_bf16", True),
        ("avx512f amx_bf16 amx_tile", True),
        ("fp asimd i8mm bf16", True),
        ("fp asimd", False),
    ],
)
def test_bf16_is_native_where_the_processor_says_so(
    flags: str, native: bool, tmp_path: Path
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"model name\t: Some processor\nflags\t\t: {flags}\n")
    assert _cpu_has_bf16(cpuinfo) is native
    assert _cpu_has_bf16(tmp_path / "no such file")  # a system that does not say


@pytest.mark.parametrize("chosen", [lambda: set_up_distributed().device, inference_device])
def test_on_a_gpu_attention_is_not_planned_shape_by_shape(
    chosen: Callable[[], torch.device], monkeypatch: pytest.MonkeyPatch
) -> None:
    backends = torch.backends.cuda
    backends.enable_cudnn_sdp(True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    try:
        assert chosen().type == "cuda"
        assert not backends.cudnn_sdp_enabled()
        assert backends.flash_sdp_enabled()
        assert backends.mem_efficient_sdp_enabled()
    finally:
        backends.enable_cudnn_sdp(True)
