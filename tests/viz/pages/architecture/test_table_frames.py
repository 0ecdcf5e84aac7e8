"""Tables 2 and 3 have the paper's cells."""

from viz.app.model_variations import TABLE_3
from viz.pages.architecture.table_frames import table_2, table_3


def test_table_3_is_printed_as_in_the_paper() -> None:
    frame = table_3()
    assert frame["PPL"].tolist() == [f"{row.perplexity:.2f}" for row in TABLE_3]
    assert frame["BLEU"].tolist() == [f"{row.bleu:.1f}" for row in TABLE_3]
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
