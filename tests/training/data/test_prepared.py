"""A prepared folder is the text that was prepared, and one that is damaged is refused."""

import json
import shutil
from pathlib import Path

import pytest

from tests.training import conftest, preparing
from training.config import RunConfig
from training.data import encoded_text, run_data
from training.data.corpus import CorpusError
from training.data.prepared import (
    MANIFEST,
    TOKENIZER,
    Prepared,
    is_prepared,
    prepared_among,
)
from training.data.text_folders import (
    ENGLISH_GERMAN,
    DataFolder,
    read_parallel,
    read_validation_text,
)
from transformer.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preparing.prepared_text(tmp_path_factory.mktemp("prepared"))


def test_what_is_mapped_is_what_would_be_in_memory(out: Path) -> None:
    prepared = run_data.open_prepared(Prepared.read(out))
    folders = [DataFolder(out.parent / "first"), DataFolder(out.parent / "second", 0.5)]
    texts = [read_parallel(folder.path / "train") for folder in folders]
    # the vocabulary, too, is that of training.train
    lines = [line for text in texts for line in text.source]
    lines += [line for text in texts for line in text.target]
    assert prepared.tokenizer.model == Tokenizer.train(lines, 120).model
    text = run_data.encode_texts(folders, texts, prepared.tokenizer, 128)
    assert prepared.text.encoded.source[:] == text.encoded.source[:]
    assert prepared.text.encoded.target[:] == text.encoded.target[:]
    assert list(prepared.text.encoded.lines) == list(text.encoded.lines)
    assert prepared.text.encoded.left_out == text.encoded.left_out == 3
    assert prepared.text.parts == text.parts
    assert prepared.text.fingerprint == text.fingerprint
    assert prepared.text.rows(1, 2).tolist() == text.rows(1, 2).tolist()
    assert prepared.validation == read_validation_text(out.parent / "first")
    assert Prepared.read(out).manifest["max_pieces"] == 128
    assert prepared.text.encoded.source.stored.base is not None  # mapped, not copied


@pytest.mark.parametrize("name", [encoded_text.NAMES[0], TOKENIZER, "valid.de", MANIFEST])
def test_a_file_that_is_missing_cut_short_or_changed_is_named(
    out: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    file = copy / name
    content = file.read_bytes()
    file.write_bytes(content[:-3])
    sentence = "is damaged" if name == MANIFEST else "has .* bytes, but .* were prepared"
    with pytest.raises(CorpusError, match=rf"{name} {sentence}"):
        run_data.open_prepared(Prepared.read(copy))
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    with pytest.raises(CorpusError, match=rf"{name} (is damaged|is of version|has .* bytes)"):
        run_data.open_prepared(Prepared.read(copy))
    file.unlink()
    with pytest.raises(CorpusError, match=rf"{name} cannot be read"):
        run_data.open_prepared(Prepared.read(copy))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, r"PREPARED\.json is of version 2, but"),
        ({"parts": [{"rows": 300, "weight": 1.0}]}, r"PREPARED\.json is damaged"),
    ],
)
def test_a_manifest_that_does_not_hold_together_is_refused(
    out: Path, tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    manifest = json.loads((copy / MANIFEST).read_text("utf-8"))
    (copy / MANIFEST).write_text(json.dumps(manifest | change), "utf-8")
    with pytest.raises(CorpusError, match=sentence):
        run_data.open_prepared(Prepared.read(copy))


def test_another_configuration_and_another_vocabulary_are_refused(
    out: Path, tmp_path: Path
) -> None:
    prepared = Prepared.read(out)
    data = run_data.open_prepared(prepared)
    path = tmp_path / "run.toml"
    for recipe, sentence in (
        (conftest.RECIPE.replace("vocab_size = 120", "vocab_size = 130"), "vocab_size = 120, but"),
        (conftest.RECIPE + "max_pieces = 90\n", "max_pieces = 128, but the configuration says 90"),
    ):
        path.write_text(recipe, "utf-8")
        with pytest.raises(CorpusError, match=sentence):
            run_data.require_prepared_for(data, prepared, RunConfig.load(path), ENGLISH_GERMAN)
    path.write_text(conftest.RECIPE, "utf-8")
    run_data.require_prepared_for(data, prepared, RunConfig.load(path), ENGLISH_GERMAN)
    other = Tokenizer.train(data.validation.source, 60)
    asked = data, prepared, RunConfig.load(path), ENGLISH_GERMAN
    with pytest.raises(CorpusError, match="with another vocabulary than that of runs/a: prepare"):
        run_data.require_prepared_for(*asked, (other, Path("runs/a")))
    run_data.require_prepared_for(*asked, (Tokenizer(data.tokenizer.model), Path("runs/a")))


def test_a_prepared_folder_stands_alone(out: Path) -> None:
    assert is_prepared(out)
    first = DataFolder(out.parent / "first")
    assert prepared_among([first, first]) is None
    assert prepared_among([DataFolder(out)]) == Prepared.read(out)
    for folders in ([first, DataFolder(out)], [DataFolder(out, 0.5)], [DataFolder(out)] * 2):
        with pytest.raises(CorpusError, match="is prepared and stands alone"):
            prepared_among(folders)
