"""A damaged checkpoint is refused, or gives a model that translates and can be traced."""

import dataclasses
import hashlib
import json
import math
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from
from torch import Tensor

from tests.fuzz import bounds
from transformer import Tokenizer, Transformer, TransformerConfig, Translator
from transformer.checkpoints import checkpoint
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST, TOKENIZER, WEIGHTS

SENTENCE = "The small dog waits in the garden."
EXTRA = {"MODEL_CARD.md": "# A small model\n", "run.jsonl": '{"step": 1, "loss": 5.0}\n'}
FILES = [WEIGHTS, CONFIG, TOKENIZER, MANIFEST, *EXTRA]
FIELDS = [*(field.name for field in dataclasses.fields(TransformerConfig)), "unknown_field"]
MISSING = "(no value)"
NUMBERS: list[Any] = [
    *(0, -1, 1, 2, 3, 7, 2**16, 2**20, 2**31, 2**63, 10**18, 10**400, -(10**400), 1.5, 16.0),
    *(math.nan, math.inf, True, False, None, "16", "", [], {}, [16], {"16": 16}, "x" * 10_000),
]
NAMES = [
    *("x", "", "x" * 300, "x" * 10_000, "a\nb", "a\0b", "\x1b[31m", "\u202e", "../x", "/etc/hosts"),
    *("NUL", "shared_embedding.", "MANIFEST.json", "a/b", ".", "..", "\ud800", "__metadata__"),
]
HALVES = (torch.float16, torch.bfloat16)
WRONG_TYPES = (
    *(torch.float64, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool),
    *(torch.float8_e4m3fn, torch.float8_e5m2),
)
Accepted = Literal["no", "same", "other"]
"""Whether a damaged folder may still be loaded: never, with the same translation, or anyhow."""


def _sign(folder: Path) -> None:
    """Renew all checksums, as the program that wrote the files would."""
    _edit_json(
        folder / MANIFEST,
        lambda manifest: manifest["sha256"].update(
            {
                name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
                for name in manifest["sha256"]
            }
        ),
    )


def _edit_json(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_bytes())
    edit(values)
    path.write_text(json.dumps(values))


def set_field(folder: Path, field: str, value: Any) -> Accepted:
    def change(config: dict[str, Any]) -> None:
        config[field] = value
        if value == MISSING:
            del config[field]

    _edit_json(folder / CONFIG, change)
    _sign(folder)
    return "other"


def set_manifest(folder: Path, key: str, value: Any) -> Accepted:
    _edit_json(folder / MANIFEST, lambda manifest: manifest.update({key: value}))
    return "same" if key == "format" and value in (1, True) else "no"


def list_file(folder: Path, name: str, checksum: Any) -> Accepted:
    _edit_json(folder / MANIFEST, lambda manifest: manifest["sha256"].update({name: checksum}))
    return "no"


def _fill(tensor: Tensor, value: float, count: int | None) -> Tensor:
    changed = tensor.clone()
    changed.view(-1)[:count] = value
    return changed


TENSORS: list[tuple[str, Accepted, Callable[[Tensor], Tensor]]] = [
    *((name, "no", partial(Tensor.to, dtype=t)) for name in ("W_Q", "") for t in WRONG_TYPES),
    *((name, "other", partial(Tensor.to, dtype=t)) for name in ("W_Q", "") for t in HALVES),
    *(
        (name, "other" if math.isfinite(value) else "no", partial(_fill, value=value, count=count))
        for name in ("shared", "W_O", "norm.bias", "W_2.weight")
        for value in (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e30, 0.0, 1e-45)
        for count in (1, None)
    ),
    ("cross", "no", lambda t: t[:1] if t.ndim < 2 or t.size(0) == t.size(1) else t.T),
    ("cross", "no", lambda t: t[:-1]),
    ("cross", "no", lambda t: t[:0]),
    ("cross", "no", lambda t: t[None]),
    ("cross", "no", torch.sum),
]
"""Part of the names of tensors, whether they are accepted, and the change."""


