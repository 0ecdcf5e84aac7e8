"""headlight report --lines: the right page, and each line's fault said with its number."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from transformer import KINDS, AttentionTrace
from transformer.analysis import lenses
from transformer.translation import batch
from viz import __main__
from viz import __main__ as command_line
from viz.draw import caption, explorer, heads_view
from viz.lines import lines_report


@pytest.fixture
def run(checkpoint_folder, tmp_path, monkeypatch):
    """Run the command in an empty folder; its status and the page, if there is one."""
    monkeypatch.chdir(tmp_path)

    def run(*options, **files):
        for name, content in files.items():
            (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
        out = tmp_path / "report.html"
        out.unlink(missing_ok=True)
        status = __main__.main(["-o", str(out), "--checkpoint", str(checkpoint_folder), *options])
        return status, out.read_text(encoding="utf-8") if out.exists() else None

    return run


def listed(page):
    return re.findall(r'<option value="(\d+)">(.*)</option>', page)


def blocks_of(page):
    return {int(n): text for n, text in re.findall(r'id="line-(\d+)">([^<]*)<', page)}


@pytest.mark.slow
def test_the_page_is_that_of_the_traces_one_by_one(run, translator, pairs, monkeypatch):
    monkeypatch.setattr(command_line, "CHUNK", 3)  # several
    texts = [pair.english for pair in pairs[:80:10]]
    status, page = run(
        "--lines", "in", "--kind", "encoder_self", "--head", "2", "--beam", "2", "--theme", "dark",
        "--threads", "2", **{"in": "\n".join(texts)},
    )  # fmt: skip
    assert status == 0
    options = heads_view.ExplorerOptions("encoder_self", 0, 1)
    traces = [translator.trace(text, beam_size=2) for text in texts]
    expected = lines_report(
        traces, options, theme="dark", origin=caption.Origin.from_translator(translator, "", "")
    )
    assert blocks_of(page) == blocks_of(expected)
    assert listed(page) == listed(expected)


def test_translations_are_forced_line_by_line(run, translator, pairs, monkeypatch):
    files = {
        "en": "".join(f"{pair.english}\n" for pair in pairs[:3]),
        "de": "".join(f"{pair.german}\n" for pair in pairs[:3]),
    }

    class Given:
        buffer = io.BytesIO(files["en"].encode())

    monkeypatch.setattr("sys.stdin", Given)
    traces = ["--traces", "traces", "--trace-formats", "npz"]
    status, page = run("--lines", "-", "--targets", "de", "--lens", "norm", *traces, **files)
    assert status == 0
    options = heads_view.ExplorerOptions(lens="norm")
    for number, pair in enumerate(pairs[:3], start=1):
        trace = lenses.lens_trace("norm", translator, translator.trace(pair.english, pair.german))
        origin = caption.Origin.from_translator(translator, pair.english, pair.german)
        assert blocks_of(page)[number] == explorer.encode_page(trace, options, origin).message
        (note,) = AttentionTrace.load(f"traces/line-{number:04}.npz").notes
        assert note == "The lens is norms: these are shares, not the weights themselves."


def test_a_line_that_cannot_be_shown_is_named_and_stops_no_other(run, capsys):
    lines = ["The dog waits.", "", "dog " * 999, "\udcff", "A bird sings.", ""]
    status, page = run("--lines", "in", **{"in": "\n".join(lines)})
    assert status == 2
    assert [*blocks_of(page)] == [1, 5]
    messages = capsys.readouterr().err.splitlines()
    assert [re.findall(r"^headlight report: Line (\d):? ", line) for line in messages] == [
        ["2"],
        ["3"],
        ["4"],
    ]
    assert page.count("<li>Line ") == 3
    assert [number for number, _ in listed(page)] == ["1", "5"]
    status, page = run("--lines", "in", **{"in": "The dog waits.\n \n"})  # a blank line alone
    assert (status, [*blocks_of(page)]) == (0, [1])
    assert "Line 2 is blank" in capsys.readouterr().err


def test_each_sentence_is_written_as_files_too(run, translator, tmp_path):
    folder = tmp_path / "traces" / "new"
    options = ["--traces", str(folder), "--trace-formats", "npz", "csv", "parquet"]
    status, _ = run("--lines", "in", *options, **{"in": "The dog waits.\n\nA bird sings.\n"})
    assert status == 0
    names = [f"line-{n}.{end}" for n in ("0001", "0003") for end in ("csv", "npz", "parquet")]
    assert sorted(path.name for path in folder.iterdir()) == names
    for name, text in (("line-0001", "The dog waits."), ("line-0003", "A bird sings.")):
        trace = translator.trace(text)
        loaded = AttentionTrace.load(folder / f"{name}.npz")
        assert (loaded.source, loaded.target) == (text, trace.target)
        assert all((loaded.weights(kind) == trace.weights(kind)).all() for kind in KINDS)
        frame = trace.to_frame()
        stored = pd.read_parquet(folder / f"{name}.parquet")
        table = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
        for written in (stored, table):
            assert [*written["key_token"]] == [*frame["key_token"]]
            assert np.abs(written["weight"] - frame["weight"]).max() < 1e-7


def test_files_that_are_there_are_not_replaced(run, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "line-0007.csv").write_text("mine")
    (folder / "line-12.csv").write_text("mine")
    options = ["--lines", "in", "--traces", "traces", "--trace-formats"]
    with monkeypatch.context() as patch:
        patch.setattr(batch.LineSearch, "results", lambda *_: pytest.fail("too late"))
        assert run(*options, "npz", "csv", **{"in": "The dog waits.\n"}) == (2, None)
        assert run("--lines", "in", "-o", "no/such.html")[0] == 2
    message = capsys.readouterr().err
    assert "line-0007.csv is there already: move it away" in message
    assert "no/such.html cannot be written: there is no folder" in message
    assert run(*options, "npz", **{"in": "The dog waits.\n"})[0] == 0
    assert {path.name for path in folder.glob("*.csv")} == {"line-0007.csv", "line-12.csv"}
    assert (folder / "line-0007.csv").read_text() == "mine"


UNKNOWN = "The dog 漢 waits."
SAID = "The vocabulary has no “\u2068漢\u2069”: the model reads &lt;unk&gt; there"


def test_what_a_reader_should_know_of_a_line_stands_in_the_page_and_in_its_files(run, tmp_path):
    files = {"en": f"The dog waits.\n{UNKNOWN}\n", "de": "Der Hund.\nDer Hund.\n"}
    _, page = run("--lines", "en", "--traces", "traces", "--targets", "de", **files)
    assert f"<li>#2: {SAID}" in page
    notes = AttentionTrace.load(tmp_path / "traces" / "line-0002.npz").notes
    assert sum("has no “\u2068漢\u2069”" in note for note in notes) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lines", "blank"], "no line that can be shown"),
        (["--lines", "en", "--targets", "short"], "short ends before line 2"),
        (["--lines", "-", "--targets", "-"], "cannot both be standard input"),
        (["--lines", "en", "--traces", "en/in"], "en/in cannot be written"),
        (["text", "--targets", "en"], "go with --lines"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(run, capsys, options, message):
    files = {"en": "The dog waits.\nA bird sings.\n", "short": "Der Hund.\n", "blank": "\n \n"}
    status, page = run(*options, **files)
    assert (status, page) == (2, None)
    assert message in capsys.readouterr().err.strip().splitlines()[-1]
