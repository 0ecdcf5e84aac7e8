"""Weights that another program could have written: every checksum is right."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from benchmarks.campaign.damage import NAMES, NUMBERS, Damage, short, sign
from transformer.checkpoints.checkpoint import WEIGHTS

DTYPES = (
    *(torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int16),
    *(torch.int32, torch.int64, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2),
)
VALUES = (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e30, 0.0, 1e-45)
HEADER = (*NUMBERS, "F32", "F4", "C64", "I8", [2**60, 2**60], [-1], [0, 10**19])


def weight_damages() -> Iterator[Damage]:
    """Types, values, shapes, names, and the header of the file."""
    for dtype, which in itertools.product(DTYPES, ("W_Q", "")):
        legitimate = dtype in (torch.float16, torch.bfloat16)
        yield Damage(
            f"{WEIGHTS}: {which or 'all'} as {dtype}",
            partial(_change, which=which, edit=partial(torch.Tensor.to, dtype=dtype)),
            "other" if legitimate else "no",
        )
    places = ("shared", "W_O", "norm.bias", "W_2.weight")
    for value, which, edit in itertools.product(VALUES, places, (_with, _filled)):
        yield Damage(
            f"{WEIGHTS}: {which} {'with a' if edit is _with else 'all'} {value}",
            partial(_change, which=which, edit=partial(edit, fill_value=value)),
            "other" if math.isfinite(value) else "no",
        )
    for name, reshape in _SHAPES.items():
        yield Damage(f"{WEIGHTS}: {name}", partial(_change, which="cross", edit=reshape), "no")
    for name in NAMES:
        if name not in ("__metadata__", "\ud800"):  # no names of a tensor
            yield Damage(f"{WEIGHTS}: one more, {name!a:.30}", partial(_add, name=name), "no")
    for key, field in itertools.product(("dtype", "shape", "data_offsets"), HEADER):
        yield Damage(
            f"{WEIGHTS}: header {key} = {short(field)}",
            partial(_edit_header, key=key, value=field),
            "same",
        )
    for length in (0, 1, 2**20, 2**31, 2**40, 2**63, 2**64 - 1):
        yield Damage(
            f"{WEIGHTS}: header of {length} bytes", partial(_set_length, length=length), "no"
        )


def _transposed(tensor: Tensor) -> Tensor:
    square = tensor.ndim == 2 and tensor.size(0) == tensor.size(1)
    return tensor[:1] if square or tensor.ndim < 2 else tensor.T.contiguous()


def _one_row_less(tensor: Tensor) -> Tensor:
    return tensor[:-1].contiguous()


def _empty(tensor: Tensor) -> Tensor:
    return tensor[:0].contiguous()


def _one_dimension_more(tensor: Tensor) -> Tensor:
    return tensor[None].contiguous()


_SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "transposed": _transposed,
    "one row less": _one_row_less,
    "empty": _empty,
    "one dimension more": _one_dimension_more,
    "a single number": torch.sum,
}


def _with(tensor: Tensor, fill_value: float) -> Tensor:
    changed = tensor.clone()
    changed.view(-1)[0] = fill_value
    return changed


def _filled(tensor: Tensor, fill_value: float) -> Tensor:
    return torch.full_like(tensor, fill_value)


def _change(folder: Path, which: str, edit: Callable[[Tensor], Tensor]) -> None:
    """Edit the tensors whose names hold a text."""
    tensors = safetensors.torch.load((folder / WEIGHTS).read_bytes())
    edited = {n: edit(tensor) if which in n else tensor for n, tensor in tensors.items()}
    (folder / WEIGHTS).write_bytes(safetensors.torch.save(edited))
    sign(folder)


def _add(folder: Path, name: str) -> None:
    tensors = safetensors.torch.load((folder / WEIGHTS).read_bytes())
    (folder / WEIGHTS).write_bytes(safetensors.torch.save(tensors | {name: torch.ones(2)}))
    sign(folder)


def _edit_header(folder: Path, key: str, value: Any) -> None:
    content = (folder / WEIGHTS).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["shared_embedding"][key] = value
    written = json.dumps(header).encode()
    (folder / WEIGHTS).write_bytes(
        len(written).to_bytes(8, "little") + written + content[8 + length :]
    )
    sign(folder)


def _set_length(folder: Path, length: int) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + content[8:])
    sign(folder)
