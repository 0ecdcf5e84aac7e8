"""Table 2 as charts and as a table, and what training took, against the paper as text."""

import json
import re

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import frames
from transformer.files.installed import BUNDLED
from transformer.paper import results
from viz.pages.tables import table_2

# model | BLEU EN-DE, EN-FR | FLOPs EN-DE, EN-FR, as Table 2 prints them
PRINTED = """
ByteNet                      23.75  -      -       -
Deep-Att + PosUnk            -      39.2   -       1.0e20
GNMT + RL                    24.6   39.92  2.3e19  1.4e20
ConvS2S                      25.16  40.46  9.6e18  1.5e20
MoE                          26.03  40.56  2.0e19  1.2e20
Deep-Att + PosUnk Ensemble   -      40.4   -       8.0e20
GNMT + RL Ensemble           26.30  41.16  1.8e20  1.1e21
ConvS2S Ensemble             26.36  41.29  7.7e19  1.2e21
Transformer (base)           27.3   38.1   3.3e18  3.3e18
Transformer (big)            28.4   41.8   2.3e19  2.3e19
"""
ROWS = [re.split(r"\s{2,}", line) for line in PRINTED.strip().splitlines()]
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def test_the_table_holds_what_the_paper_prints(opened) -> None:
    table = opened().dataframe[1].value
    assert [*table.columns] == ["model", "BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR"]
    cells = [
        [(cell or "-").replace(" · 10", "e").translate(SUPERSCRIPTS) for cell in row]
        for row in table.to_numpy().tolist()
    ]
    assert cells == ROWS


@pytest.mark.parametrize(("chart", "pair"), [(0, "EN-DE"), (1, "EN-FR")])
def test_each_model_with_a_cost_is_drawn_at_its_numbers(opened, chart, pair) -> None:
    (frame,) = frames(opened(), chart)
    drawn = {
        row["model"]: (row["bleu"], row["flops"], row["kind"]) for row in frame.to_dict("records")
    }
    kinds = {"T": "Transformer", "e": "ensemble"}  # by the first letter, or the last
    bleu, cost = (1, 3) if pair == "EN-DE" else (2, 4)
    assert drawn == {
        row[0]: (
            float(row[bleu]),
            float(row[cost]),
            kinds.get(row[0][0], "ensemble" if row[0].endswith("Ensemble") else "single model"),
        )
        for row in ROWS
        if row[cost] != "-"
    }
    low, high = 2e18, 3e21  # the axis
    assert all(low < flops < high for _, flops, _ in drawn.values())


def test_the_transformers_are_compared_with_the_best_model_before_them(opened) -> None:
    shown = [text.replace("\u00a0", " ") for text in texts(opened())]
    for bleu, cost in ((1, 3), (2, 4)):
        *others, base, big = (row for row in ROWS if row[cost] != "-")
        best = max(others, key=lambda row: float(row[bleu]))
        (sentence,) = (text for text in shown if f"({best[0]}, {best[bleu]})" in text)
        gain = float(big[bleu]) - float(best[bleu])
        assert f"has {big[bleu]} BLEU, {gain:.1f} more" in sentence
        shares = [100 * float(row[cost]) / float(best[cost]) for row in (big, base)]
        assert [float(x) for x in re.findall(r"([\d.]+) %", sentence)] == [
            pytest.approx(share, rel=0.05) for share in shares
        ]


def test_the_paper_s_trainings_give_the_costs_that_it_estimates() -> None:
    base, big = (results.TRAININGS[name] for name in ("base", "big"))
    assert (base.steps, base.seconds_per_step, base.hours, base.gpus) == (100_000, 0.4, 12, 8)
    assert (big.steps, big.seconds_per_step, big.hours, big.gpus) == (300_000, 1.0, 84, 8)
    for training, printed, longer in ((base, 3.3e18, 1.1), (big, 2.3e19, 1.02)):
        assert training.flops == pytest.approx(printed, rel=0.02)
        # the hours are more than the steps alone take
        steps_alone = training.steps * training.seconds_per_step / 3600
        assert steps_alone < training.hours < longer * steps_alone
    texts = {pair: (text.pairs, text.pieces) for pair, text in results.TEXTS.items()}
    assert texts == {"EN-DE": (4_500_000, 37_000), "EN-FR": (36_000_000, 32_000)}


def test_what_training_took_stands_beside_the_bundled_run_as_logged(opened) -> None:
    table = opened().dataframe[0].value.set_index("")
    for column in ("Transformer (base)", "Transformer (big)"):
        assert table[column][:5].tolist() == [
            "4.5 million", "36 million", "37,000", "32,000", "8 NVIDIA P100",
        ]  # fmt: skip
    assert table["Transformer (base)"][5:].tolist() == [
        "100,000", "about 25,000", "0.4", "12 hours", "3.3 · 10¹⁸",
    ]  # fmt: skip
    assert table["Transformer (big)"][5:].tolist() == [
        "300,000", "about 25,000", "1.0", "3.5 days", "2.3 · 10¹⁹",
    ]  # fmt: skip
    log = [json.loads(line) for line in (BUNDLED / "run.jsonl").read_text().splitlines()]
    pairs = next(record["pairs"] for record in reversed(log) if "pairs" in record)
    steps, seconds = next(
        (record["step"], record["seconds"]) for record in reversed(log) if "seconds" in record
    )
    here = table["bundled model, first run"]
    assert int(here["sentence pairs EN-DE"].replace(",", "")) == pairs
    assert int(here["steps"].replace(",", "")) == steps
    assert float(here["seconds a step"]) == pytest.approx(seconds / steps, abs=0.005)
    assert here["time"] == f"{seconds / 3600:.1f} hours"
    card = (BUNDLED / "MODEL_CARD.md").read_text("utf-8")
    assert here["machine"]
    assert f"in {here['time'].removesuffix('ours')} on {here['machine']}" in card


def test_a_bundled_run_without_its_log_leaves_the_paper_s_numbers(opened, monkeypatch, tmp_path):
    monkeypatch.setattr(table_2, "BUNDLED", tmp_path)
    app = opened()
    assert [*app.dataframe[0].value.columns] == ["", "Transformer (base)", "Transformer (big)"]
    assert any("run.jsonl" in text for text in texts(app))
