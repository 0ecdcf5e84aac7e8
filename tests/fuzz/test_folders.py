"""No command changes a byte of what a person has at or beside its output."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

import pytest

from headlight.__main__ import main
from tests.fingerprint import fingerprint
from tests.fuzz.bounds import IS_LONG, assert_plain, run_main
from tests.fuzz.commands import ARGUMENTS, WRITING, _commands_run_here, actions, pristine
from training.data.prepared import MANIFEST as PREPARED
from transformer.checkpoints.checkpoint import CONFIG, MANIFEST

__all__ = ["_commands_run_here", "pristine"]  # fixtures, used by name
MANIFESTS = (MANIFEST, PREPARED)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


BESIDE = (".new", ".before", ".tmp", ".unfinished", ".lock")
"""Endings of names beside the target that a command has used, or might."""

OUR_NAMES = (
    "train.en", "valid.de", "run.jsonl", "tokenizer.model", "line-0001.csv", "line-0002.npz",
    "state.json", "vocab.json", "heads.json", "head_means.safetensors",
)  # fmt: skip

MINE = "Mine."
FOLDERS: dict[str, dict[str, str]] = {
    "empty manifests": dict.fromkeys(MANIFESTS, "{}"),
    "manifests of another program": dict.fromkeys(
        MANIFESTS,
        json.dumps({"name": "other", "format": 1, "sha256": {"thesis.txt": sha256(MINE)}}),
    ),
    "a read-only folder": {},
    "only a hidden file": {".secret": MINE},
    "files with our names": {
        f"{folder}/{name}": MINE
        for folder in (".", "state", "checkpoints", "averaged", "archives")
        for name in OUR_NAMES
    },
}
"""Files of folders that hold no checkpoint; most of them have a thesis, too."""

CHECKPOINTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a manifest that lists a file outside": ({"../mine.txt": MINE}, {"../mine.txt": MINE}),
    "a checkpoint with a further file": ({"thesis.txt": MINE}, {}),
    "a checkpoint with an edited file": ({CONFIG: MINE}, {}),
    "a checkpoint with measured files": ({"heads.json": "{}"}, {"heads.json": "{}"}),
    "a repository": ({".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads": ""}, {}),
    "a link": ({"thesis.txt": MINE}, {}),
}
"""Files written into a copy of a checkpoint, and those of them that its manifest lists."""

KINDS = (*FOLDERS, *CHECKPOINTS, "a file")


def _write_files(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def _put(kind: str, path: Path, model: Path) -> None:
    """Put something of a person at a path, by a copy of a model where it is a checkpoint."""
    if kind == "a file":
        path.write_text(MINE)
    elif kind in FOLDERS:
        thesis = {} if kind == "only a hidden file" else {"thesis.txt": MINE}
        _write_files(path, FOLDERS[kind] | thesis)
        path.chmod(0o555 if kind == "a read-only folder" else 0o755)
    else:
        files, listed = CHECKPOINTS[kind]
        target = path.with_name(f"{path.name}-elsewhere") if kind == "a link" else path
        if target != path:
            path.symlink_to(target.name)
        # all that training.average would replace: the model card is not of it
        shutil.copytree(model, target, ignore=shutil.ignore_patterns("MODEL_CARD.md"))
        _write_files(target, files)
        manifest = json.loads((target / MANIFEST).read_bytes())
        del manifest["sha256"]["MODEL_CARD.md"]
        manifest["sha256"] |= {name: sha256(text) for name, text in listed.items()}
        (target / MANIFEST).write_text(json.dumps(manifest))


OUTPUTS = {f"{command} --out": ARGUMENTS[command] for command in WRITING}
"""Arguments beside each option that names an output."""

FILES = (
    *("report --out", "card --out", "evaluate heads --out", "evaluate faithfulness --out"),
    "evaluate lines --out",
    *(f"lessons {name} --out" for name in ("collect", "handout")),
)
"""Outputs that are one file: a file of this name is replaced, as was asked for."""

INPUTS = {
    "--before", "--card", "--checkpoint", "--evaluation", "--examples", "--gold",
    "--lessons", "--notes", "--ref", "--reverse", "--src", "--start-from", "--stored", "--text",
    "--tgt", "--tokenizer",
}  # fmt: skip
"""Options that take a path and write nothing there."""

pytestmark = [pytest.mark.usefixtures("_commands_run_here"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def _there(pristine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pristine)


def _run_beside(kinds: Iterable[str], endings: Iterable[str], output: str, out: Path) -> object:
    """Run a command beside foreign files; return its status if they are unchanged."""
    out.parent.mkdir()
    for kind, ending in zip(cycle(kinds), endings, strict=False):
        _put(kind, out.with_name(out.name + ending), Path("model"))
    before = fingerprint(out.parent)
    command, _, option = output.rpartition(" ")
    arguments = [*command.split(), *OUTPUTS[output], option, str(out)]
    status, printed, errors = run_main(main, arguments)
    after = fingerprint(out.parent)
    assert {path: after.get(path) for path in before} == before, (kinds, endings)
    if status != 0:
        assert status == 2, errors
        assert "Traceback" not in printed + errors
        assert after.keys() == before.keys(), (kinds, endings)
        assert_plain(errors.rstrip("\n").rpartition("\n")[2])
    return status


def test_every_option_that_names_an_output_is_tried() -> None:
    assert OUTPUTS.keys() == {
        f"{words} {max(action.option_strings, key=len)}"
        for words, action in actions()
        if action.option_strings
        and (action.type is Path or {"--out", "-o"} & {*action.option_strings})
        and not INPUTS & {*action.option_strings}
    }


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("ending", ["", *BESIDE] if IS_LONG else [""])
def test_folders_at_the_output_stay(output: str, ending: str, tmp_path: Path) -> None:
    # a file in the place of a folder is refused whatever the folder holds
    kinds = KINDS[:-1:3] if output in FILES else KINDS
    for number, kind in enumerate(kinds):
        _run_beside([kind], [ending], output, tmp_path / str(number) / "out")
