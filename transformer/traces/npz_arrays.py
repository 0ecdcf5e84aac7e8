"""Read the arrays of anybody's NPZ file: sizes are checked before anything is unpacked."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from transformer.files.reading import opened

_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class TooLargeError(ValueError):
    """An archive whose arrays together unpack to more than they may."""


def read_arrays(path: Path, names: Iterable[str], *, max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    """Read the named arrays, unpacked.

    `max_bytes` bounds the file, and all arrays together.

    Raises:
        OSError: if the file cannot be read, is no regular file or is larger.
        TooLargeError: if it unpacks to more than `max_bytes`.
        ValueError: if it is damaged or holds other arrays; or another error of NumPy or zipfile.
    """
    with opened(path, max_bytes) as (file, _), zipfile.ZipFile(file) as archive:
        members = {name: archive.getinfo(f"{name}.npy") for name in names}
        # zipfile unpacks no more of a member than its entry says
        size = sum(member.file_size for member in members.values())
        if size > max_bytes:
            raise TooLargeError(f"it unpacks to {size:,} bytes, and up to {max_bytes:,} are read")
        return {name: _read(archive, member) for name, member in members.items()}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is packed in another way than NumPy packs")
    with archive.open(member) as file:
        _check_header(file, member.file_size)
    with archive.open(member) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def _check_header(file: IO[bytes], size: int) -> None:
    """Refuse a header that asks for more than follows it: NumPy makes room for it first."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER:
        raise ValueError(f"format {version} of NPY is not read")
    try:
        shape, _, dtype = _HEADER[version](file)
    except (SyntaxError, TokenError, MemoryError) as error:  # it is parsed as Python
        raise ValueError("the header of an array is not one") from error
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError("an array is not as large as its header says")
