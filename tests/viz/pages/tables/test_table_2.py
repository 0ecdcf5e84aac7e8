"""Table 2 as charts and as a table, and what training took, against the paper as text."""

import re

import pytest

from tests.viz.app_test import texts
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


def test_a_bundled_run_without_its_log_leaves_the_paper_s_numbers(opened, monkeypatch, tmp_path):
    monkeypatch.setattr(table_2, "BUNDLED", tmp_path)
    app = opened()
    assert [*app.dataframe[0].value.columns] == ["", "Transformer (base)", "Transformer (big)"]
    assert any("run.jsonl" in text for text in texts(app))
