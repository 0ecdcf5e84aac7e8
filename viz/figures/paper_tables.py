"""Tables 2 and 3 as the paper prints them, and a picture of what each change of Table 3 costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import altair as alt
import pandas as pd

from viz.figures.inks import GREY, OCHRE, VIOLET

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

SHAPE = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "epsilon_ls")
"""The columns of Table 3 that make up a model."""
BASE, BIG = "base", "big"


@dataclass(frozen=True)
class PaperRow:
    """One row of Table 3.

    Args:
        letter: of its group, or `base` or `big`.
        shape: what is printed in the row; what is not is as in the base row.
        perplexity: per piece, on newstest2013.
        bleu: on newstest2013.
        millions: of parameters, where the paper prints them.
        steps: thousands, where the paper prints them.
        learned: row (E), with learned positions instead of sinusoids.
    """

    letter: str
    shape: Mapping[str, float]
    perplexity: float
    bleu: float
    millions: int | None = None
    steps: int | None = None
    learned: bool = field(default=False)

    @property
    def change(self) -> tuple[str, float | str]:
        """The field that the row is about, and its value; d_k and d_v follow h and d_model."""
        if self.learned:
            return "positions", "learned"
        return next(iter(self.shape.items()))

    @property
    def name(self) -> str:
        """Such as `(C) N = 2`."""
        if self.letter in (BASE, BIG):
            return self.letter
        what, value = self.change
        return f"({self.letter}) {said(what, value)}"


_BASE_SHAPE = {
    "N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "d_k": 64, "d_v": 64, "P_drop": 0.1,
    "epsilon_ls": 0.1,
}  # fmt: skip
TABLE_3: tuple[PaperRow, ...] = (
    PaperRow(BASE, _BASE_SHAPE, 4.92, 25.8, 65, 100),
    PaperRow("A", {"h": 1, "d_k": 512, "d_v": 512}, 5.29, 24.9),
    PaperRow("A", {"h": 4, "d_k": 128, "d_v": 128}, 5.00, 25.5),
    PaperRow("A", {"h": 16, "d_k": 32, "d_v": 32}, 4.91, 25.8),
    PaperRow("A", {"h": 32, "d_k": 16, "d_v": 16}, 5.01, 25.4),
    PaperRow("B", {"d_k": 16}, 5.16, 25.1, 58),
    PaperRow("B", {"d_k": 32}, 5.01, 25.4, 60),
    PaperRow("C", {"N": 2}, 6.11, 23.7, 36),
    PaperRow("C", {"N": 4}, 5.19, 25.3, 50),
    PaperRow("C", {"N": 8}, 4.88, 25.5, 80),
    PaperRow("C", {"d_model": 256, "d_k": 32, "d_v": 32}, 5.75, 24.5, 28),
    PaperRow("C", {"d_model": 1024, "d_k": 128, "d_v": 128}, 4.66, 26.0, 168),
    PaperRow("C", {"d_ff": 1024}, 5.12, 25.4, 53),
    PaperRow("C", {"d_ff": 4096}, 4.75, 26.2, 90),
    PaperRow("D", {"P_drop": 0.0}, 5.77, 24.6),
    PaperRow("D", {"P_drop": 0.2}, 4.95, 25.5),
    PaperRow("D", {"epsilon_ls": 0.0}, 4.67, 25.3),
    PaperRow("D", {"epsilon_ls": 0.2}, 5.47, 25.7),
    PaperRow("E", {}, 4.92, 25.7, learned=True),
    PaperRow(
        BIG, {"N": 6, "d_model": 1024, "d_ff": 4096, "h": 16, "P_drop": 0.3}, 4.33, 26.4, 213, 300
    ),
)
"""Table 3, in the order of the paper."""

SYMBOLS = {"epsilon_ls": "ε_ls"}
INKS = {"paper": OCHRE, "here": VIOLET}
"""None of them can be taken for a kind of attention."""


def said(what: str, value: float | str) -> str:
    """A change in words, such as `N = 2` or `learned positions`."""
    if what == "positions":
        return f"{value} positions"
    return f"{SYMBOLS.get(what, what)} = {value:g}" if isinstance(value, int | float) else value


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


PANELS = {
    "bleu": ("BLEU, more than the base", 0.0),
    "perplexity": ("perplexity, times the base's", 1.0),
}
"""Title, and where the base itself lies, by what is compared."""


def difference_chart(
    changes: Sequence[tuple[str, str, float, float]], column: str, *, height: int = 30
) -> alt.LayerChart:
    """What each change does against its own base, in the paper and here.

    Args:
        changes: name of the row, `paper` or `here`, BLEU more than the base, and perplexity over
            the base's.
        column: one of `PANELS`.
        height: of a row, in CSS pixels.
    """
    title, base = PANELS[column]
    frame = pd.DataFrame(changes, columns=["row", "whose", "bleu", "perplexity"])
    names = list(dict.fromkeys(frame["row"]))
    domain, inks = list(INKS), list(INKS.values())
    dots = (
        alt.Chart(frame, height=len(names) * height + 90)  # with the axis and the legend
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            x=alt.X(f"{column}:Q", title=title, scale=alt.Scale(zero=False, padding=14)),
            y=alt.Y(
                "row:N",
                sort=names,
                title=None,
                axis=alt.Axis(ticks=False, grid=True, labelLimit=220),
            ),
            color=alt.Color(
                "whose:N",
                scale=alt.Scale(domain=domain, range=inks),
                legend=alt.Legend(title=None, orient="top"),
            ),
            shape=alt.Shape("whose:N", scale=alt.Scale(domain=domain), legend=None),
            tooltip=[
                alt.Tooltip("row:N"),
                alt.Tooltip("whose:N"),
                alt.Tooltip("bleu:Q", format="+.2f", title="BLEU more"),
                alt.Tooltip("perplexity:Q", format=".3f", title="perplexity, times"),
            ],
        )
    )
    rule = alt.Chart(pd.DataFrame({"base": [base]})).mark_rule(
        strokeDash=[4, 3], strokeWidth=1.5, color=GREY
    )
    return rule.encode(x="base:Q") + dots
