"""No command changes a byte of what a person has at or beside its output."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from headlight.__main__ import main
from tests.conftest import Pair
from tests.fingerprint import fingerprint
from tests.fuzz.bounds import IS_LONG, assert_plain, run_main
from tests.fuzz.commands import ARGUMENTS, _commands_run_here, actions, furnish
from training.data.preparation import BEGUN
from training.data.prepared import MANIFEST as PREPARED
from training.trainer import Trainer
from transformer import Tokenizer, Transformer
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST
from transformer.checkpoints.export.manifest import EXPORT

__all__ = ["_commands_run_here"]  # a fixture, used by name
MANIFESTS = (MANIFEST, EXPORT, PREPARED, BEGUN)
BESIDE = (
    ".new", ".before", ".tmp", ".unfinished", ".unfinished.new", ".unfinished.before",
    ".unfinished.lock",
)  # fmt: skip
"""Endings of names beside the target that a command has used, or might."""

OUR_NAMES = (
    "train.en", "valid.de", "run.jsonl", "tokenizer.model", "line-0001.csv", "line-0002.npz",
    "state.json", "vocab.json", "heads.json", "head_means.safetensors", "progress.json", "reasons",
)  # fmt: skip

Maker = Callable[[Path, Path], None]
"""Makes something of a person at a path; the second argument is a checkpoint to copy."""


def _checkpoint(path: Path, model: Path) -> None:
    """Copy what training.average would replace: all but the model card."""
    shutil.copytree(model, path, ignore=shutil.ignore_patterns("MODEL_CARD.md"))
    manifest = json.loads((path / MANIFEST).read_bytes())
    del manifest["sha256"]["MODEL_CARD.md"]
    (path / MANIFEST).write_text(json.dumps(manifest))


def _empty_manifests(path: Path, _: Path) -> None:
    _folder(path, dict.fromkeys(MANIFESTS, "{}"))


def _foreign_manifests(path: Path, _: Path) -> None:
    listed = {"thesis.txt": hashlib.sha256(b"Mine.").hexdigest()}
    foreign = json.dumps({"name": "another program", "format": 1, "sha256": listed})
    _folder(path, dict.fromkeys(MANIFESTS, foreign))


def _outside(path: Path, model: Path) -> None:
    """List a file beside the folder, which is no file of it."""
    _checkpoint(path, model)
    victim = path.with_name(f"{path.name}-beside.txt")
    victim.write_text("Mine.")
    manifest = json.loads((path / MANIFEST).read_bytes())
    manifest["sha256"][f"../{victim.name}"] = hashlib.sha256(b"Mine.").hexdigest()
    manifest["engine"] = "marian"
    for name in (MANIFEST, EXPORT):
        (path / name).write_text(json.dumps(manifest))


def _further_file(path: Path, model: Path) -> None:
    _checkpoint(path, model)
    (path / "thesis.txt").write_text("Mine.")


def _edited_file(path: Path, model: Path) -> None:
    _checkpoint(path, model)
    (path / CONFIG).write_text((path / CONFIG).read_text() + "\n")


def _measured(path: Path, model: Path) -> None:
    _checkpoint(path, model)
    (path / "heads.json").write_text("{}")
    manifest = json.loads((path / MANIFEST).read_bytes())
    manifest["sha256"]["heads.json"] = hashlib.sha256(b"{}").hexdigest()
    (path / MANIFEST).write_text(json.dumps(manifest))


def _repository(path: Path, model: Path) -> None:
    _checkpoint(path, model)
    (path / ".git" / "refs").mkdir(parents=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def _link(path: Path, model: Path) -> None:
    target = path.with_name(f"{path.name}-elsewhere")
    _further_file(target, model)
    path.symlink_to(target.name)


def _file(path: Path, _: Path) -> None:
    path.write_text("Mine.")


def _hidden_file(path: Path, _: Path) -> None:
    path.mkdir()
    (path / ".secret").write_text("Mine.")


def _read_only(path: Path, _: Path) -> None:
    _folder(path, {})
    path.chmod(0o555)


def _our_names(path: Path, _: Path) -> None:
    _folder(path, dict.fromkeys(OUR_NAMES, "Mine."))
    for name in ("state", "checkpoints", "averaged", "archives"):
        _folder(path / name, dict.fromkeys(OUR_NAMES, "Mine."))


def _folder(path: Path, files: dict[str, str]) -> None:
    path.mkdir()
    for name, content in {**files, "thesis.txt": "Mine."}.items():
        (path / name).write_text(content)


KINDS: dict[str, Maker] = {
    "empty manifests": _empty_manifests,
    "manifests of another program": _foreign_manifests,
    "a manifest that lists a file outside": _outside,
    "a checkpoint with a further file": _further_file,
    "a checkpoint with an edited file": _edited_file,
    "a checkpoint with measured files": _measured,
    "a repository": _repository,
    "a link": _link,
    "a file": _file,
    "only a hidden file": _hidden_file,
    "a read-only folder": _read_only,
    "files with our names": _our_names,
}


class Trial(NamedTuple):
    """A command that is run where a person has something.

    Args:
        output: the option whose value is the target.
        kind: the name of one of `KINDS`.
        endings: of the names, after that of the target, at which it is put; empty for the target.
    """

    output: Output
    kind: str
    endings: tuple[str, ...]


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
