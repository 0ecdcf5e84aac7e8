"""Whole sets by the command: parallel text in the end, or one sentence and nothing else."""

import gzip
import hashlib
import io
import re
import shutil
import socket
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.bad_server import Server, names, server
from training.data.text_folders import LanguageCodes, read_parallel
from training.download import __main__
from training.download.sources import SOURCES, Source

__all__ = ["server"]  # a fixture: used by name

Download = Callable[..., str]


def _gz(sentences: Iterable[str]) -> bytes:
    return gzip.compress("".join(f"{sentence}\n" for sentence in sentences).encode(), 1)


def _zip(name: str, text: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("_about.txt", "not this one")
        archive.writestr(name, text)
    return packed.getvalue()


def _tar(files: dict[str, str], mode: str = "w:gz") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]
        for name, text in files.items():
            content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def _source(name: str) -> Source:
    return next(source for source in SOURCES if source.name == name)


def _served_by(server: Server, source: Source) -> Source:
    archives = {
        f"{server.address}/{source.name}/{url.rpartition('/')[2]}": sha256
        for url, sha256 in source.archives.items()
    }
    return replace(source, archives=archives)


@pytest.fixture
def multi30k(server: Server) -> Server:
    """A server that has Multi30k: as many lines as the real one, one of them not in NFC."""
    for text in _source("multi30k").texts:
        pairs = text.pairs or 0
        german = ["Ein Ma\u0308dchen.", *(f"Satz {n}." for n in range(1, pairs))]
        server.files[f"/multi30k/{text.english}"] = _gz(f"Line {n}." for n in range(pairs))
        server.files[f"/multi30k/{text.other}"] = _gz(german)
    return server


@pytest.fixture
def download(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Download:
    """Run the command; what it prints, or the one sentence of its failure."""
    monkeypatch.setattr(__main__, "SOURCES", [_served_by(server, source) for source in SOURCES])

    def run(name: str, out: Path = tmp_path) -> str:
        status = __main__.main([name, "--out", str(out)])
        printed = capsys.readouterr()
        if status == 0:
            return printed.out
        assert status == 2
        assert printed.err.count("\n") == 1
        assert printed.err.startswith("headlight download: ")
        assert not list(out.glob("train.*"))
        return printed.err

    return run


def test_multi30k_becomes_parallel_text_in_nfc(multi30k, tmp_path, download):
    printed = download("multi30k")
    assert "29,000 pairs" in printed
    assert "Licence: none stated" in printed
    assert "Elliott" in printed
    text = read_parallel(tmp_path / "train")
    assert (text.source[0], text.target[0]) == ("Line 0.", "Ein Mädchen.")
    assert (len(text), len(read_parallel(tmp_path / "valid"))) == (29_000, 1_014)
    assert len(read_parallel(tmp_path / "test_2016_flickr")) == 1_000
    assert not [name for name in names(tmp_path) if name.endswith(".new")]
    assert not [name for name in names(tmp_path) if name.startswith("tmp")]


def test_what_is_there_is_not_downloaded_again(multi30k, tmp_path, download):
    download("multi30k")
    multi30k.asked.clear()
    download("multi30k")
    assert not multi30k.asked
    for archive in (tmp_path / "archives").iterdir():
        archive.unlink()
    assert __main__.main(["multi30k", "--out", str(tmp_path)]) == 2  # of another set, perhaps
    assert not multi30k.asked


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (b"<html>Please log in to this network.</html>", "train.de.gz is damaged, .*was removed"),
        (_gz(["Nur ein Satz."]), "train.en.gz and train.de.gz differ in length"),
    ],
    ids=["a login page", "too short"],
)
def test_an_archive_that_holds_something_else_is_not_trusted(
    multi30k, tmp_path, download, packed, sentence
):
    multi30k.files["/multi30k/train.de.gz"] = packed
    assert re.search(sentence, download("multi30k"))
    if "was removed" in sentence:  # and nothing that was made of it is taken the next time
        assert not [name for name in names(tmp_path) if name.startswith("train.de")]


def test_another_number_of_pairs_than_published_is_refused(multi30k, tmp_path, download):
    for language in ("en", "de"):
        multi30k.files[f"/multi30k/val.{language}.gz"] = _gz(["A."] * 1_013)
    error = download("multi30k")
    assert "has 1,013 sentence pairs for valid, but 1,014 were expected" in error


def test_text_of_a_person_is_not_replaced(multi30k, tmp_path, download):
    mine = dict.fromkeys(("valid.en", "valid.en.new", "valid.de.new"), b"Mine.\n")
    for name, content in mine.items():
        (tmp_path / name).write_bytes(content)
    error = download("multi30k")
    assert f"{tmp_path / 'valid.en'} is there with another content" in error
    (tmp_path / "valid.en").unlink()
    download("multi30k")
    del mine["valid.en"]
    assert all((tmp_path / name).read_bytes() == content for name, content in mine.items())


