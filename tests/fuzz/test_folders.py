"""No command changes a byte of what a person has at or beside its output."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from headlight.__main__ import main
from tests.fingerprint import fingerprint
from tests.fuzz.bounds import IS_LONG, assert_plain, run_main
from tests.fuzz.commands import ARGUMENTS, WRITING, _commands_run_here, actions, pristine
from training.data.preparation import BEGUN
from training.data.prepared import MANIFEST as PREPARED
from training.trainer import Trainer
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST
from transformer.checkpoints.export.manifest import EXPORT

__all__ = ["_commands_run_here", "pristine"]  # fixtures, used by name
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


OUTPUTS = {f"{command} --out": ARGUMENTS[command] for command in WRITING} | {
    "report --traces": (
        *("--lines", "data/valid.en", "--checkpoint", "model", "--beam", "1", "-o", "page.html"),
    )
}
"""Arguments beside each option that names an output."""

FILES = ("report --out", "card --out", "evaluate heads --out", "evaluate faithfulness --out")
"""Outputs that are one file: a file of this name is replaced, as was asked for."""

INPUTS = {
    "--before", "--card", "--checkpoint", "--comet", "--evaluation", "--examples", "--gold",
    "--notes", "--ref", "--src", "--start-from", "--tgt", "--tokenizer",
}  # fmt: skip
"""Options that take a path and write nothing there."""

# names that are those of the work of training.prepare, which is then refused
WORK = {".unfinished", ".unfinished.lock"}
REPLACING = ("average", "export ctranslate2", "export marian", "prepare", "train")
pytestmark = pytest.mark.usefixtures("_commands_run_here")


@pytest.fixture(autouse=True)
def _there(pristine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pristine)


def _run_beside(kind: str, endings: Iterable[str], output: str, out: Path) -> object:
    """Run a command where a person has something at these endings of its output.

    Returns:
        The exit status, after everything of the person was found unchanged.
    """
    out.parent.mkdir()
    for ending in endings:
        KINDS[kind](out.with_name(out.name + ending), Path("model"))
    before = fingerprint(out.parent)
    command, _, option = output.rpartition(" ")
    arguments = [*command.split(), *OUTPUTS[output], option, str(out)]
    status, printed, errors = run_main(main, arguments)
    after = fingerprint(out.parent)
    assert {path: after.get(path) for path in before} == before, (kind, endings)
    if status != 0:
        assert status == 2, errors
        assert "Traceback" not in printed + errors
        assert after.keys() == before.keys(), (kind, endings)
        assert_plain(errors.rstrip("\n").rpartition("\n")[2])
    return status


def test_every_option_that_names_an_output_is_tried() -> None:
    assert OUTPUTS.keys() == {
        f"{words} {max(action.option_strings, key=len)}"
        for words, action in actions()
        if action.option_strings
        and (action.type is Path or {"--out", "-o", "--traces"} & {*action.option_strings})
        and not INPUTS & {*action.option_strings}
    }


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("ending", ["", *BESIDE] if IS_LONG else [""])
def test_folders_at_the_output_stay(output: str, ending: str, tmp_path: Path) -> None:
    for number, kind in enumerate(KINDS):
        if (kind, ending) != ("a file", "") or output not in FILES:
            _run_beside(kind, [ending], output, tmp_path / str(number) / "out")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", ["a checkpoint with a further file", "files with our names"])
def test_folders_beside_the_output_stay(output: str, kind: str, tmp_path: Path) -> None:
    for number, endings in enumerate((set(BESIDE) - WORK, WORK)):
        status = _run_beside(kind, endings, output, tmp_path / str(number) / "out")
        # no server answers, and no run has a log that a card could be made of
        is_refused = output in ("download --out", "card --out")
        is_refused |= output == "prepare --out" and endings == WORK
        assert status == (2 if is_refused else 0)


@pytest.mark.parametrize("command", REPLACING)
def test_own_files_are_replaced_and_others_beside_them_are_not(
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    arguments = [*command.split(), *ARGUMENTS[command], "--out", str(out)]
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