def edit_tensors(folder: Path, edit: tuple[str, Accepted, Callable[[Tensor], Tensor]]) -> Accepted:
    part, accepted, change = edit
    tensors = safetensors.torch.load((folder / WEIGHTS).read_bytes())
    edited = {name: change(t).contiguous() if part in name else t for name, t in tensors.items()}
    (folder / WEIGHTS).write_bytes(safetensors.torch.save(edited))
    _sign(folder)
    return accepted


def edit_header(folder: Path, key: str, value: Any) -> Accepted:
    content = (folder / WEIGHTS).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["shared_embedding"][key] = value
    written = json.dumps(header).encode()
    (folder / WEIGHTS).write_bytes(len(written).to_bytes(8, "little") + written + content[end:])
    _sign(folder)
    return "same"


def set_header_length(folder: Path, length: int) -> Accepted:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + content[8:])
    _sign(folder)
    return "no"


def flip_bit(folder: Path, file: str, place: float, bit: int) -> Accepted:
    content = bytearray((folder / file).read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    (folder / file).write_bytes(content)
    # the manifest has no checksum: a space in it may become a tab
    return "same" if file == MANIFEST else "no"


def damage_and_sign(folder: Path, file: str, **damage: Any) -> Accepted:
    bounds.change_bytes(folder / file, **damage)
    _sign(folder)
    return "other"


FILE, SIGNED = sampled_from(FILES), sampled_from([file for file in FILES if file != MANIFEST])
HEADER = [*NUMBERS, "F32", "F4", "C64", "I8", [2**60, 2**60], [-1], [0, 10**19]]
DAMAGES = st.one_of(
    bounds.calls(set_field, field=sampled_from(FIELDS), value=sampled_from([*NUMBERS, MISSING])),
    bounds.calls(set_manifest, key=sampled_from(["format", "sha256"]), value=sampled_from(NUMBERS)),
    bounds.calls(list_file, name=sampled_from(NAMES), checksum=st.just("0" * 64)),
    bounds.calls(edit_tensors, edit=sampled_from(TENSORS)),
    bounds.calls(
        edit_header,
        key=sampled_from(["dtype", "shape", "data_offsets"]),
        value=sampled_from(HEADER),
    ),
    bounds.calls(
        set_header_length, length=sampled_from([0, 1, 2**20, 2**31, 2**40, 2**63, 2**64 - 1])
    ),
    bounds.calls(flip_bit, file=FILE, place=bounds.PLACE, bit=st.integers(0, 7)),
    bounds.calls(
        damage_and_sign, file=SIGNED, places=bounds.BYTES, end=st.just(1.0) | bounds.PLACE
    ),
    bounds.calls(damage_and_sign, file=st.just(WEIGHTS), places=bounds.BYTES, first=st.just(2_000)),
)


@pytest.fixture(scope="module")
def folders(
    model: Transformer, tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, str]:
    """Two sound checkpoints with the translation of a sentence."""
    place = tmp_path_factory.mktemp("sound")
    learned = Transformer(dataclasses.replace(model.config, positions="learned"))
    for name, other in (("sinusoidal", model), ("learned", learned)):
        checkpoint.save(place / name, other, tokenizer, extra=EXTRA)
    return {
        path: Translator.load(path).translate(SENTENCE, beam_size=2).text
        for path in sorted(place.iterdir())
    }


def _check(folder: Path, accepted: Accepted, translation: str) -> None:
    with bounds.accepted_or_refused():
        translator = Translator.load(folder)
        result = translator.translate(SENTENCE, beam_size=2)
        translator.trace_of(result)
        assert accepted == "other" or (accepted == "same" and result.text == translation)


@bounds.examples(20, 1_500)
@given(damage=DAMAGES, number=st.integers(0, 1))
def test_a_damaged_checkpoint_translates_or_is_refused(folders, tmp_path, damage, number):
    path, translation = list(folders.items())[number]
    copy = Path(shutil.copytree(path, tmp_path / "copy"))
    try:
        _check(copy, damage(copy), translation)
    finally:
        shutil.rmtree(copy)


@bounds.examples(len(NAMES), len(NAMES))
@given(sampled_from(NAMES))
def test_a_hostile_path_is_refused(folders: dict[Path, str], name: str) -> None:
    path, translation = next(iter(folders.items()))
    _check(path / name, "same" if name in ("", ".") else "no", translation)
