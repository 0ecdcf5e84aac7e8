"""The commands on a MarianMT folder with a vocabulary for each language."""

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.transformer.checkpoints.marian import marian_folder
from training import evaluate
from transformer import Translator, __main__
from transformer.analysis import alignment, axes

TEXT = "My brother sees a cat."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return marian_folder.write(tmp_path_factory.mktemp("marian"), separate=True, max_length=256)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """--src and --ref of the lines that every evaluation takes."""
    for name, lines in (("src", marian_folder.SOURCE), ("ref", marian_folder.TARGET)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    return ["--src", str(tmp_path / "src"), "--ref", str(tmp_path / "ref")]


def test_links_of_a_script_without_spaces_are_counted_in_pieces_and_that_is_said(
    folder, capsys, monkeypatch
):
    text = "The cat 我 old爱."
    translator = Translator.load(folder)
    trace = translator.trace_of(translator.translate(text, beam_size=1))
    expected = alignment.pharaoh(alignment.align(translator, trace))
    chosen = ["--checkpoint", str(folder), "--beam", "1", "--align"]
    assert __main__.main([*chosen, text]) == 0
    output = capsys.readouterr()
    assert output.out.strip().endswith(f" ||| {expected}".rstrip())
    assert axes.APART in output.err
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(f"{TEXT}\n{text}\n".encode())))
    assert __main__.main(chosen) == 0
    lines = capsys.readouterr()
    assert lines.out.splitlines()[1] == output.out.splitlines()[0]
    assert lines.err.count(axes.APART) == 1


def test_bleu_counts_the_output_bias_in_the_loss(folder, files, capsys):
    chosen = ["bleu", "--checkpoint", str(folder), *files, "--beam", "1", "--json"]
    assert evaluate.main(chosen) == 0
    figures = json.loads(capsys.readouterr().out)
    translator = Translator.load(folder)
    log_probs = [
        log_prob
        for pair in zip(marian_folder.SOURCE, marian_folder.TARGET, strict=True)
        for log_prob in translator.score(*pair).log_probs
    ]
    assert figures["loss"] == pytest.approx(-sum(log_probs) / len(log_probs), abs=1e-4)
    assert figures["sentences"] == len(marian_folder.SOURCE)


@pytest.mark.slow
def test_heads_are_measured_and_the_folder_still_loads(files, tmp_path, monkeypatch):
    monkeypatch.setattr("training.evaluation.heads.CURVE_POINTS", 2)
    folder = marian_folder.write(tmp_path / "own", separate=True, layers=1)
    before = Translator.load(folder).checksum
    chosen = ["--checkpoint", str(folder), *files]
    assert evaluate.main(["heads", "--bleu-sentences", "2", *chosen]) == 0
    assert (folder / "heads.json").exists()
    translator = Translator.load(folder)
    assert translator.checksum == before
