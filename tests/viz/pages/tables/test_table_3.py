"""Table 3: the paper's rows as charts, sentences and a table, beside models trained here."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.viz.pages.reading import frames
from training.config import CONFIGS, RunConfig
from transformer import TransformerConfig
from transformer.paper.results import TABLE_3
from viz.app import model_variations
from viz.app.model_variations import TrainedRow

# PPL / BLEU on newstest2013, as published
PRINTED = """base 4.92/25.8
(A) h 1: 5.29/24.9 · 4: 5.00/25.5 · 16: 4.91/25.8 · 32: 5.01/25.4
(B) d_k 16: 5.16/25.1 · 32: 5.01/25.4
(C) N 2: 6.11/23.7 · 4: 5.19/25.3 · 8: 4.88/25.5
(C) d_model 256: 5.75/24.5 · 1024: 4.66/26.0
(C) d_ff 1024: 5.12/25.4 · 4096: 4.75/26.2
(D) P_drop 0: 5.77/24.6 · 0.2: 4.95/25.5
(D) ε_ls 0: 4.67/25.3 · 0.2: 5.47/25.7
(E) learned positions 4.92/25.7
big 4.33/26.4"""


def printed() -> dict[str, tuple[float, float]]:
    """Perplexity and BLEU by the name of the row."""
    rows = {}
    for line in PRINTED.splitlines():
        group, _, first = line.partition(": ")
        if not first:
            name, _, numbers = line.rpartition(" ")
            rows[name] = numbers
            continue
        group, _, value = group.rpartition(" ")
        for cell in f"{value}: {first}".split(" · "):
            value, _, numbers = cell.partition(": ")
            rows[f"{group} = {value}"] = numbers
    pairs = {name: numbers.split("/") for name, numbers in rows.items()}
    return {name: (float(ppl), float(bleu)) for name, (ppl, bleu) in pairs.items()}


def write_row(folder: Path, ppl: float, bleu: float, **changes: Any) -> None:
    shape: dict[str, Any] = {"vocab_size": 80, "N": 4, "d_model": 128, "d_ff": 256, "h": 4}
    folder.mkdir()
    config = TransformerConfig(**{**shape, **changes})
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    last = {"step": 7, "validation_perplexity": ppl, "validation_bleu": bleu}
    lines = [{"step": 0, "parameters": 123_456}, last]
    (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of rows, empty, in place of the installed one."""
    monkeypatch.setattr(model_variations, "ROWS", tmp_path)
    return tmp_path


def test_all_rows_are_as_published() -> None:
    assert {row.name: (row.perplexity, row.bleu) for row in TABLE_3} == printed()
    assert len(TABLE_3) == 20
    counts = {row.name: row.millions for row in TABLE_3 if row.millions}
    assert counts == {
        "base": 65, "(B) d_k = 16": 58, "(B) d_k = 32": 60, "(C) N = 2": 36, "(C) N = 4": 50,
        "(C) N = 8": 80, "(C) d_model = 256": 28, "(C) d_model = 1024": 168,
        "(C) d_ff = 1024": 53, "(C) d_ff = 4096": 90, "big": 213,
    }  # fmt: skip


def test_without_models_of_ours_the_rows_are_those_of_the_paper(opened, rows) -> None:
    app = opened()
    _, second, third = (frame.value for frame in app.dataframe)
    assert (len(second), len(third)) == (10, 20)
    assert "here" not in third
    (text,) = (x.value for x in app.markdown if x.value.startswith("**(A)**"))
    missing = text.replace("\\", "").partition("No model here yet: ")[2]
    assert missing.startswith(
        "(A) h = 1, 4, 16, 32; (B) d_k = 16, 32; (C) N = 2, 4, 8; (C) d_model = 256, 1024; "
        "(C) d_ff = 1024, 4096; (D) P_drop = 0, 0.2; (D) ε_ls = 0, 0.2; (E) learned positions."
    )


def test_a_row_whose_folder_appears_gets_its_dot_and_its_cells(opened, rows) -> None:
    write_row(rows / "sinusoidal", 9.0, 28.0)
    write_row(rows / "c-N2", 10.8, 25.5, N=2)
    write_row(rows / "learned", 7.5, 41.0, positions="learned")
    app = opened()
    frame = app.dataframe[2].value
    here = ["here", "PPL here", "BLEU here", "params here"]
    assert frame.loc[0, here].tolist() == ["base", "9.00", "28.0", "0.12 M"]
    assert frame.loc[7, ["", "N", *here]].tolist() == [
        "(C)", "2", "N = 2", "10.80", "25.5", "0.12 M",
    ]  # fmt: skip
    assert (frame[here].to_numpy() != "").sum() == 12
    (drawn,) = (frame for frame in frames(app, 2) if len(frame) > 1)
    ours = drawn[drawn["whose"] == "here"].set_index("row")
    expected = {"base": 0, "(C) N = 2": -2.5, "(E) learned positions": 13.0}
    assert dict(ours["bleu_change"]) == pytest.approx(expected)
    assert [*ours["beyond"]] == [False, False, True]
    assert ours["place"]["(E) learned positions"] == 1.0  # the end of the panel
    (text,) = (x.value for x in app.markdown if x.value.startswith("**(A)**"))
    text = text.replace("\\", "")
    assert "3 small models, the base with N = 4, d_model = 128, d_ff = 256, h = 4, each" in text
    assert "Multi30k" in text
    assert "+13.0 BLEU" in text
    assert "(C) N = 4, 8;" in text
    assert "learned positions." not in text.partition("No model here yet")[2]


def test_the_configurations_of_the_rows_are_alike_and_each_stands_for_one_row_of_the_paper() -> (
    None
):
    configs = {path.stem: RunConfig.load(path) for path in CONFIGS.glob("rows/*.toml")}
    base = configs["sinusoidal"]
    assert {config.recipe for config in configs.values()} == {base.recipe}
    trained = {
        name: TrainedRow(name, config.model, parameters=1, steps=1, perplexity=1.0, bleu=1.0)
        for name, config in configs.items()
    }
    assert model_variations.common_base([*trained.values()]) is trained["sinusoidal"]
    papers = model_variations.by_paper_row([*trained.values()])
    # all but the big model, which changes everything at once
    assert {*papers} == {row.name for row in TABLE_3} - {"big"}
    assert all(len(models) == 1 for models in papers.values())
    for name, config in configs.items():
        changes = model_variations.changes(trained[name], trained["sinusoidal"])
        assert len(changes) == (name != "sinusoidal")
        followed = {"d_k", "d_v"} & config.model.to_dict().keys() - changes.keys()
        rest = {
            field: value
            for field, value in config.model.to_dict().items()
            if field not in changes and field not in followed
        }
        assert rest == {field: base.model.to_dict()[field] for field in rest}
