"""A text is prepared whole or not at all, and nothing else is touched."""

import gzip
import io
import os
import re
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from tests.training import conftest, preparing
from training import prepare, train
from training.data import corpus, encoded_text, prepared, run_data
from training.data.text_folders import DataFolder, LanguageCodes
from training.prepare import count_pairs, main
from transformer import Tokenizer, Translator
from transformer.files import installed
from transformer.text.languages import Languages


def two_folders(folder: Path, *options: str) -> tuple[list[str], Path]:
    """The command that prepares two folders of text, and its --out."""
    recipe, first, second = preparing.write_folders(folder)
    out = folder / "new" / "out"
    return preparing.command(recipe, out, "--data", first, f"{second}:0.5", *options), out


def test_what_was_prepared_is_not_prepared_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = two_folders(tmp_path)
    assert main(arguments) == 0
    before = preparing.contents(out)
    assert main(arguments) == 2
    assert f"{out} is there and holds a prepared text already" in capsys.readouterr().err
    assert preparing.contents(out) == before
    other = preparing.command(Path(arguments[1]), out.with_name("other"), "--data", out)
    assert main(other) == 2
    assert f"{out} is prepared already: give folders of text" in capsys.readouterr().err


def test_a_folder_that_holds_something_else_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, first, _ = preparing.write_folders(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "model.safetensors").write_bytes(b"precious")
    (tmp_path / "file").write_text("precious")
    for out in ("a", "file"):
        assert main(preparing.command(recipe, tmp_path / out, "--data", first)) == 2
        assert "is there and holds no prepared text: choose another" in capsys.readouterr().err
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == b"precious"
    assert main(preparing.command(recipe, Path("/"), "--data", first)) == 2
    assert "/ cannot be what is written: give the new folder a name." in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(preparing.command(recipe, tmp_path / "empty", "--data", first)) == 0


@pytest.mark.slow
def test_any_two_languages_are_prepared_from_any_kind_of_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, first, second = preparing.write_folders(tmp_path)
    for folder, name in ((first, "train"), (first, "val"), (second, "train")):
        for old, new in (("en", "fr"), ("de", "nl")):
            (folder / f"{name}.{old}").rename(folder / f"{name}.{new}")
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    languages = ["--source", "fr", "--target", "nl"]
    assert main(preparing.command(recipe, plain, "--data", first, second, *languages)) == 0
    assert run_data.open_prepared(prepared.Prepared.read(plain)).codes == LanguageCodes("fr", "nl")
    # the same text, one side packed, and both in a table
    (first / "train.nl.gz").write_bytes(gzip.compress((first / "train.nl").read_bytes()))
    (first / "train.nl").unlink()
    sides = [(second / f"train.{code}").read_text("utf-8").splitlines() for code in ("fr", "nl")]
    table = second / "pairs.tsv"
    table.write_text("".join(f"{a}\t{b}\n" for a, b in zip(*sides, strict=True)), "utf-8")
    assert main(preparing.command(recipe, packed, "--data", first, table, *languages)) == 0
    assert (
        run_data.open_prepared(prepared.Prepared.read(packed)).text.fingerprint
        == run_data.open_prepared(prepared.Prepared.read(plain)).text.fingerprint
    )
    assert preparing.contents(packed)["valid.nl"] == preparing.contents(plain)["valid.nl"]
    capsys.readouterr()
    trained = ["--config", str(recipe), "--data", str(plain), "--out", str(tmp_path / "run")]
    assert train.main([*trained, "--source", "en"]) == 2
    assert "was prepared from fr to nl, and not from en to nl" in capsys.readouterr().err
    assert train.main([*trained, "--steps", "1"]) == 0
    made = Translator.load(tmp_path / "run" / "averaged").languages
    assert made == Languages("French", "Dutch")


