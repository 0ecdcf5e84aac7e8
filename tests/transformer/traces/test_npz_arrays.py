"""Arrays are read from an NPZ file only after their sizes were looked at."""

from __future__ import annotations

import io
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from transformer.traces.npz import TooLargeError, read_arrays


def test_the_named_arrays_come_back(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    np.savez_compressed(path, a=np.eye(3), b=np.array("text"), c=np.zeros(2**20))
    found = read_arrays(path, ("a", "b"), max_bytes=2**14)
    assert np.array_equal(found["a"], np.eye(3))
    assert str(found["b"]) == "text"


def test_what_unpacks_to_more_than_it_may_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, a=np.zeros(2**24))  # 128 MiB in 130 kB
    tracemalloc.start()
    with pytest.raises(TooLargeError, match=r"unpacks to 134,217,856 bytes"):
        read_arrays(path, ("a",), max_bytes=2**20)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'shape': (2,), }",
        "(" * 5000,
        "'",
        "-" * 9000 + "1",
    ],
)
def test_a_header_that_asks_for_other_than_what_follows_is_refused(
    tmp_path: Path, header: str
) -> None:
    content = io.BytesIO()
    content.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    content.write(bytes(8))
    path = tmp_path / "odd.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content.getvalue())
    with pytest.raises(ValueError, match=r"\w"):
        read_arrays(path, ("a",), max_bytes=2**20)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(OSError, match="no regular file"):
        read_arrays(tmp_path / "pipe.npz", ("a",), max_bytes=2**20)
