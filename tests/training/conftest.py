"""A small parallel text and a recipe that trains on it in seconds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

NOUNS = {"dog": "Hund", "man": "Mann", "bird": "Vogel", "boy": "Junge", "horse": "Esel"}
VERBS = {"sees": "sieht", "hears": "hört", "finds": "findet", "likes": "mag", "calls": "ruft"}
NUMBERS = {"one": "einen", "his": "seinen", "our": "unseren", "my": "meinen", "no": "keinen"}

RECIPE = """
[model]
preset = "demo"
vocab_size = 120
N = 1
d_model = 32
d_ff = 64
h = 2
P_drop = 0.1

[training]
steps = 24
batch_tokens = 200
warmup = 12
lr_factor = 1.0
bf16 = false
log_every = 4
save_every = 8
validate_every = 12
validate_sentences = 8
average = 2
"""


def sentence_pairs(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Sentences of one little grammar, made here."""
    choose = random.Random(seed)
    pairs = []
    for _ in range(count):
        (a, x), (b, y) = (choose.choice(list(NOUNS.items())) for _ in range(2))
        verb, verbt = choose.choice(list(VERBS.items()))
        number, zahl = choose.choice(list(NUMBERS.items()))
        pairs.append((f"The {a} {verb} {number} {b}.", f"Der {x} {verbt} {zahl} {y}."))
    return pairs


def write_pairs(prefix: Path, pairs: list[tuple[str, str]]) -> None:
    for language, side in (("en", 0), ("de", 1)):
        text = "".join(pair[side] + "\n" for pair in pairs)
        Path(f"{prefix}.{language}").write_text(text, "utf-8")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with training and validation text."""
    folder = tmp_path_factory.mktemp("data")
    write_pairs(folder / "train", sentence_pairs(300))
    write_pairs(folder / "valid", sentence_pairs(20, seed=2))
    return folder


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A run of 24 steps."""
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE, "utf-8")
    return path
