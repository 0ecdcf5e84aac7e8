"""Tables 2 and 3 of the paper as data frames, cell by cell."""

from __future__ import annotations

import pandas as pd

from viz.app.model_variations import BASE, BIG, SHAPE, SYMBOLS, TABLE_3

TABLE_2: tuple[tuple[str, str, str, str, str], ...] = (
    ("ByteNet", "23.75", "", "", ""),
    ("Deep-Att + PosUnk", "", "39.2", "", "1.0 · 10²⁰"),
    ("GNMT + RL", "24.6", "39.92", "2.3 · 10¹⁹", "1.4 · 10²⁰"),
    ("ConvS2S", "25.16", "40.46", "9.6 · 10¹⁸", "1.5 · 10²⁰"),
    ("MoE", "26.03", "40.56", "2.0 · 10¹⁹", "1.2 · 10²⁰"),
    ("Deep-Att + PosUnk Ensemble", "", "40.4", "", "8.0 · 10²⁰"),
    ("GNMT + RL Ensemble", "26.30", "41.16", "1.8 · 10²⁰", "1.1 · 10²¹"),
    ("ConvS2S Ensemble", "26.36", "41.29", "7.7 · 10¹⁹", "1.2 · 10²¹"),
    ("Transformer (base)", "27.3", "38.1", "3.3 · 10¹⁸", "the same"),
    ("Transformer (big)", "28.4", "41.8", "2.3 · 10¹⁹", "the same"),
)
"""Model, BLEU EN-DE and EN-FR, training FLOPs EN-DE and EN-FR; "" where the paper has none. The
paper prints one cost for both languages of the Transformers."""

TABLE_2_COLUMNS = ("model", "BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR")


def _printed(name: str, value: float | None) -> str:
    """A cell of Table 3: rates have one decimal, sizes none."""
    if value is None:
        return ""
    return f"{value:.1f}" if name in ("P_drop", "epsilon_ls") else f"{value:g}"


def table_2() -> pd.DataFrame:
    """Table 2: BLEU on newstest2014, and what training cost."""
    return pd.DataFrame(TABLE_2, columns=list(TABLE_2_COLUMNS))


def table_3() -> pd.DataFrame:
    """Table 3 as text: a cell is empty where the paper prints nothing."""
    rows = []
    for row in TABLE_3:
        letter = row.letter if row.letter in (BASE, BIG) else f"({row.letter})"
        cells = {"": letter} | {
            SYMBOLS.get(name, name): _printed(name, row.shape.get(name)) for name in SHAPE
        }
        cells["positions"] = "learned" if row.learned else ""
        cells["steps"] = "" if row.steps is None else f"{row.steps} K"
        cells |= {"PPL": f"{row.perplexity:.2f}", "BLEU": f"{row.bleu:.1f}"}
        cells["params"] = "" if row.millions is None else f"{row.millions} M"
        rows.append(cells)
    return pd.DataFrame(rows)
