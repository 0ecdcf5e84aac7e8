"""What a run asks of its device and of the libraries below."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from training.devices import _cpu_has_bf16

CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
# MiB in the heap after oneDNN made kernels for many shapes; in float32, so on any processor
SCRIPT = """
import ctypes, json, torch
from training.devices import set_up_distributed

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used",
        "free", "keepcost")]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Heap
set_up_distributed()
weight = torch.randn(32, 32, 3)
def used(first, last):
    for n in range(first, last):
        torch.nn.functional.conv1d(torch.randn(1, 32, n), weight)
    return libc.mallinfo2().used / 2**20
print(json.dumps([used(800, 910), used(910, 1200)]))
"""


def _growth(**environment: str) -> float:
    """MiB by which the heap grows after the first hundred shapes."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    return float(after - before)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the heap of glibc")
def test_the_kernels_of_shapes_that_are_gone_are_forgotten() -> None:
    unlimited = _growth(**dict.fromkeys(CACHES, "1024"))  # what is set already stays
    assert unlimited > 8
    assert _growth() < unlimited / 10


@pytest.mark.parametrize("given", [{}, dict.fromkeys(CACHES, "7")], ids=["unset", "set"])
def test_the_size_of_the_kernel_caches_is_set_unless_the_user_has(given: dict[str, str]) -> None:
    script = (
        "import os; from training.devices import set_up_distributed; set_up_distributed(); "
        f"print(*(os.environ[name] for name in {CACHES}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=given, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [given.get(name, "100") for name in CACHES]


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
