"""The folder of a site and its sentences: what is refused, and that a refusal changes nothing."""

import errno
import json
import os
from html import escape
from pathlib import Path

import pytest

from transformer import InputError
from viz.report import report
from viz.site import __main__
from viz.site.folder import LIST, write_site
from viz.site.sentences import MAX_LINES, Line, read_sentences


def content_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "files",
    [
        {"letter.txt": "mine"},
        {"index.html": "<p>mine</p>"},
        {LIST: "{}"},
        {LIST: json.dumps({"sha256": {"../letter.txt": ""}}), "index.html": "mine"},
    ],
)
def test_a_folder_with_other_files_is_refused_before_any_work_and_stays(files, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    for name, text in files.items():
        (out / name).write_text(text)
    before = content_of(tmp_path)
    assert __main__.main(["--out", str(out), "--checkpoint", str(tmp_path / "none")]) == 2
    assert str(out) in capsys.readouterr().err
    assert content_of(tmp_path) == before


def test_only_own_files_are_replaced_and_all_or_none(tmp_path, monkeypatch):
    out = tmp_path / "new" / "out"
    write_site(out, {"index.html": b"1", "en-1.html": b"1", "en-2.html": b"1"})
    (out / "docs").mkdir()
    (out / "docs" / "index.html").write_text("docs")
    (out / "CNAME").write_text("mine")
    write_site(out, {"index.html": b"2", "en-1.html": b"2"})
    files = content_of(out)
    assert sorted(files) == ["CNAME", LIST, "docs/index.html", "en-1.html", "index.html"]
    assert files["en-1.html"] == b"2"

    calls = []

    def full(_descriptor: int) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        for folder in (out, tmp_path / "other" / "out"):
            calls.clear()
            with pytest.raises(InputError, match="No space left"):
                write_site(folder, {"index.html": b"3", "en-1.html": b"3"})
    assert content_of(out) == files
    assert [path.name for path in tmp_path.iterdir()] == ["new"]

    with pytest.raises(InputError, match="CNAME"):
        write_site(out, {"CNAME": b"3"})
    (out / "en-1.html").write_text("edited")
    with pytest.raises(InputError, match=r"en-1\.html"):
        write_site(out, {"index.html": b"3"})
    assert content_of(out) == files | {"en-1.html": b"edited"}


def test_sentences_are_the_lines_that_are_not_blank(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\tA note\r\n\r\n  \n<b>Two.</b>\n")
    assert read_sentences(path) == [Line(1, "One.", "A note"), Line(4, "<b>Two.</b>", "")]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"A dog.\n" * 500, f"500 lines, and at most {MAX_LINES}"),
        (b"A dog.\nGr\xfc\xdfe.\n", "Line 2 has the byte 0xFC"),
        (b"\n \n", "no sentence"),
        (b"", "no sentence"),
    ],
)
def test_a_file_that_cannot_be_shown_is_refused_before_any_work(content, named, tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_bytes(content)
    out = tmp_path / "out"
    assert __main__.main(["--out", str(out), "--sentences", str(path)]) == 2
    assert named in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " Java\tScript:alert(1)",
        "data:text/html,x",
        "\x01vbscript:x",
        "a.b:c",
    ],
)
def test_an_address_that_is_no_page_becomes_no_link(
    address, tmp_path, capsys, monkeypatch, translator
):
    trace = translator.trace("The dog waits.", "Der Hund wartet.")
    monkeypatch.setattr("transformer.Translator.load", lambda *_: pytest.fail("too late"))
    out = tmp_path / "out"
    assert __main__.main(["--out", str(out), "--docs", address]) == 2
    assert "is no address of a page" in capsys.readouterr().err
    assert not out.exists()
    with pytest.raises(InputError, match="is no address of a page"):
        report(trace, link=address)
    for page in ("https://x.org/?a=1&b=2", "docs/index.html", "../docs", "//x.org/a:b", "?a:b"):
        assert f'href="{escape(page)}"' in report(trace, link=page)
