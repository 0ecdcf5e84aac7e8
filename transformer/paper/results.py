"""Results that the paper reports, Tables 2 and 3, and the text and training behind them (§5)."""

from collections.abc import Mapping
from dataclasses import dataclass

EN_DE, EN_FR = "EN-DE", "EN-FR"
SUSTAINED = 9.5e12
"""Floating-point operations a second that the paper estimates for an NVIDIA P100 (§6.1)."""


@dataclass(frozen=True)
class TrainingText:
    """The text of one language pair: WMT 2014 (§5.1)."""

    pairs: int
    pieces: int  # of the vocabulary that both languages share


TEXTS = {
    EN_DE: TrainingText(pairs=4_500_000, pieces=37_000),
    EN_FR: TrainingText(pairs=36_000_000, pieces=32_000),
}


@dataclass(frozen=True)
class Training:
    """The training of one model, on one machine (§5.2)."""

    steps: int
    seconds_per_step: float
    hours: float
    gpus: int = 8  # NVIDIA P100
    batch_tokens: int = 25_000  # about so many on each side (§5.1)

    @property
    def flops(self) -> float:
        """Floating-point operations, as Table 2 estimates them: time × GPUs × what one sustains."""
        return self.hours * 3600 * self.gpus * SUSTAINED


TRAININGS = {
    "base": Training(steps=100_000, seconds_per_step=0.4, hours=12),
    "big": Training(steps=300_000, seconds_per_step=1.0, hours=3.5 * 24),
}


@dataclass(frozen=True)
class ReportedModel:
    """One row of Table 2: BLEU on newstest2014 as printed, and the cost of training in FLOPs."""

    name: str
    bleu: Mapping[str, str]  # by language pair, as are the costs
    flops: Mapping[str, float]

    @property
    def kind(self) -> str:
        """Such as `ensemble`."""
        if self.name.startswith("Transformer"):
            return "Transformer"
        return "ensemble" if self.name.endswith("Ensemble") else "single model"


TABLE_2: tuple[ReportedModel, ...] = (
    ReportedModel("ByteNet", {EN_DE: "23.75"}, {}),
    ReportedModel("Deep-Att + PosUnk", {EN_FR: "39.2"}, {EN_FR: 1.0e20}),
    ReportedModel("GNMT + RL", {EN_DE: "24.6", EN_FR: "39.92"}, {EN_DE: 2.3e19, EN_FR: 1.4e20}),
    ReportedModel("ConvS2S", {EN_DE: "25.16", EN_FR: "40.46"}, {EN_DE: 9.6e18, EN_FR: 1.5e20}),
    ReportedModel("MoE", {EN_DE: "26.03", EN_FR: "40.56"}, {EN_DE: 2.0e19, EN_FR: 1.2e20}),
    ReportedModel("Deep-Att + PosUnk Ensemble", {EN_FR: "40.4"}, {EN_FR: 8.0e20}),
    ReportedModel(
        "GNMT + RL Ensemble", {EN_DE: "26.30", EN_FR: "41.16"}, {EN_DE: 1.8e20, EN_FR: 1.1e21}
    ),
    ReportedModel(
        "ConvS2S Ensemble", {EN_DE: "26.36", EN_FR: "41.29"}, {EN_DE: 7.7e19, EN_FR: 1.2e21}
    ),
    # the paper prints one cost for both pairs
    ReportedModel(
        "Transformer (base)", {EN_DE: "27.3", EN_FR: "38.1"}, {EN_DE: 3.3e18, EN_FR: 3.3e18}
    ),
    ReportedModel(
        "Transformer (big)", {EN_DE: "28.4", EN_FR: "41.8"}, {EN_DE: 2.3e19, EN_FR: 2.3e19}
    ),
)
"""Table 2, in the order of the paper."""

SHAPE = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "epsilon_ls")
"""The columns of Table 3 that make up a model."""
BASE, BIG = "base", "big"


@dataclass(frozen=True, eq=False)
class PaperRow:
    """One row of Table 3."""

    letter: str  # of its group, or `base` or `big`
    shape: Mapping[str, float]  # what is printed in the row; what is not is as in the base row
    perplexity: float  # per piece, on newstest2013
    bleu: float  # on newstest2013
    millions: int | None = None  # of parameters, where the paper prints them
    steps: int | None = None  # thousands, where the paper prints them
    learned: bool = False  # row (E), with learned positions instead of sinusoids

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
    """Describe a change of one field, such as `N = 2` or `learned positions`."""
    if isinstance(value, str):
        return f"{value} positions"
    return f"{SYMBOLS.get(field, field)} = {value:g}"
