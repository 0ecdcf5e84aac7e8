"""Text that is prepared goes on where it was stopped, and nothing else is touched."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.fingerprint import fingerprint
from tests.training.conftest import sentence_pairs, write_pairs
from tests.training.preparing import command, contents, kill_at_each, write_folders
from tests.training.runs import forkserver
from training import train
from training.data import corpus, encoded_text, preparation, prepared
from training.data.corpus import CorpusError
from training.data.encoded_text import EncodedFiles, EncodedText
from training.data.manifest import locked
from training.data.preparation import unfinished
from training.data.prepared import open_prepared
from training.data.scan import Scan, scan
from training.data.text_folders import ENGLISH_GERMAN, Endings
from training.prepare import main
from transformer import Translator
from transformer.text.languages import Languages

PAIRS = 308  # of both folders


def stop_at(chunk: int, patch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C while this chunk, from 0, is encoded."""
    encode_chunk = encoded_text.encode_chunk
    chunks = iter(range(chunk))

    def stopped(*arguments: object) -> EncodedText:
        if next(chunks, None) is None:
            raise KeyboardInterrupt
        return encode_chunk(*arguments)  # type: ignore[arg-type]

    patch.setattr(preparation, "encode_chunk", stopped)


def stopped_preparation(folder: Path, *options: str) -> tuple[list[str], Path]:
    """The command of a preparation that was stopped in its second folder, and its --out."""
    recipe, first, second = write_folders(folder)
    out = folder / "new" / "out"
    arguments = command(recipe, out, "--data", first, f"{second}:0.5", *options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "CHUNK", 50)
        stop_at(6, patch)
        assert main(arguments) == 130
    return arguments, out


@pytest.mark.slow
def test_kills_at_any_moment_leave_what_an_uninterrupted_run_writes(tmp_path: Path) -> None:
    recipe, first, second = write_folders(tmp_path)
    options = ["--data", str(first), f"{second}:0.5", "--drop-duplicates", "--ratio", "2"]
    whole, out = tmp_path / "whole", tmp_path / "killed"
    assert main(command(recipe, whole, *options)) == 0
    moments = random.Random(3)
    # the first before there is anything to go on from, the others some chunks further
    events = [moments.randint(1, 6) for _ in range(6)] + [moments.randint(1, 40) for _ in range(14)]
    arguments = command(recipe, out, *options)
    report = tmp_path / "report"
    process = forkserver().Process(target=kill_at_each, args=(events, PAIRS, arguments, report))
    process.start()
    process.join()
    was_killed, done = zip(*json.loads(report.read_text()), strict=True)
    assert all(was_killed[:-1])
    assert list(done) == sorted(done)
    assert len(set(done[:20])) > 8
    assert 50 < done[19] < PAIRS
    assert done.count(PAIRS) > 5  # kills between the last pair and the end
    assert main(arguments) == 0
    assert contents(out) == contents(whole)
    assert not unfinished(out).exists()


