"""A damaged checkpoint is refused, or gives a model that translates and can be traced."""

import dataclasses
import hashlib
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from

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
DAMAGES = st.one_of(
    bounds.calls(set_field, field=sampled_from(FIELDS), value=sampled_from([*NUMBERS, MISSING])),
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
