"""The folder of a site, its sentences and its model, and that a refusal changes nothing."""

import base64
import errno
import gzip
import hashlib
import json
import os
import re
from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import pytest

from tests.viz.trained_model import trained_folder
from transformer import InputError, Translator
from viz.report import report
from viz.site import __main__
from viz.site.folder import LIST, write_site
from viz.site.model_folder import BLEU, loaded_bytes, model_files
from viz.site.sentences import MAX_LINES, Line, read_sentences
from viz.site.serve import server_of

__all__ = ["trained_folder"]  # a fixture: used by name


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
    model = {"en-de/a.bin": b"1", "en-de/b.bin": b"1", "es-de/a.bin": b"1"}
    write_site(out, {"index.html": b"1", "en-1.html": b"1", "en-2.html": b"1", **model})
    (out / "docs").mkdir()
    for name in ("CNAME", "docs/index.html", "en-de/mine"):
        (out / name).write_text("mine")
    write_site(out, {"index.html": b"2", "en-1.html": b"2", "de-en/a.bin": b"2"})
    files = content_of(out)
    others = ["CNAME", LIST, "de-en/a.bin", "docs/index.html", "en-1.html", "en-de/mine"]
    assert sorted(files) == [*others, "index.html"]
    assert not (out / "es-de").exists()
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
    for name in ("en-1.html", "de-en/a.bin"):
        (out / name).write_text("edited")
        with pytest.raises(InputError, match=re.escape(name)):
            write_site(out, {"index.html": b"3"})
        (out / name).write_bytes(b"2")
    assert content_of(out) == files


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
    assert __main__.main(["--out", str(out), "--stored", str(path)]) == 2
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
    assert "is not an address of a page" in capsys.readouterr().err
    assert not out.exists()
    with pytest.raises(InputError, match="is not an address of a page"):
        report(trace, link=address)
    for page in ("https://x.org/?a=1&b=2", "docs/index.html", "../docs", "//x.org/a:b", "?a:b"):
        assert f'href="{escape(page)}"' in report(trace, link=page)


@pytest.fixture(scope="module")
def folder(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the trained model."""
    out = tmp_path_factory.mktemp("live") / "site"
    lines = out.with_name("lines")
    lines.write_text("The dog waits.\nEin Hund.\n")
    command = ["--out", str(out), "--stored", str(lines), "--checkpoint", str(trained_folder)]
    assert __main__.main([*command, "--int8"]) == 0
    return out


def test_the_parts_of_a_model_are_its_weights_and_its_tokenizer(folder, trained_folder):
    translator = Translator.load(trained_folder)
    manifest = json.loads((folder / "en-de" / "model.json").read_text())
    assert manifest["config"] == translator.model.config.to_dict()

    def content(part: dict) -> bytes:
        packed = (folder / "en-de" / part["name"]).read_bytes()
        assert len(packed) == part["bytes"]
        return gzip.decompress(packed)

    def numbers(stored: dict) -> dict[str, np.ndarray]:
        """Put the planes together as the engine does: each number is the top of a float32."""
        tensors = sorted(stored["header"].items(), key=lambda item: item[1]["data_offsets"])
        count = sum(int(np.prod(tensor["shape"])) for _, tensor in tensors)
        memory = np.zeros((count, 4), np.uint8)
        for part in stored["parts"]:
            plane = np.frombuffer(content(part), np.uint8)
            start, at = part["start"], 4 - part["width"] + part["plane"]
            memory[start : start + len(plane), at] = plane
        values, end = {}, 0
        for name, tensor in tensors:
            first, end = end, end + int(np.prod(tensor["shape"]))
            own = memory[first:end].reshape(-1)
            is_whole = tensor["dtype"] == "I8"
            value = own.view("<i4") >> 24 if is_whole else own.view("<f4")
            values[name] = value.reshape(tensor["shape"])
        return values

    assert [content(part) for part in manifest["tokenizers"]] == [translator.tokenizer.model]
    stored, rounded = numbers(manifest), numbers(manifest["int8"])
    for name, parameter in translator.model.named_parameters():
        exact = parameter.detach().numpy()
        assert np.array_equal(stored[name], exact)
        if exact.ndim == 1:
            assert np.array_equal(rounded[name], exact)
            continue
        factors = rounded[f"{name}.scale"].reshape(-1, *[1] * (exact.ndim - 1))
        assert np.abs(rounded[name] * factors - exact).max() <= 0.51 * factors.max()


def test_bfloat16_weights_have_two_planes_and_every_part_is_small(monkeypatch):
    # packed a thirtieth worse, in a fifteenth of the time
    monkeypatch.setattr(gzip, "compress", partial(gzip.compress, compresslevel=1))
    translator = Translator.load()
    assert translator.checksum in BLEU  # else the page has no figure of its rounded weights
    files = model_files(translator)
    manifest = json.loads(files["model.json"])
    assert {part["plane"] for part in manifest["parts"]} == {0, 1}
    assert max(map(len, files.values())) < 2.2e6
    exact, rounded = loaded_bytes(files)
    assert exact == sum(map(len, files.values())) - len(files["model.json"]) < 19.4e6
    assert rounded == 0


def test_a_page_may_run_its_own_script_and_load_from_its_own_server_alone(folder):
    page = (folder / "index.html").read_text("utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (script,) = re.findall(r'<script type="module" async>(.*?)</script>', page, re.DOTALL)
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{checksum}' 'wasm-unsafe-eval'",
        "worker-src": "'self' blob:",
        "connect-src": "'self'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
    }


def test_a_marian_model_and_a_port_in_use_are_refused(tmp_path, capsys, monkeypatch, folder):
    monkeypatch.setattr("viz.site.model_folder.marian.is_marian", lambda _: True)
    assert __main__.main(["--out", str(tmp_path / "out"), "--checkpoint", str(folder)]) == 2
    assert "MarianMT" in capsys.readouterr().err
    with server_of(folder, 0) as server:
        with pytest.raises(InputError, match="--port"):
            server_of(folder, server.server_port)
        with pytest.raises(InputError, match="--port"):
            server_of(folder, 70_000)
