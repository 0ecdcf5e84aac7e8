"""Table 3 as the paper prints it: what each row changes, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    learned: bool = False

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
        return f"({self.letter}) {describe_change(*self.change)}"


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


def describe_change(field: str, value: float | str) -> str:
    """A change of one field in words, such as `N = 2` or `learned positions`."""
    if field == "positions":
        return f"{value} positions"
    return f"{SYMBOLS.get(field, field)} = {value:g}" if isinstance(value, int | float) else value
