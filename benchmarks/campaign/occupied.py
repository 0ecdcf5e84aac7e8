"""Twelve kinds of folders that people have where a command is to write, and how to compare them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from training.data.preparation import BEGUN
from training.data.prepared import MANIFEST as PREPARED
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST
from transformer.checkpoints.export.manifest import EXPORT

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


def fingerprint(folder: Path) -> dict[str, str]:
    """Return type, mode and content of everything below a folder, by path."""
    return {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*"))}


def _state(path: Path) -> str:
    mode = f"{path.lstat().st_mode:o}"
    if path.is_symlink():
        return f"{mode} {path.readlink()}"
    return f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}" if path.is_file() else mode


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
