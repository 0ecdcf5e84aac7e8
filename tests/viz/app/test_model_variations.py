"""Table 3 is the paper's, and rows trained here stand beside the paper's row of their change."""

import json
from pathlib import Path
from typing import Any

import pytest

from transformer import TransformerConfig
from transformer.paper import costs
from transformer.paper.results import TABLE_3
from viz.app import model_variations


def test_the_printed_parameters_are_near_to_what_our_model_has() -> None:
    """Within a tenth, whatever vocabulary the paper counted; a slip in a row would be far off."""
    for row in TABLE_3:
        shape: dict[str, Any] = {k: v for k, v in row.shape.items() if k != "d_v"}
        config = TransformerConfig.base(**shape)
        count = sum(costs.parameters_by_formula(config).values()) / 1e6
        assert row.millions is None or count == pytest.approx(row.millions, rel=0.11), row.name


TWIN: dict[str, Any] = {"vocab_size": 80, "N": 4, "d_model": 128, "d_ff": 256, "h": 4}


def made(name: str, **different: Any) -> model_variations.TrainedRow:
    config = TransformerConfig(**{**TWIN, **different})
    return model_variations.TrainedRow(
        name, config, parameters=1, steps=2, perplexity=3.0, bleu=4.0
    )


def written(folder: Path, records: list[dict], **different: Any) -> Path:
    folder.mkdir(parents=True)
    config = TransformerConfig(**{**TWIN, **different})
    (folder / "config.json").write_text(json.dumps(config.to_dict()), "utf-8")
    (folder / "run.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
    return folder


def validation(step: int, perplexity: float, bleu: float) -> dict:
    return {
        "step": step, "validation_loss": 1.0, "validation_perplexity": perplexity,
        "validation_bleu": bleu,
    }  # fmt: skip


BASE = made("sinusoidal", max_length=256)
ALL = [
    made("a-h1", h=1),
    made("a-h16", h=16),
    made("b", d_k=8),
    made("c", N=2),
    made("d-drop", P_drop=0.0),
    made("d-ls", epsilon_ls=0.0),
    made("e", positions="learned"),
    BASE,
]


def test_a_folder_is_read_to_its_last_validation_and_what_is_no_row_gets_one_sentence(
    tmp_path: Path,
) -> None:
    written(tmp_path / "going", [{"step": 0, "parameters": 1}])
    good = [{"step": 0, "parameters": 1234}, validation(400, 30.0, 10.5), {"step": 450}]
    written(tmp_path / "good", [*good, validation(800, 9.25, 28.5)], h=1)
    broken = written(tmp_path / "odd", [validation(5, 2.0, 1.0)])
    (broken / "config.json").write_text('{"vocab_size": 9, "N": 0}', "utf-8")
    torn = written(tmp_path / "torn", [validation(5, 2.0, 1.0)])
    (torn / "run.jsonl").write_text("{nonsense\n", "utf-8")
    (tmp_path / "void").mkdir()
    (tmp_path / "README.md").write_text("no folder", "utf-8")
    rows, wrong = model_variations.read_all(tmp_path)
    assert [(row.name, row.parameters, row.steps) for row in rows] == [("good", 1234, 800)]
    assert (rows[0].perplexity, rows[0].bleu, rows[0].config.h) == (9.25, 28.5, 1)
    assert [sentence.split()[0] for sentence in wrong] == [
        "going/run.jsonl", "odd/config.json:", "torn", "void",
    ]  # fmt: skip
    assert all(sentence.endswith(".") for sentence in wrong)
    assert "N = 0" in wrong[1]
    assert model_variations.read_all(tmp_path / "nowhere") == ([], [])


def test_the_base_is_the_row_that_the_others_change() -> None:
    assert model_variations.common_base(ALL) is BASE
    assert model_variations.common_base([BASE, made("a-h1", h=1)]) is BASE
    assert model_variations.common_base([made("a-h1", h=1), BASE]) is BASE
    assert model_variations.common_base([]) is None
    # a share of nothing is not a share, and two changes at once are none
    assert model_variations.paper_row_of(made("x", P_drop=0.3), made("base", P_drop=0.0)) is None
    assert model_variations.paper_row_of(made("two", N=2, P_drop=0.3), BASE) is None


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (ALL[0], "(A) h = 1"),
        (ALL[2], "(B) d_k = 16"),  # a quarter of the base, as there
        (made("x", d_k=20), "(B) d_k = 32"),  # nearer to half of it
        (made("x", d_k=16), "(B) d_k = 32"),  # half of the base, as there, though 16 stands there
        (ALL[1], "(A) h = 32"),  # four times as many
        (ALL[3], "(C) N = 2"),  # the same value, where no share is the same
        (made("x", d_ff=307), "(C) d_ff = 4096"),  # more, though half as much is nearer
        (made("x", d_model=256), "(C) d_model = 1024"),  # twice the base: that value is half there
        (ALL[6], "(E) learned positions"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_each_row_stands_beside_the_papers_row_of_the_same_change(row, name) -> None:
    paper_row = model_variations.paper_row_of(row, BASE)
    assert paper_row is not None
    assert paper_row.name == name