def test_a_preparation_goes_on_at_the_last_finished_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    monkeypatch.setattr(corpus, "CHUNK", 80)  # of another size than before
    lines: list[int] = []
    encode_chunk = encoded_text.encode_chunk

    def watched(*given: object) -> EncodedText:
        lines.extend(given[3].tolist())  # type: ignore[attr-defined]
        return encode_chunk(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(preparation, "encode_chunk", watched)
    assert main(arguments) == 0
    # five chunks of the first folder, 207 pairs, and one of the second
    assert lines == list(range(257, PAIRS))
    whole = [*arguments]
    whole[3] = str(tmp_path / "whole")
    assert main(whole) == 0
    assert contents(out) == contents(tmp_path / "whole")


def test_another_request_than_before_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    other = tmp_path / "other.toml"
    recipe = Path(arguments[1]).read_text("utf-8")
    text = Path(arguments[-1].partition(":")[0]) / "train.de"
    lines = text.read_text("utf-8")
    for folder, advice in (
        (unfinished(out), "give what it was begun with to go on"),
        (out, "choose another --out"),
    ):
        before = contents(folder)

        def refused(arguments: list[str], words: str) -> None:
            capsys.readouterr()
            assert main(arguments) == 2
            (error,) = capsys.readouterr().err.splitlines()
            assert f"{folder} was prepared {words}: {advice}" in error  # noqa: B023
            assert contents(folder) == before  # noqa: B023

        for option, value, name in (
            ("--longest-words", "9", "longest_words"),
            ("--ratio", "9", "ratio"),
            ("--sample-lines", "100", "sample_lines"),
        ):
            refused([*arguments, option, value], f"with another {name}")
        refused([*arguments, "--drop-duplicates"], "with another drop_duplicates")
        weight = arguments[-1].replace("0.5", "0.6")
        refused([*arguments[:-1], weight], "with another weights")
        for changed, name in (
            (recipe + "max_pieces = 99\n", "max_pieces"),
            (recipe.replace("vocab_size = 120", "vocab_size = 121"), "vocab_size"),
        ):
            other.write_text(changed, "utf-8")
            refused([arguments[0], str(other), *arguments[2:]], f"with another {name}")
        text.write_text(lines.replace("Der", "Das", 1), "utf-8")
        refused(arguments, "from another text")
        text.write_text(lines, "utf-8")
        assert main(arguments) == 0


def test_what_was_prepared_is_not_prepared_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    assert main(arguments) == 0
    # nor is anything written beside it: the folder around it may be read-only
    written = {path: path.stat().st_mtime_ns for path in (out.parent, *out.iterdir())}
    assert main(arguments) == 0
    assert "is prepared already" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in (out.parent, *out.iterdir())} == written
    assert main([*arguments[:5], str(out)]) == 2
    assert "is prepared already: give folders of text" in capsys.readouterr().err
    content = bytearray((out / "tokenizer.model").read_bytes())
    content[50] ^= 1
    (out / "tokenizer.model").write_bytes(content)
    assert main(arguments) == 2
    assert f"{out / 'tokenizer.model'} is damaged" in capsys.readouterr().err


def test_a_folder_that_holds_something_else_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, first, _ = write_folders(tmp_path)
    for place in ("a", "b.unfinished", "c"):
        folder = tmp_path / place
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"precious")
    (tmp_path / "file").write_text("precious")
    for out in ("a", "b", "file"):
        assert main(command(recipe, tmp_path / out, "--data", first)) == 2
        assert "is there and holds no prepared text: choose another" in capsys.readouterr().err
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == b"precious"
    assert (tmp_path / "b.unfinished" / "model.safetensors").read_bytes() == b"precious"
    assert main(command(recipe, Path("/"), "--data", first)) == 2
    assert "/ cannot be what is written: give the new folder a name." in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(command(recipe, tmp_path / "empty", "--data", first)) == 0


def test_files_of_a_person_in_and_beside_the_unfinished_folder_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    lock = out.with_name("out.unfinished.lock")
    for path, sentence in (
        (unfinished(out) / "thesis.txt", "'thesis.txt' in it would be lost"),
        (lock, "out.unfinished.lock is there and is no lock of ours"),
    ):
        path.write_text("Mine.")
        before = fingerprint(tmp_path)
        assert main(arguments) == 2
        assert sentence in capsys.readouterr().err
        assert fingerprint(tmp_path) == before
        path.unlink()
    lock.touch()  # of a process that was killed
    (unfinished(out) / ".headlight-abcd_123").mkdir()
    assert main(arguments) == 0
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.slow
def test_any_two_languages_are_prepared_from_any_kind_of_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, first, second = write_folders(tmp_path)
    for folder, name in ((first, "train"), (first, "val"), (second, "train")):
        for old, new in (("en", "fr"), ("de", "nl")):
            (folder / f"{name}.{old}").rename(folder / f"{name}.{new}")
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    languages = ["--source", "fr", "--target", "nl"]
    assert main(command(recipe, plain, "--data", first, second, *languages)) == 0
    assert open_prepared(plain).endings == Endings("fr", "nl")
    # the same text, one side packed, and both in a TMX file
    (first / "train.nl.gz").write_bytes(gzip.compress((first / "train.nl").read_bytes()))
    (first / "train.nl").unlink()
    sides = [(second / f"train.{code}").read_text("utf-8").splitlines() for code in ("fr", "nl")]
    units = "".join(
        f'<tu><tuv xml:lang="FR-fr"><seg>{a}</seg></tuv>'
        f'<tuv xml:lang="nl"><seg>{b}</seg></tuv></tu>'
        for a, b in zip(*sides, strict=True)
    )
    tmx = second / "memory.tmx"
    tmx.write_text(f"<tmx><body>{units}</body></tmx>", "utf-8")
    assert main(command(recipe, packed, "--data", first, tmx, *languages)) == 0
    assert open_prepared(packed).text.fingerprint == open_prepared(plain).text.fingerprint
    assert contents(packed)["valid.nl"] == contents(plain)["valid.nl"]
    capsys.readouterr()
    assert main(command(recipe, plain, "--data", first, second, "--source", "fr")) == 2
    assert "was prepared with other languages" in capsys.readouterr().err
    trained = ["--config", str(recipe), "--data", str(plain), "--out", str(tmp_path / "run")]
    assert train.main([*trained, "--source", "en"]) == 2
    assert "was prepared from fr to nl, and not from en to nl" in capsys.readouterr().err
    assert train.main([*trained, "--steps", "1"]) == 0
    made = Translator.load(tmp_path / "run" / "averaged").languages
    assert made == Languages("French", "Dutch")


