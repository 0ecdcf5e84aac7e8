"""The first step of each benchmark that needs no server; `tests/browser/app` has the others."""

from pathlib import Path

import pytest

from benchmarks.first_words import Sentence
from tests.benchmarks import first_step
from tests.benchmarks.first_step import Step
from transformer.config import TransformerConfig

ENGLISH = "The dog sleeps.\nA man in a red hat rides a brown horse.\n"
GERMAN = "Der Hund schläft.\nEin Mann mit rotem Hut reitet auf einem braunen Pferd.\n"
PAIRS = "The dog sleeps.\tThe dogs sleep.\tDer\tDie\nA man sings.\tA woman sings.\tEin\tEine\n"
FIRST_WORDS = {"greetings": [Sentence("Hello!", (("Hallo",),))]}
TINY = TransformerConfig(vocab_size=40, N=1, d_model=16, d_ff=16, h=2)
ONE_STEP = ["--alone", "--steps", "1", "--warmup", "0", "--turns", "1", "--batch-tokens", "64"]


TINY_ALONE = {"BUNDLED_BY_NAME": {}, "BUNDLED": ""}

STEPS = {
    "training": Step("measure", ONE_STEP, {"_config": lambda *_: TINY}),
    "layers": Step("measure", ["--repeats", "1", "--out", "layers.json"], {"LENGTHS": (16,)}),
    "additive": Step(
        "measure", ["--repeats", "1", "--out", "additive.json"], {"PAIR_LENGTHS": (16,)}
    ),
    "lenses": Step("lenses.lens", ["--pieces", "3"]),
    "live": Step("server_of", ["--site", "."]),
    "break-it": Step("removal_order", ["en.txt", "--lines", "1"], {"WORDS": 2, **TINY_ALONE}),
    "circuits": Step("effects_table", [], {"BUNDLED_PAIRS": {"English": Path("pairs.tsv")}}),
    "first-words": Step("words_row", [], {"groups": lambda *_: FIRST_WORDS}),
    "rounded": Step(
        "model_files", ["--src", "en.txt", "--ref", "de.txt", "--out", "rounded"], TINY_ALONE
    ),
    "engine": Step("lines_reference", ["--lines", "en.txt"]),
    "huggingface": Step("_Checked.one_pass", library="transformers"),
    "inference": Step("_median", library="transformers"),
    "marian": Step("marian_folder.write", library="transformers"),
    "notebook": Step("check", library="bertviz"),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_first_step_can_be_taken(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checkpoint_folder: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, text in {"en.txt": ENGLISH, "de.txt": GERMAN, "pairs.tsv": PAIRS}.items():
        Path(file).write_text(text, "utf-8")
    # words of the pairs are those of the bundled model
    folder = "" if name == "circuits" else str(checkpoint_folder)
    first_step.take(name, STEPS[name], monkeypatch, folder)
