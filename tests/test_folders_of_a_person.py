"""No command changes a byte of what a person has at or beside its output."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.campaign.commands import furnish
from benchmarks.campaign.entrances import ENTRANCES
from benchmarks.campaign.folders import ARGUMENTS, FILES, Output, Trial, judge, outputs, trials
from benchmarks.campaign.occupied import BESIDE, KINDS, fingerprint
from headlight.__main__ import main
from training.download import __main__ as download
from training.trainer import Trainer

OUTPUTS = pytest.mark.parametrize("output", ARGUMENTS, ids=" ".join)
# names that are those of the work of training.prepare, which is then refused
WORK = {".unfinished", ".unfinished.lock"}
REPLACING = ("average", "export ctranslate2", "export marian", "prepare", "train")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("furnished") / "folder"
    furnish(folder)
    return folder


@pytest.fixture(autouse=True)
def _there(furnished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(furnished)
    monkeypatch.setattr(download, "RETRIES", 0)  # `judge` sets it for its process


def test_every_option_that_names_an_output_is_tried() -> None:
    assert outputs() == ARGUMENTS.keys()
    assert len(KINDS) == 12
    assert {" ".join(output) for output in ARGUMENTS} > FILES
    assert len(list(trials())) == 12 * 8 * len(ARGUMENTS) - len(FILES) == ENTRANCES["folders"]


@OUTPUTS
def test_what_is_there_stays(output: Output, tmp_path: Path) -> None:
    for number, trial in enumerate(trials()):
        if trial.output == output and trial.endings == ("",):
            place = tmp_path / str(number)
            place.mkdir()
            verdict, why = judge(trial, place / "out")
            assert verdict != "bad", (trial, why)


@OUTPUTS
@pytest.mark.parametrize("kind", ["a checkpoint with a further file", "files with our names"])
def test_what_is_beside_stays(output: Output, kind: str, tmp_path: Path) -> None:
    for number, endings in enumerate((set(BESIDE) - WORK, WORK)):
        place = tmp_path / str(number)
        place.mkdir()
        verdict, why = judge(Trial(output, kind, tuple(sorted(endings))), place / "out")
        # no server answers, and no run has a log that a card could be made of
        is_refused = output.command in ("download", "card")
        is_refused |= output.command == "prepare" and endings == WORK
        assert verdict == ("refused" if is_refused else "accepted"), why


@pytest.mark.parametrize("command", REPLACING)
def test_own_files_are_replaced_and_others_beside_them_are_not(
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    arguments = [*command.split(), *ARGUMENTS[Output(command, "--out")], "--out", str(out)]
    assert main(arguments) == 0
    made = fingerprint(tmp_path)
    again = [*arguments, "--resume"] if command == "train" else arguments
    assert main(again) == 0
    assert fingerprint(tmp_path).keys() == made.keys()
    monkeypatch.setattr(Trainer, "run", lambda _: pytest.fail("too late"))
    places = [out] if command != "train" else [out / "state", out / "averaged"]
    for place in places:
        (place / "thesis.txt").write_text("Mine.")
        before = fingerprint(tmp_path)
        capsys.readouterr()
        status = main(again)
        assert fingerprint(tmp_path) == before
        # what is prepared is looked at and left
        assert status == (0 if command == "prepare" else 2)
        assert "thesis.txt" in capsys.readouterr().err or command == "prepare"
        (place / "thesis.txt").unlink()
