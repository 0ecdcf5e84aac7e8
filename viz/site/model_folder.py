"""A checkpoint as the engine in a page loads it: `Folder` of viz/browser/engine/folder.ts.

`model.json` lists parts of about two megabytes, which a browser keeps and checks one by one. The
weights come in planes: the highest byte of every number, then the next lower one. They are float32
unless each of them is a bfloat16 exactly.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from transformer import InputError, Translator
from transformer.checkpoints import marian
from transformer.files.documents import parse_json

MANIFEST = "model.json"
_PART = 2**21  # bytes of a part before it is packed
_LARGEST = 127  # of an int8

BLEU = {
    "d84dc140d99422f580cbd0d68f1c6b07c8e64ff9d8bee02fe9f16b77488298ab": (36.21, 35.99),
    "cd1bb014742041cce379f1243775f53bca51d1d6c95dbeb83f3c9fec41803d19": (39.02, 39.16),
}
"""Exact and rounded weights on 1,000 sentences, by checksum: `python -m benchmarks rounded`."""

_Arrays = Mapping[str, NDArray[Any]]


def require_own_format(checkpoint: Path) -> None:
    """Raise `InputError` if a checkpoint is a MarianMT folder, which the engine cannot run."""
    if marian.is_marian(checkpoint):
        raise InputError(
            f"{checkpoint} is a MarianMT model: the page runs only Headlight's checkpoints."
        )


def model_files(translator: Translator, *, int8: bool = False) -> dict[str, bytes]:
    """Return the files of the folder by their names; `int8` adds rounded weights for phones."""
    weights = _weights(translator)
    is_half = all(torch.equal(p.bfloat16().float(), p) for p in weights.values())
    exact = {
        name: (p.bfloat16().view(torch.int16) if is_half else p).numpy()
        for name, p in weights.items()
    }
    files: dict[str, bytes] = {}
    manifest = _stored(exact, files)
    if int8:
        manifest["int8"] = _stored(_rounded(weights), files)
    return _described(translator, manifest, files)


def carried_files(translator: Translator) -> dict[str, bytes]:
    """Return the files of a folder that has the rounded weights alone."""
    files: dict[str, bytes] = {}
    return _described(translator, _stored(_rounded(_weights(translator)), files), files)


def _weights(translator: Translator) -> dict[str, torch.Tensor]:
    return {name: p.detach() for name, p in translator.model.named_parameters()}


def _described(
    translator: Translator, stored: dict[str, Any], files: dict[str, bytes]
) -> dict[str, bytes]:
    manifest = {
        "name": translator.checksum[:16],
        "config": translator.model.config.to_dict(),
        "tokenizers": [_part(translator.target_tokenizer.model, files)],
        **stored,
    }
    return {MANIFEST: json.dumps(manifest, separators=(",", ":")).encode(), **files}


def loaded_bytes(files: Mapping[str, bytes]) -> tuple[int, int]:
    """Return the bytes that a visit loads, and those with rounded weights, 0 without these."""
    manifest = parse_json(files[MANIFEST])
    rounded = manifest.get("int8", {"parts": []})["parts"]
    tokenizers, exact, less = (
        sum(part["bytes"] for part in parts)
        for parts in (manifest["tokenizers"], manifest["parts"], rounded)
    )
    return exact + tokenizers, less and less + tokenizers


def _rounded(weights: Mapping[str, torch.Tensor]) -> dict[str, NDArray[Any]]:
    """Round matrices to int8, each row with a factor; all int8 come first, then all float32."""
    matrices: dict[str, NDArray[Any]] = {}
    vectors: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if weight.ndim < 2:
            vectors[name] = weight.numpy()
            continue
        rows = weight.flatten(1)
        factors = rows.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / _LARGEST
        matrices[name] = (rows / factors[:, None]).round().to(torch.int8).view(weight.shape).numpy()
        vectors[f"{name}.scale"] = factors.numpy()
    return {**matrices, **vectors}


def _stored(arrays: _Arrays, files: dict[str, bytes]) -> dict[str, Any]:
    """Cut arrays into parts, and return their header and the list of the parts."""
    names = {"int8": "I8", "int16": "BF16", "float32": "F32"}
    header, end = {}, 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": names[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    parts = [
        {**_part(content, files), "start": start, "width": width, "plane": plane}
        for start, width, plane, content in sorted(_planes(arrays), key=lambda part: -part[2])
    ]
    return {"header": header, "parts": parts}


def _planes(arrays: _Arrays) -> Iterator[tuple[int, int, int, bytes]]:
    """Cut arrays into planes, and these into parts: first number, width, plane, and bytes."""
    first = 0
    for width in sorted({array.itemsize for array in arrays.values()}):
        own = [array for array in arrays.values() if array.itemsize == width]
        content = b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in own)
        for plane in range(width):
            numbers = content[plane::width]
            for start in range(0, len(numbers), _PART):
                yield first + start, width, plane, numbers[start : start + _PART]
        first += len(content) // width


def _part(content: bytes, files: dict[str, bytes]) -> dict[str, Any]:
    """Pack a part among the files, named by its checksum."""
    packed = gzip.compress(content, mtime=0)
    name = f"{sha256(packed).hexdigest()[:16]}.bin"
    files[name] = packed
    return {"name": name, "bytes": len(packed)}
