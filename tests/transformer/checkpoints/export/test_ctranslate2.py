import io
import json
import shutil
import sys

import pytest

from transformer import CheckpointError, Translator, __main__, export
from transformer.checkpoints import checkpoint, domain
from transformer.checkpoints.export import ctranslate2
from transformer.checkpoints.export.manifest import EXPORT
from transformer.engine import CTranslate2Translator
from transformer.text import languages

TEXT = "The dog waits beside the river."


@pytest.fixture(scope="module")
def exported(tmp_path_factory, checkpoint_folder):
    """Export a checkpoint that states its domain."""
    given = tmp_path_factory.mktemp("given") / "model"
    shutil.copytree(checkpoint_folder, given)
    (given / domain.FILE).write_text('{"made_for": "short sentences", "least_log_prob": -0.5}')
    out = tmp_path_factory.mktemp("exported") / "deep" / "model"
    assert export.main(["ctranslate2", "--checkpoint", str(given), "--out", str(out)]) == 0
    return out


def test_the_folder_is_complete_and_says_what_it_was_made_from(exported, checkpoint_folder):
    read = ctranslate2.read(exported)
    loaded = checkpoint.load(checkpoint_folder)
    assert (read.checksum, read.model.config) == (loaded.checksum, loaded.model.config)
    assert read.tokenizer.model == loaded.tokenizer.model
    assert {*ctranslate2.REQUIRED, domain.FILE, EXPORT} == {
        path.name for path in exported.iterdir()
    }
    assert [path.name for path in exported.parent.iterdir()] == ["model"]  # nothing is left over


def test_the_languages_of_the_checkpoint_are_those_of_the_export(tmp_path, checkpoint_folder):
    given, french_dutch = checkpoint.load(checkpoint_folder), languages.Languages("French", "Dutch")
    checkpoint.save(tmp_path / "model", given.model, given.tokenizer, languages=french_dutch)
    ctranslate2.write(checkpoint.load(tmp_path / "model"), tmp_path / "out")
    assert CTranslate2Translator.load(tmp_path / "out").languages == french_dutch


def test_it_translates_without_the_checkpoint(exported, checkpoint_folder, capsys, monkeypatch):
    moved = exported.with_name("moved")
    shutil.copytree(exported, moved)
    command = ["--engine", "ctranslate2", "--beam", "1", TEXT]
    assert __main__.main(["--checkpoint", str(moved), *command]) == 0
    assert capsys.readouterr().out.strip()
    engine = CTranslate2Translator.load(moved)
    ours = Translator.load(checkpoint_folder)
    assert engine.checksum == ours.checksum
    for options in (["--align"], ["--score", "--target", "Ein"]):
        assert __main__.main(["--checkpoint", str(moved), *command[:2], TEXT, *options]) == 2
        assert "take the checkpoint that it was exported from" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{TEXT}\n{TEXT}\n".encode())))
    assert __main__.main(["--checkpoint", str(moved), *command[:2], "--align"]) == 2  # told once
    assert capsys.readouterr().err.startswith(f"transformer: {moved} holds a model for CTranslate2")
    assert __main__.main(["--checkpoint", str(moved), TEXT]) == 2
    assert "add --engine ctranslate2" in capsys.readouterr().err


def test_fewer_bits_make_a_smaller_model_that_still_translates(
    tmp_path, checkpoint_folder, exported
):
    out = tmp_path / "small"
    command = ["ctranslate2", "--checkpoint", str(checkpoint_folder), "--out", str(out)]
    assert export.main([*command, "--quantization", "int8"]) == 0
    size, full = ((folder / "model.bin").stat().st_size for folder in (out, exported))
    assert size < 0.75 * full
    assert CTranslate2Translator.load(out).translate(TEXT).text
    assert export.main(command) == 0  # its own is replaced
    assert (out / "model.bin").stat().st_size == full


@pytest.mark.parametrize("change", [{"format": 2}, {"sha256": {}}, {"checkpoint": None}])
def test_a_manifest_that_says_something_else_is_refused(exported, tmp_path, change):
    other = tmp_path / "other"
    shutil.copytree(exported, other)
    manifest = json.loads((other / EXPORT).read_text()) | change
    if change == {"checkpoint": None}:
        del manifest["checkpoint"]
    (other / EXPORT).write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match=EXPORT):
        ctranslate2.read(other)


def test_a_changed_file_is_named(exported, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(exported, broken)
    (broken / "model.bin").write_bytes(b"other")
    with pytest.raises(CheckpointError, match=r"model\.bin is damaged"):
        ctranslate2.read(broken)
