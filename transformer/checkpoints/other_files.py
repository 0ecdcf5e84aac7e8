"""Advice on files, folders and names that are not a model, but are given for one."""

import os
import re
from contextlib import suppress
from fnmatch import fnmatch
from itertools import chain, islice
from pathlib import Path

_BELOW = ("*", "*/*", "models--*/snapshots/*")  # of runs, and of the hub's cache
_MOST = 10_000  # entries of a folder that are looked at
_SCHEME = re.compile(r"([A-Za-z][\w+.-]+):/+")
_SITE = r"(?:(?:https?://)?(?:huggingface\.co|hf\.co)/|hf://)?"
_HUB = re.compile(_SITE + r"([A-Za-z0-9][\w.-]*/([\w.-]+))(?:/(?:tree|blob|resolve)/.*)?")
_ORIGINAL = "give the folder with model.safetensors that it is made from"
_KINDS = (
    ("PREPARED.json", "prepared text", "give a model that was trained on it"),
    ("adapter_*", "a LoRA adapter", "merge it with merge_and_unload of peft, and save that model"),
    ("EXPORT.json", "an export", "give what it was exported from"),
    ("model.bin", "a model for CTranslate2", _ORIGINAL),
    ("*.npz", "of Marian, or a trace", "convert_marian_to_pytorch of transformers 4 converts it"),
    ("*.onnx onnx", "an ONNX model", _ORIGINAL),
    ("*.gguf", "a GGUF model", _ORIGINAL),
    ("tf_model.h5 *.msgpack", "for TensorFlow or JAX", "save it for PyTorch by transformers 4"),
    ("*.index.json", "in several files", "save it with max_shard_size='8GB' in save_pretrained"),
    ("*.zip *.tar *.tgz *.tar.*", "packed", "unpack it, and give the folder"),
    ("*.pt *.pth *.ckpt", "of another toolkit", "draw it with AttentionTrace.from_arrays"),
)
"""Patterns of names, what a file or folder with such names is, and what to do."""


def advice(path: Path, otherwise: str) -> str:
    """Return a sentence on what a path is that is not a model; `otherwise` if that is unknown."""
    with suppress(OSError):  # of what may not be looked at
        return (_describe(path) if path.exists() else _describe_missing(path)) or otherwise
    return otherwise


def _describe(path: Path) -> str:
    names = [path.name]
    if path.is_dir():
        names = [entry.name for entry in islice(path.iterdir(), _MOST)]
        below = islice(chain.from_iterable(map(path.glob, _BELOW)), _MOST)
        if models := [place for place in below if _is_model(place)]:
            newest = max(models, key=lambda place: place.stat().st_mtime)
            return f"{path} has no weights, but {newest} has: give that folder."
    elif _is_model(path.parent):
        return f"{path} is a file of a model: give its folder, {path.parent}."
    for patterns, kind, then in _KINDS:
        if any(fnmatch(name, pattern) for name in names for pattern in patterns.split()):
            return f"{path} is {kind}, which is not read here: {then}."
    return "" if path.is_dir() else f"{path} is a file: give the folder of a model."


def _describe_missing(path: Path) -> str:
    text = _SCHEME.sub(r"\1://", str(path), count=1)  # a path has one slash of two
    if text.startswith("~"):
        home = os.path.expanduser(text)  # noqa: PTH111 pathlib's raises
        return f"There is no folder {text}, as only a shell knows ~: write {home}."
    name = f"Helsinki-NLP/{text}" if text.startswith("opus-mt-") else text
    if (match := _HUB.fullmatch(name)) and not Path(match[1]).parent.exists():
        return (
            f"There is no folder {text}, and nothing is downloaded: for a model of the Hugging "
            f"Face hub, run hf download {match[1]} --local-dir {match[2]}, and give that folder."
        )
    if _SCHEME.match(text):
        return f"{text} is an address, and nothing is downloaded: give the path of a folder."
    return ""


def _is_model(folder: Path) -> bool:
    names = ("config.json", "model.safetensors", "pytorch_model.bin")
    config, *weights = (os.path.isfile(folder / name) for name in names)  # noqa: PTH113
    return config and any(weights)
