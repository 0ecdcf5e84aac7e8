"""Settings that `alignment.json` states are read back; what it cannot say is one sentence."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from transformer import CheckpointError, TransformerConfig, Translator
from transformer.analysis import alignment_settings
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures, read_alignment

CONFIG = TransformerConfig(vocab_size=160, N=3, d_model=32, d_ff=64, h=4)
GOOD = AlignmentSettings(2, 3, "reads", "norm", "mutual", GoldFigures("a set", 100, 24.7))


def model_in(folder: Path) -> Any:
    """All that is read of a loaded model."""
    return SimpleNamespace(folder=folder, model=SimpleNamespace(config=CONFIG))


@pytest.mark.parametrize(
    "settings", [GOOD, AlignmentSettings(0, None, "writes", "alti", "each", None)]
)
def test_what_is_written_is_read(tmp_path: Path, settings: AlignmentSettings) -> None:
    (tmp_path / alignment_settings.FILE).write_text(settings.to_json())
    assert read_alignment(model_in(tmp_path)) == settings


def test_in_words_layers_and_heads_count_from_1() -> None:
    assert GOOD.describe() == (
        "layer 3, head 4, row that reads the word, lens norm, strongest both ways; "
        "AER 24.7 on the 100 sentences of a set, which chose this map"
    )


def test_the_bundled_model_was_measured() -> None:
    bundled = Translator.load()
    gold = read_alignment(bundled).gold
    assert gold is not None
    assert gold.aer < 30
    assert f"AER {gold.aer:.1f}" in (bundled.folder / "MODEL_CARD.md").read_text("utf-8")


def changed(**values: object) -> bytes:
    return json.dumps(json.loads(GOOD.to_json()) | values).encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[]", r"is \[\]"),
        (changed(layer=3), "layer = 3, but this model has layers 0 to 2"),
        (changed(head=4), "head = 4, but this model has heads 0 to 3"),
        (changed(lens="alti"), "the lens 'alti' does not tell heads apart"),
        (changed(gold={"name": "x", "sentences": 0, "aer": 1}), "gold sentences = 0"),
    ],
)
def test_damaged_settings_are_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / alignment_settings.FILE).write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"alignment\.json .*{sentence}.*\.$") as caught:
        read_alignment(model_in(tmp_path))
    assert len(str(caught.value)) < 600 + len(str(tmp_path))
