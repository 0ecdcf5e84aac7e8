"""A small parallel text and a recipe that trains on it in seconds."""

import random
import re
import shutil
from pathlib import Path

import pytest

from training.train import main

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
validate_sentences = 2
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


class TinyRun:
    """A recipe of 24 steps and its text, from which runs go to folders of a test."""

    def __init__(self, folder: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.data, self.capsys = folder, data, capsys
        self.recipe, self.out = folder / "tiny.toml", folder / "out"
        self.recipe.write_text(RECIPE, "utf-8")

    def change(self, **fields: object) -> None:
        """Set fields of the recipe; a new one belongs to [training]."""
        text = self.recipe.read_text("utf-8")
        for name, value in fields.items():
            line = f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
            text, count = re.subn(rf"^{name} = .*$", line, text, flags=re.MULTILINE)
            text += "" if count else f"{line}\n"
        self.recipe.write_text(text, "utf-8")

    def command(self, *more: str, out: str = "out", data: object = None) -> list[str]:
        """Return the arguments of training.train."""
        folders = ["--data", str(data or self.data), "--out", str(self.folder / out)]
        return ["--config", str(self.recipe), *folders, *more]

    def train(self, *more: str, out: str = "out", data: object = None) -> Path:
        """Run training.train to its end, and return the folder of the run."""
        assert main(self.command(*more, out=out, data=data)) == 0
        return self.folder / out

    def printed(self) -> str:
        """Return what the last run has printed."""
        return self.capsys.readouterr().out

    def error(self, *more: str, out: str = "out", data: object = None) -> str:
        """Return the line that a run which ends in an error prints last."""
        self.capsys.readouterr()
        assert main(self.command(*more, out=out, data=data)) == 2
        printed = self.capsys.readouterr().err
        assert "Traceback" not in printed
        return printed.rstrip("\n").rpartition("\n")[2]

    def refusal(self, *more: str, out: str = "out", data: object = None) -> str:
        """Return the one line that a run which does not begin prints."""
        self.capsys.readouterr()
        assert main(self.command(*more, out=out, data=data)) == 2
        (line,) = self.capsys.readouterr().err.splitlines()
        return line


@pytest.fixture
def tiny(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> TinyRun:
    return TinyRun(tmp_path, data, capsys)


def run_in(folder: Path, data: Path, *more: str, recipe: str = RECIPE) -> Path:
    """Run training.train in a new folder, and return that of the run."""
    (folder / "tiny.toml").write_text(recipe, "utf-8")
    files = ["--config", str(folder / "tiny.toml"), "--data", str(data)]
    assert main([*files, "--out", str(folder / "out"), *more]) == 0
    return folder / "out"


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """The folder of a run that nothing interrupted, to be read alone."""
    return run_in(tmp_path_factory.mktemp("finished"), data)


@pytest.fixture(scope="session")
def _stopped(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return run_in(tmp_path_factory.mktemp("stopped"), data, "--steps", "16")


@pytest.fixture
def interrupted(_stopped: Path, tiny: TinyRun) -> Path:
    """The folder of a run that has states of steps 8 and 16, `tiny.out`, for each test its own."""
    return Path(shutil.copytree(_stopped, tiny.out))
