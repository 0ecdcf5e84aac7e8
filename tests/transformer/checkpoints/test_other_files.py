"""Other files, folders and names in place of a model are called by their name, with a next step."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headlight.__main__ import main
from tests.transformer.checkpoints.marian import marian_folder
from transformer import CheckpointError, Translator

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 310000000\n"


def files(*names: str) -> Callable[[Path], Path]:
    """Put files into a folder without a model."""

    def make(base: Path) -> Path:
        for name in names:
            path = base.with_name("other") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"{}")
        return base.with_name("other")

    return make


def moved(*names: str, to: str) -> Callable[[Path], Path]:
    """Move the files of a model into a folder in it."""

    def make(base: Path) -> Path:
        (base / to).mkdir(parents=True)
        for name in names:
            (base / name).rename(base / to / name)
        shutil.copy(base / to / "config.json", base)
        return base

    return make


def cache(base: Path) -> Path:
    """Lay a model out as the hub's cache, whose files are links."""
    root = base.with_name("models--Helsinki-NLP--opus-mt-en-fr")
    snapshot = root / "snapshots" / "0123abcd"
    for folder in (snapshot, root / "blobs", root / "refs"):
        folder.mkdir(parents=True)
    for number, path in enumerate(sorted(base.iterdir())):
        path.rename(root / "blobs" / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    return root


OTHERS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "LoRA": (files("adapter_config.json", "adapter_model.safetensors"), "merge_and_unload"),
    "LoRA with its tokenizer": (
        files("adapter_config.json", "adapter_model.safetensors", "vocab.json", "source.spm"),
        "merge_and_unload",
    ),
    "CTranslate2": (files("model.bin", "config.json", "shared_vocabulary.json"), "CTranslate2"),
    "CTranslate2 with its tokenizer": (files("model.bin", "source.spm"), "CTranslate2"),
    "Marian": (files("opus.npz", "decoder.yml"), "convert_marian_to_pytorch"),
    "ONNX": (files("onnx/encoder_model.onnx", "config.json", "vocab.json"), "ONNX"),
    "TensorFlow": (files("tf_model.h5", "vocab.json"), "TensorFlow"),
    "shards": (files("model.safetensors.index.json", "vocab.json"), "max_shard_size"),
    "prepared text": (files("PREPARED.json"), "prepared text"),
    "an archive": (lambda base: Path(shutil.make_archive(str(base), "zip", base)), "unpack it"),
    "another toolkit": (lambda base: files("best.ckpt")(base) / "best.ckpt", "from_arrays"),
    "a file alone": (lambda base: files("model.safetensors")(base) / "model.safetensors", "folder"),
    "a hub name": (lambda _: Path("Helsinki-NLP/opus-mt-en-fr"), "hf download Helsinki-NLP/opus"),
    "a hub address": (
        lambda _: Path("https://huggingface.co/Helsinki-NLP/opus-mt-en-fr/tree/main"),
        "hf download Helsinki-NLP/opus-mt-en-fr --local-dir opus-mt-en-fr",
    ),
    "an address": (lambda _: Path("s3://models/mine"), "s3://models/mine is an address"),
    "a long name": (lambda _: Path("x" * 300), "There is no checkpoint folder xxx"),
}
"""Places of something else, and words of what is said of it."""

BELOW: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a file of the weights": (lambda base: base / "model.safetensors", "opus-mt-en-fr"),
    "a file of the configuration": (lambda base: base / "config.json", "opus-mt-en-fr"),
    "the hub's cache": (cache, "snapshots/0123abcd"),
    "its snapshots": (lambda base: cache(base) / "snapshots", "0123abcd"),
    "its root": (lambda base: cache(base).parent, "models--Helsinki-NLP--opus-mt-en-fr/snapshots"),
    "a run": (
        moved("model.safetensors", "config.json", "vocab.json", "source.spm", "target.spm",
              to="checkpoint-500"),
        "checkpoint-500",
    ),
}  # fmt: skip
"""Places of something that has the model in it, or is in it, and the rest of the path."""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return marian_folder.write(tmp_path / "hub" / "opus-mt-en-fr")


@pytest.mark.parametrize("name", OTHERS)
def test_something_else_is_called_by_its_name(name: str, base: Path) -> None:
    make, words = OTHERS[name]
    path = make(base)
    with pytest.raises(CheckpointError) as refused:
        Translator.load(path)
    assert words in str(refused.value)
    assert str(path)[:40].replace(":/", "://") in str(refused.value).replace(":///", "://")
    assert "copy" not in str(refused.value)


@pytest.mark.parametrize("name", BELOW)
def test_the_folder_that_is_named_can_be_loaded(name: str, base: Path) -> None:
    make, rest = BELOW[name]
    path = make(base)
    with pytest.raises(CheckpointError) as refused:
        Translator.load(path)
    words = {word.strip(",:.") for word in str(refused.value).split()}
    (named,) = {word for word in words if Path(word).is_dir()} - {str(path)}
    Translator.load(named)
    assert rest in named


def test_the_tokenizer_that_a_checkpoint_of_a_run_lacks_is_named(base: Path) -> None:
    make = moved("model.safetensors", "config.json", to="checkpoint-500")
    run = make(base)
    with pytest.raises(CheckpointError, match=r"checkpoint-500 has: give that folder"):
        Translator.load(run)
    with pytest.raises(CheckpointError, match=r"checkpoint-500 has no vocab\.json: save it there"):
        Translator.load(run / "checkpoint-500")


@pytest.mark.parametrize("ours", [True, False])
def test_a_pointer_of_git_lfs_is_no_damaged_file(
    ours: bool, base: Path, checkpoint_folder: Path, tmp_path: Path
) -> None:
    whole = checkpoint_folder if ours else base
    for path in sorted(whole.iterdir()):
        if path.suffix not in (".safetensors", ".spm", ".model"):
            continue
        copy = shutil.copytree(whole, tmp_path / f"lfs-{path.name}")
        (copy / path.name).write_text(POINTER.format("a" * 64))
        with pytest.raises(CheckpointError, match=rf"{path.name} .*run git lfs pull"):
            Translator.load(copy)


@pytest.mark.parametrize(
    "words",
    [
        "translate --checkpoint {} A.",
        "translate --align --reverse {} A.",
        "report --checkpoint {} A. -o page",
        "site --checkpoint {} --stored text --out new",
        "lessons check --checkpoint {} text",
        "evaluate bleu --checkpoint {} --src text --ref text",
        "evaluate aer --checkpoint {} --src text --tgt text --gold links",
        "evaluate heads --checkpoint {} --src text --ref text",
        "evaluate lines --checkpoint {} --src text",
        "evaluate faithfulness --checkpoint {} --src text",
        "average {} {} --out new",
        "average {} --out new",
        "prepare --config demo.toml --data data --out new --tokenizer {}",
    ],
)
def test_every_command_says_so(words: str, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text").write_text("A man.\n")
    Path("links").write_text("0-0\n")
    for path, words_of_it in (
        (files("adapter_config.json")(base), "merge_and_unload"),
        (Path("Helsinki-NLP/opus-mt"), "hf download Helsinki-NLP/opus-mt --local-dir opus-mt"),
    ):
        capsys.readouterr()
        assert main([word.format(path) for word in words.split()]) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        assert words_of_it in printed.err
    assert not {"new", "page"} & {path.name for path in Path().iterdir()}


def test_what_may_not_be_looked_at_is_no_missing_manifest(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files("adapter_config.json")(base)

    def forbidden(*_: object) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("pathlib.Path.stat", forbidden)
    with pytest.raises(CheckpointError, match="Permission denied"):
        Translator.load(folder)