def test_a_request_that_can_lead_to_nothing_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, _, _ = write_folders(tmp_path)
    out = tmp_path / "new" / "deeper" / "out"
    large, short = tmp_path / "large.toml", tmp_path / "short.toml"
    large.write_text(recipe.read_text().replace("vocab_size = 120", "vocab_size = 9000"))
    short.write_text(recipe.read_text() + "max_pieces = 1\n")
    some = tmp_path / "some"
    some.mkdir()
    for name in ("train", "valid"):
        write_pairs(some / name, sentence_pairs(7))
    for config, options, sentence in (
        (large, [], "No vocabulary of 9000 pieces can be learnt"),
        (short, [], "No sentence pair has between 1 and 0 pieces"),
        (recipe, ["--longest-words", "1"], "All 7 pairs are dropped"),
    ):
        assert main(command(config, out, "--data", some, *options)) == 2
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "new").exists()


def test_a_full_disk_is_named_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, _ = stopped_preparation(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(EncodedFiles, "_write", full)
        assert main(arguments) == 2
        sentence = "No space left on device. Make room, and give the same command to go on."
        assert sentence in capsys.readouterr().err
    assert main(arguments) == 0


def test_two_processes_do_not_work_on_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    with locked(out.with_name("out.unfinished.lock"), CorpusError("unused")):
        assert main(arguments) == 2
        assert "prepared by another process" in capsys.readouterr().err
    assert main(arguments) == 0

    arguments[3] = str(out.with_name("other"))
    others = iter([main])

    def meanwhile(*given: Any) -> Scan:
        """The same command again, when nothing is written yet."""
        for other in others:
            assert other(arguments) == 2
            assert "prepared by another process" in capsys.readouterr().err
        return scan(*given)

    monkeypatch.setattr(preparation, "scan", meanwhile)
    assert main(arguments) == 0
    assert contents(out.with_name("other")) == contents(out)
    assert sorted(path.name for path in out.parent.iterdir()) == ["other", "out"]


def test_each_damaged_part_of_unfinished_work_is_named_and_nothing_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, out = stopped_preparation(tmp_path)
    work, copy = unfinished(out), tmp_path / "copy"
    shutil.copytree(work, copy)
    capsys.readouterr()
    names = {path.name for path in copy.iterdir()}
    assert names == {
        *prepared.prepared_files(ENGLISH_GERMAN),
        "begun.json",
        "progress.json",
        "reasons",
    }

    def refused(name: str, content: bytes) -> None:
        (work / name).write_bytes(content)
        before = contents(work)
        assert main(arguments) == 2, name
        (error,) = capsys.readouterr().err.splitlines()
        assert f"{work / name} " in error
        assert contents(work) == before
        shutil.copyfile(copy / name, work / name)

    for name in sorted(names):
        content = (copy / name).read_bytes()
        for position in (0, len(content) // 2, len(content) - 2):
            flipped = bytes([content[position] ^ 1])
            refused(name, content[:position] + flipped + content[position + 1 :])
        refused(name, content[:-3])
    for name in ("begun.json", "progress.json"):
        for content in (b"", b"{}", b"[]", b'{"version": 1}', b"[" * 100_000):
            refused(name, content)
    assert main(arguments) == 0