def test_a_request_that_can_lead_to_nothing_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, _, _ = preparing.write_folders(tmp_path)
    out = tmp_path / "new" / "deeper" / "out"
    large, short = tmp_path / "large.toml", tmp_path / "short.toml"
    large.write_text(recipe.read_text().replace("vocab_size = 120", "vocab_size = 9000"))
    short.write_text(recipe.read_text() + "max_pieces = 1\n")
    some = tmp_path / "some"
    some.mkdir()
    for name in ("train", "valid"):
        conftest.write_pairs(some / name, conftest.sentence_pairs(7))
    for config, sentence in (
        (large, "No vocabulary of 9000 pieces can be learnt"),
        (short, "No sentence pair has between 1 and 0 pieces"),
    ):
        assert main(preparing.command(config, out, "--data", some)) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "new").exists()


def test_a_full_disk_is_named_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, out = two_folders(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(encoded_text.EncodedFiles, "_write", full)
        assert main(arguments) == 2
        sentence = "No space left on device. Make room, and give the same command again."
        assert sentence in capsys.readouterr().err
    assert not out.parent.exists()
    assert main(arguments) == 0


def test_of_two_processes_the_first_to_finish_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = two_folders(tmp_path)
    others = iter([main])

    def meanwhile(*given: Any) -> int:
        """The same command again, when nothing is written yet."""
        for other in others:
            assert other(arguments) == 0
        return count_pairs(*given)

    monkeypatch.setattr(prepare, "count_pairs", meanwhile)
    assert main(arguments) == 2
    assert f"{out} is there and is not an empty folder" in capsys.readouterr().err
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_small_text_is_taken_whole_and_of_a_large_one_pairs_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "CHUNK", 7)
    folders = []
    for name, numbers in (("first", range(40)), ("second", range(40, 60))):
        (tmp_path / name).mkdir()
        conftest.write_pairs(tmp_path / name / "train", [(f"s{n}", f"t{n}") for n in numbers])
        folders.append(DataFolder(tmp_path / name))
    assert count_pairs(folders) == 60
    lines = [f"{side}{n}" for side in "st" for n in range(60)]
    assert [*prepare.drawn_lines(folders, prepare.drawn_pairs(60, 120))] == lines
    some = [*prepare.drawn_lines(folders, prepare.drawn_pairs(60, 119))]
    assert some == sorted(some, key=lines.index)
    assert len({*some}) == 2 * 59
    assert [line[1:] for line in some[:59]] == [line[1:] for line in some[59:]]
    assert some == [*prepare.drawn_lines(folders, prepare.drawn_pairs(60, 119))]


def pieces(**ids: Any) -> bytes:
    """A vocabulary of SentencePiece, with other special pieces than ours unless asked for."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(["The dog sleeps in the garden."] * 9),
        model_writer=written,
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
        **ids,
    )
    return written.getvalue()


def test_a_vocabulary_is_a_file_a_folder_or_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, out = two_folders(tmp_path)
    own = Path("own.model")
    own.write_bytes(pieces(pad_id=0, unk_id=1, bos_id=2, eos_id=3))
    Path("folder").mkdir()
    (Path("folder") / "tokenizer.model").write_bytes(own.read_bytes())
    recipe = Path(arguments[1])
    size = Tokenizer.load(own).vocab_size
    recipe.write_text(re.sub(r"vocab_size = \d+", f"vocab_size = {size}", recipe.read_text()))
    for number, given in enumerate((own, Path("folder"))):
        arguments[3] = str(out.with_name(f"{number}"))
        assert main([*arguments, "--tokenizer", str(given)]) == 0
        assert (Path(arguments[3]) / "tokenizer.model").read_bytes() == own.read_bytes()
    capsys.readouterr()
    for name in installed.BUNDLED_BY_NAME:
        assert main([*arguments, "--tokenizer", name]) == 2
        assert f"{name} has 8,000 pieces, but" in capsys.readouterr().err
    own.write_bytes(pieces())
    assert main([*arguments, "--tokenizer", "own.model"]) == 2
    wanted = r"own\.model .*\[None, 0, 1, 2\].* pad_id=0, unk_id=1, bos_id=2 and eos_id=3"
    assert re.search(wanted, capsys.readouterr().err)
    own.write_text("no vocabulary")
    for name in ("own.model", "none", "first"):
        assert main([*arguments, "--tokenizer", name]) == 2
        (error,) = capsys.readouterr().err.splitlines()
        assert name in error
