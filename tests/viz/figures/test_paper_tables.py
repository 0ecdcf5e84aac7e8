"""Tables 2 and 3 are the paper's, and the differences that are drawn are those of their rows."""

import pytest

from transformer import TransformerConfig
from transformer.analysis.counting import parameters_by_formula
from viz.figures.paper_tables import TABLE_3, difference_chart, said, table_2, table_3

# PPL and BLEU of Table 3, read row by row
PRINTED = [
    ("base", 4.92, 25.8), ("(A) h = 1", 5.29, 24.9), ("(A) h = 4", 5.00, 25.5),
    ("(A) h = 16", 4.91, 25.8), ("(A) h = 32", 5.01, 25.4), ("(B) d_k = 16", 5.16, 25.1),
    ("(B) d_k = 32", 5.01, 25.4), ("(C) N = 2", 6.11, 23.7), ("(C) N = 4", 5.19, 25.3),
    ("(C) N = 8", 4.88, 25.5), ("(C) d_model = 256", 5.75, 24.5),
    ("(C) d_model = 1024", 4.66, 26.0), ("(C) d_ff = 1024", 5.12, 25.4),
    ("(C) d_ff = 4096", 4.75, 26.2), ("(D) P_drop = 0", 5.77, 24.6),
    ("(D) P_drop = 0.2", 4.95, 25.5), ("(D) ε_ls = 0", 4.67, 25.3),
    ("(D) ε_ls = 0.2", 5.47, 25.7), ("(E) learned positions", 4.92, 25.7), ("big", 4.33, 26.4),
]  # fmt: skip


def test_table_3_has_the_papers_rows_in_their_order() -> None:
    assert [(row.name, row.perplexity, row.bleu) for row in TABLE_3] == PRINTED
    frame = table_3()
    assert frame["PPL"].tolist() == [f"{ppl:.2f}" for _, ppl, _ in PRINTED]
    assert frame["BLEU"].tolist() == [f"{bleu:.1f}" for _, _, bleu in PRINTED]
    assert frame.iloc[0].to_dict() == {
        "": "base", "N": "6", "d_model": "512", "d_ff": "2048", "h": "8", "d_k": "64",
        "d_v": "64", "P_drop": "0.1", "ε_ls": "0.1", "positions": "", "steps": "100 K",
        "PPL": "4.92", "BLEU": "25.8", "params": "65 M",
    }  # fmt: skip
    one_head = frame.iloc[1].to_dict()
    assert {name: value for name, value in one_head.items() if value} == {
        "": "(A)", "h": "1", "d_k": "512", "d_v": "512", "PPL": "5.29", "BLEU": "24.9",
    }  # fmt: skip
    assert frame.iloc[14]["P_drop"] == "0.0"
    assert frame.iloc[18]["positions"] == "learned"
    assert frame.iloc[19]["steps"] == "300 K"


def test_a_head_s_width_follows_the_heads_as_in_the_paper() -> None:
    """Row (A) keeps the work the same: h · d_k = d_model."""
    for row in TABLE_3:
        if row.letter == "A":
            assert row.shape["h"] * row.shape["d_k"] == row.shape["h"] * row.shape["d_v"] == 512


@pytest.mark.parametrize("row", [row for row in TABLE_3 if row.millions], ids=lambda row: row.name)
def test_the_printed_parameters_are_near_to_what_our_model_has(row) -> None:
    """Within a tenth, whatever vocabulary the paper counted; a slip in a row would be far off."""
    config = TransformerConfig.base(**{k: v for k, v in row.shape.items() if k != "d_v"})
    assert sum(parameters_by_formula(config).values()) / 1e6 == pytest.approx(
        row.millions, rel=0.11
    )


def test_table_2_has_the_papers_figures() -> None:
    frame = table_2()
    assert len(frame) == 10
    by_model = {row[0]: row[1:] for row in frame.to_numpy().tolist()}
    assert by_model["ByteNet"] == ["23.75", "", "", ""]
    assert by_model["ConvS2S Ensemble"] == [
        "26.36", "41.29", "7.7 · 10¹⁹", "1.2 · 10²¹",
    ]  # fmt: skip
    assert by_model["Transformer (base)"][:3] == ["27.3", "38.1", "3.3 · 10¹⁸"]
    assert by_model["Transformer (big)"][:3] == ["28.4", "41.8", "2.3 · 10¹⁹"]
    # the big model is the best of its column, in both
    assert max(float(value) for value in frame["BLEU EN-DE"] if value) == 28.4
    assert max(float(value) for value in frame["BLEU EN-FR"] if value) == 41.8


def test_both_sides_of_each_change_are_drawn() -> None:
    changes = [("h = 1", "paper", -0.9, 1.075), ("h = 1", "here", -1.5, 1.1),
               ("N = 2", "paper", -2.1, 1.24), ("N = 2", "here", -0.4, 1.05)]  # fmt: skip
    wanted = [dict(zip(("row", "whose", "bleu", "perplexity"), c, strict=True)) for c in changes]
    for column, base in (("bleu", 0.0), ("perplexity", 1.0)):
        chart = difference_chart(changes, column).to_dict()
        assert wanted in chart["datasets"].values()
        rule, dots = chart["layer"]
        assert chart["datasets"][rule["data"]["name"]] == [{"base": base}]
        assert dots["encoding"]["x"]["field"] == column
        assert dots["encoding"]["y"]["sort"] == ["h = 1", "N = 2"]


def test_a_change_is_said_in_the_papers_symbols() -> None:
    assert said("epsilon_ls", 0.0) == "ε_ls = 0"
    assert said("positions", "learned") == "learned positions"
