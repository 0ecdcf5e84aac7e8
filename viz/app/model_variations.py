"""Table 3 as the paper prints it: the change of each row, and its cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.run import journal
from transformer import ConfigError, TransformerConfig
from transformer.files.installed import ASSETS
from viz.app.chrome.problems import without_paths

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


ROWS = ASSETS / "rows"  # a folder for each row, with `config.json` and `run.jsonl`

# what a row of Table 3 is about; the vocabulary and the longest sentence are no part of it, and d_v
# changes nowhere by itself
COMPARED_FIELDS = ("N", "d_model", "d_ff", "h", "d_k", "P_drop", "epsilon_ls", "positions")


@dataclass(frozen=True)
class TrainedRow:
    """One model that was trained here."""

    name: str  # of its folder
    config: TransformerConfig  # its shape
    parameters: int  # that it learns; 0 where its log does not say
    steps: int  # that it was trained for
    perplexity: float  # per piece of the validation text, at the last validation
    bleu: float  # of greedy translations of it


def read(folder: Path) -> TrainedRow | str:
    """Read one folder, or return a sentence on its problem."""
    try:
        shape = json.loads((folder / "config.json").read_text("utf-8"))
        config = TransformerConfig.from_dict(shape)
        records = journal.read(folder / "run.jsonl")
        measured = [record for record in records if "validation_bleu" in record]
        if not measured:
            return f"{folder.name}/run.jsonl holds no validation yet: reload when it does."
        return TrainedRow(
            name=folder.name,
            config=config,
            parameters=int(records[0].get("parameters", 0)),
            steps=int(measured[-1]["step"]),
            perplexity=float(measured[-1]["validation_perplexity"]),
            bleu=float(measured[-1]["validation_bleu"]),
        )
    except ConfigError as error:
        return f"{folder.name}/config.json: {without_paths(error)}"
    except (OSError, journal.RunLogError, ValueError, KeyError, TypeError, AttributeError):
        problem = f"{folder.name} has no config.json and run.jsonl that can be read"
        return f"{problem}: train it again with training.train."


def read_all(folder: Path = ROWS) -> tuple[list[TrainedRow], list[str]]:
    """Read all rows that were trained, and a sentence on each folder that is not one."""
    rows = [read(path) for path in sorted(folder.glob("*")) if path.is_dir()]
    trained = [row for row in rows if isinstance(row, TrainedRow)]
    return trained, [row for row in rows if isinstance(row, str)]


def changes(row: TrainedRow, base: TrainedRow) -> dict[str, float | str]:
    """Return the fields in which two rows differ, with the values of the first."""
    values = {name: getattr(row.config, name) for name in COMPARED_FIELDS}
    differ = {name: v for name, v in values.items() if v != getattr(base.config, name)}
    if "h" in differ or "d_model" in differ:
        differ.pop("d_k", None)  # d_model / h: it follows
    return differ


def common_base(rows: Sequence[TrainedRow]) -> TrainedRow | None:
    """Return the row from which the others differ least; among two such rows, the one named so."""

    def difference(base: TrainedRow) -> tuple[int, bool]:
        return sum(len(changes(row, base)) for row in rows), base.name not in (BASE, "sinusoidal")

    return min(rows, key=difference, default=None)


def paper_row_of(row: TrainedRow, base: TrainedRow) -> PaperRow | None:
    """Return the paper's row that makes the same change; None if the paper has none.

    Of those that change the base in the same direction, the same value or the nearest share of it.
    """
    differ = changes(row, base)
    if not differ:
        return TABLE_3[0]
    if len(differ) > 1:
        return None
    ((field, value),) = differ.items()
    papers = [p for p in TABLE_3 if p.letter not in (BASE, BIG) and p.change[0] == field]
    base_value = getattr(base.config, field)
    if isinstance(value, str) or not base_value:  # there is no share of it
        return next((paper for paper in papers if paper.change[1] == value), None)
    share = value / float(base_value)
    shares = {paper: float(paper.change[1]) / TABLE_3[0].shape[field] for paper in papers}
    return min(
        (paper for paper in papers if (shares[paper] < 1) == (share < 1)),
        key=lambda paper: (paper.change[1] != value, abs(shares[paper] - share)),
        default=None,
    )