def test_tatoeba_is_cut_at_its_tabs_and_keeps_its_validation_text_apart(server, tmp_path, download):
    # every English sentence twice, as Tatoeba often has it
    rows = [f"Go to {n // 2}.\tGeh\r zu {n}.\tCC-BY 2.0 (France) #{n}\n" for n in range(400)]
    server.files["/tatoeba/deu-eng.zip"] = _zip(
        "deu.txt", "".join([*rows, "Alone.\n", "\tLeer.\n"])
    )
    download("tatoeba")
    train, valid = read_parallel(tmp_path / "train"), read_parallel(tmp_path / "valid")
    pairs = {(f"Go to {n // 2}.", f"Geh  zu {n}.") for n in range(400)}
    assert set(zip(train.source + valid.source, train.target + valid.target, strict=True)) <= pairs
    assert len(valid) == 40  # a tenth at most
    assert 320 <= len(train) < 360
    assert not set(train.source) & set(valid.source)

    # an archive that a person puts there is taken, and gives the same text
    server.files.clear()
    given = tmp_path / "given"
    (given / "archives").mkdir(parents=True)
    shutil.copy(tmp_path / "archives" / "deu-eng.zip", given / "archives")
    download("tatoeba", given)
    for name in ("train.en", "train.de", "valid.en", "valid.de"):
        assert (given / name).read_bytes() == (tmp_path / name).read_bytes()
    assert names(given / "archives") == ["deu-eng.zip"]  # nothing unpacked is left

    before = (tmp_path / "valid.de").read_bytes()
    download("tatoeba")
    assert (tmp_path / "valid.de").read_bytes() == before


CORPORA = {
    "wmt14": ["europarl-v7", "commoncrawl", "news-commentary-v9"],
    "wmt14-fr": ["europarl-v7", "commoncrawl", "undoc", "news-commentary-v9", "giga-fren"],
}


@pytest.mark.parametrize(("name", "code"), [("wmt14", "de"), ("wmt14-fr", "fr")])
def test_wmt14_is_put_together_from_its_archives(
    server, tmp_path, monkeypatch, download, name, code
):
    real = _source(name)
    assert all(real.archives.values())
    small = replace(
        _served_by(server, real),
        archives=dict.fromkeys(_served_by(server, real).archives),
        texts=tuple(replace(text, pairs=None) for text in real.texts),
    )
    monkeypatch.setattr(__main__, "SOURCES", (small,))
    files: dict[str, dict[str, str]] = {}
    for text in real.texts:
        for where, word in ((text.english, "en"), (text.other, code)):
            archive, _, member = where.partition("/")
            stem = member.rpartition("/")[2].partition(".")[0]
            content = f"{word} {stem}.\u2028\n\n"
            files.setdefault(archive, {})[member] = content
    for archive, members in files.items():
        mode = "w:gz" if archive.endswith(".tgz") else "w"
        packed = _tar({"training/other.txt": "no", **members}, mode)
        server.files[f"/{name}/{archive}"] = packed
    assert f"valid.en and .{code}: 1 pairs" in download(name)
    codes = LanguageCodes("en", code)
    train = read_parallel(tmp_path / "train", codes)
    assert train.source == [f"en {corpus}." for corpus in CORPORA[name]]
    assert train.target == [f"{code} {corpus}." for corpus in CORPORA[name]]
    assert read_parallel(tmp_path / "valid", codes).target == [f"{code} newstest2013."]
    (tmp_path / "archives" / "dev.tgz").write_bytes(_tar({"dev/other": ""}))
    (tmp_path / "train.en").unlink()
    (tmp_path / f"train.{code}").unlink()
    error = download(name)
    assert "dev.tgz is damaged, or does not hold dev/newstest2013.en" in error
    assert "was removed" in error
    assert not (tmp_path / "archives" / "dev.tgz").exists()


@pytest.mark.parametrize("mischief", ["404", "drop"])
def test_a_file_arrives_whole_through_what_passes_or_not_at_all(
    multi30k, tmp_path, download, mischief
):
    sentences = {
        "404": "the server answers 404",
        "drop": "the conn",
    }
    multi30k.mischief = [mischief] * 4
    error = download("multi30k")
    assert f"train.en.gz cannot be downloaded: {sentences[mischief]}" in error
    assert names(tmp_path) == []
    if mischief != "404":
        multi30k.asked.clear()
        multi30k.mischief = ["429", mischief, "503"]
        assert "29,000 pairs" in download("multi30k")
        assert len(multi30k.asked) == 6 + 3


def test_a_published_checksum_is_checked(multi30k, tmp_path, monkeypatch, download):
    served = _served_by(multi30k, _source("multi30k"))
    sha256 = hashlib.sha256(multi30k.files["/multi30k/train.en.gz"]).hexdigest()
    published = replace(served, archives={**served.archives, next(iter(served.archives)): sha256})
    monkeypatch.setattr(__main__, "SOURCES", (published,))
    multi30k.mischief = ["reversed"] * 4
    error = download("multi30k")
    assert "train.en.gz does not have the SHA-256 that was published" in error
    assert names(tmp_path) == []
    multi30k.mischief = ["reversed"]  # what comes again as it should be is taken
    download("multi30k")


@pytest.mark.usefixtures("server")
def test_no_network_is_one_sentence(tmp_path, monkeypatch, capsys):
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    assert __main__.main(["multi30k", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "raw.githubusercontent.com" in error
    assert "the server cannot be reached" in error
    assert f"put the file into {tmp_path / 'archives'}.\n" in error


def test_a_refusal_leaves_no_folder_behind(server, tmp_path, download):
    assert "404" in download("tatoeba", tmp_path / "new" / "out")
    assert not list(tmp_path.iterdir())
