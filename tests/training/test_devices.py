"""Where a run computes, and what it asks of the libraries below."""

import json
import subprocess
import sys

import pytest

CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
# what matrix products of ever other shapes leave in the heap, in MiB
SCRIPT = """
import ctypes, json, torch
from training.devices import place

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used",
        "free", "keepcost")]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Heap
place()
weight = torch.randn(256, 256).bfloat16()
def used(first, last):
    for n in range(first, last):
        torch.randn(n, 256).bfloat16() @ weight
    return libc.mallinfo2().used / 2**20
print(json.dumps([used(100, 210), used(210, 900)]))
"""


def _used(**environment: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    return before, after


@pytest.mark.skipif(sys.platform != "linux", reason="reads the heap of glibc")
def test_the_kernels_of_shapes_that_are_gone_are_forgotten() -> None:
    many = _used(**dict.fromkeys(CACHES, "1024"))  # what is set already stays
    few = _used()
    grown = many[1] - many[0]
    if grown < 10:
        pytest.skip("this processor's bf16 products leave nothing behind")
    assert few[1] - few[0] < grown / 10
