"""The command `evaluate faithfulness`: means over sentences, printed and written."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from training import evaluate
from transformer import kinds
from transformer.analysis import lenses
from transformer.corpus.faithfulness import FRACTIONS, uniform_changes

ENGLISH = ["The old cat sits beside the river.", "The baker eats.", "Her"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory, checkpoint_folder) -> Path:
    folder = tmp_path_factory.mktemp("faithfulness")
    shutil.copytree(checkpoint_folder, folder / "model")
    (folder / "in.en").write_text("\n".join([*ENGLISH, ""]) + "\n", "utf-8")
    (folder / "ref.de").write_text("Die alte Katze sitzt.\nDer Bäcker frisst.\nIhr\n\n", "utf-8")
    assert run(folder, "--ref", str(folder / "ref.de"), "--out", str(folder / "out.json")) == 0
    return folder


def run(folder: Path, *more: str) -> int:
    checkpoint = ["--checkpoint", str(folder / "model")]
    return evaluate.main(["faithfulness", *checkpoint, "--src", str(folder / "in.en"), *more])


def test_every_lens_has_its_curves_and_its_agreement(measured, translator) -> None:
    report = json.loads((measured / "out.json").read_text())
    assert (report["sentences"], report["left_out"], report["forced"]) == (2, 2, True)
    table = pd.DataFrame(report["figures"])
    for name in (*lenses.NAMES, "random"):
        for curve in ("comprehensiveness", "sufficiency"):
            rows = table[(table["of"] == name) & (table["measure"] == curve)]
            assert rows["share"].tolist() == [*FRACTIONS]
    kendall = table[table["measure"] == "kendall"]
    assert set(kendall["of"]) == set(lenses.NAMES)
    bounds = kendall[["low", "value", "high"]].to_numpy()
    assert (np.diff(bounds) >= 0).all()
    assert np.abs(bounds).max() <= 1
    references = (measured / "ref.de").read_text("utf-8").splitlines()
    traces = [translator.trace(*pair) for pair in zip(ENGLISH[:2], references[:2], strict=True)]
    uniform = table[table["measure"] == "uniform"].set_index("of")["value"]
    for kind in kinds.KINDS:
        changes = np.concatenate([uniform_changes(translator.model, t, kind) for t in traces])
        assert uniform[kind] == pytest.approx(changes.mean(), rel=1e-3)


def test_the_same_seed_gives_the_same_report(measured, tmp_path, capsys) -> None:
    out = ("--ref", str(measured / "ref.de"), "--out", str(tmp_path / "again.json"))
    before = sorted(path.name for path in (measured / "model").iterdir())
    assert run(measured, *out, "--json") == 0
    printed = capsys.readouterr()
    stored = (measured / "out.json").read_text()
    assert (tmp_path / "again.json").read_text() == stored
    assert json.loads(printed.out) == json.loads(stored)
    assert "2 sentences are empty, too long or of one word" in printed.err
    assert run(measured, *out) == 0
    words = capsys.readouterr().out.split()
    assert {*lenses.NAMES, *kinds.KINDS, "kendall", "permuted", "2", "sentences,"} <= {*words}
    assert sorted(path.name for path in (measured / "model").iterdir()) == before


def test_what_is_wrong_is_one_sentence(measured, tmp_path, capsys) -> None:
    (tmp_path / "one.en").write_text("Her\n")
    (tmp_path / "empty.en").write_text("")
    for more, message in (
        (["--src", str(tmp_path / "one.en")], "has no sentence of two words or more"),
        (["--src", str(tmp_path / "empty.en")], "is empty: give at least one sentence"),
    ):
        capsys.readouterr()
        assert run(measured, *more) == 2
        assert message in capsys.readouterr().err.splitlines()[-1]
