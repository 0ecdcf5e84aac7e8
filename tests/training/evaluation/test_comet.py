"""COMET through a stand-in: the package is far too large for a test, its interface is small.

The stand-in has the two functions that are called, with the names of their arguments in
unbabel-comet 2.2; what its scores mean is not tested here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.transformer.reference import is_one_sentence
from training.evaluate import main
from training.evaluation.comet import Comet
from transformer import CheckpointError, ConfigError

PACKAGE = """
from pathlib import Path
from types import SimpleNamespace


class Model:
    def predict(self, samples, batch_size=16, gpus=1, progress_bar=True):
        assert gpus == 0 and progress_bar is False and batch_size > 0
        scores = [float(one["mt"] == one["ref"]) / len(one["src"].split()) for one in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))


def load_from_checkpoint(
    checkpoint_path, reload_hparams=False, strict=False, local_files_only=False
):
    assert local_files_only
    if Path(checkpoint_path).read_text() != "weights":
        raise KeyError("state_dict")
    return Model()
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name on sys.path; gives the file of a model."""
    (tmp_path / "packages" / "comet").mkdir(parents=True)
    (tmp_path / "packages" / "comet" / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, "comet", raising=False)
    path = tmp_path / "model.ckpt"
    path.write_text("weights")
    return path


def test_source_translation_and_reference_reach_the_model(stand_in: Path) -> None:
    comet = Comet(stand_in)
    # 1 over the words of the source where translation and reference agree: (1/2 + 0 + 1/4) / 3
    sources = ["Two words.", "Two words.", "Four words are here."]
    score = comet.score(sources, ["Ja.", "Ja.", "Nein."], ["Ja.", "Nein.", "Nein."])
    assert score == pytest.approx(0.25)
    with pytest.raises(ValueError, match="zip"):
        comet.score(sources, ["Ja."], ["Ja."])


def test_the_command_prints_it_beside_the_others(
    stand_in: Path, tmp_path: Path, checkpoint_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.en").write_text("The dog sleeps.\n")
    (tmp_path / "ref.de").write_text("Der Hund schläft.\n")
    command = [
        "bleu", "--checkpoint", str(checkpoint_folder), "--src", str(tmp_path / "in.en"),
        "--ref", str(tmp_path / "ref.de"), "--beam", "1", "--comet", str(stand_in),
    ]  # fmt: skip
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["comet"], result["comet_model"]) == (0, str(stand_in))
    assert main(command) == 0
    assert capsys.readouterr().out.endswith(f"COMET 0.0000  by {stand_in}\n")


def test_what_is_no_model_is_one_sentence(stand_in: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"none\.ckpt is no file") as error:
        Comet(tmp_path / "none.ckpt")
    assert is_one_sentence(str(error.value))
    stand_in.write_text("something else")
    with pytest.raises(CheckpointError, match=r"cannot load .*model.ckpt: KeyError, 'state_dict'"):
        Comet(stand_in)


def test_without_the_package_nothing_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(ConfigError):
        Comet(tmp_path / "none.ckpt")
    # it is said before the texts, which are not there either, are asked for
    command = ["bleu", "--src", "none", "--ref", "none", "--comet", "none.ckpt"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "COMET is not installed: run pip install 'unbabel-comet" in error
    assert is_one_sentence(error.removesuffix("\n"))
