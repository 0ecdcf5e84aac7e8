"""Rows of Table 3 that were trained here, each beside the paper's row of its change."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from training.run import journal
from transformer import ConfigError, TransformerConfig
from transformer.files.documents import parse_json
from transformer.files.installed import ASSETS
from transformer.paper.results import BASE, BIG, TABLE_3, PaperRow, describe_change
from viz.app.chrome.problems import without_paths

ROWS = ASSETS / "rows"  # a folder for each row, with `config.json` and `run.jsonl`

# what a row of Table 3 is about: neither the vocabulary nor the longest sentence; d_v changes
# nowhere by itself
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
        shape = parse_json((folder / "config.json").read_text("utf-8"))
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
        return f"{problem}: train it again with headlight train."


def read_all(folder: Path) -> tuple[list[TrainedRow], list[str]]:
    """Read all rows that were trained, and a sentence on each folder that is not one."""
    rows = [read(path) for path in sorted(folder.glob("*")) if path.is_dir()]
    trained = [row for row in rows if isinstance(row, TrainedRow)]
    return trained, [row for row in rows if isinstance(row, str)]


def by_paper_row(rows: Sequence[TrainedRow]) -> dict[str, list[TrainedRow]]:
    """Sort rows by the name of the paper's row that makes the same change; leave out others."""
    results: dict[str, list[TrainedRow]] = {}
    if (base := common_base(rows)) is not None:
        for row in rows:
            if (paper := paper_row_of(row, base)) is not None:
                results.setdefault(paper.name, []).append(row)
    return results


def changes(row: TrainedRow, base: TrainedRow) -> dict[str, float | str]:
    """Return the fields in which two rows differ, with the values of the first."""
    values = {name: getattr(row.config, name) for name in COMPARED_FIELDS}
    differ = {name: v for name, v in values.items() if v != getattr(base.config, name)}
    if "h" in differ or "d_model" in differ:
        differ.pop("d_k", None)  # d_model / h: it follows
    return differ


def describe(row: TrainedRow, base: TrainedRow) -> str:
    """Describe how a row differs from its base, such as `N = 2`, or return `base`."""
    return ", ".join(describe_change(*change) for change in changes(row, base).items()) or BASE


def common_base(rows: Sequence[TrainedRow]) -> TrainedRow | None:
    """Return the row from which the others differ least; of equals, the one named as a base."""

    def difference(base: TrainedRow) -> tuple[int, bool]:
        return sum(len(changes(row, base)) for row in rows), base.name not in (BASE, "sinusoidal")

    return min(rows, key=difference, default=None)


def paper_row_of(row: TrainedRow, base: TrainedRow) -> PaperRow | None:
    """Return the paper's row that makes the same change; None if the paper has none.

    Of those that change the base in the same direction, the one with the same share of it, else the
    same value, else the nearest share.
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
        key=lambda p: (shares[p] != share, p.change[1] != value, abs(shares[p] - share)),
        default=None,
    )


def differences(rows: Sequence[TrainedRow]) -> pd.DataFrame:
    """Return BLEU and perplexity of each row of Table 3 and of each model trained here as its row.

    The columns `bleu_change` and `perplexity_change` are the differences to the base of the same
    source. Several models of one row share its name.
    """
    results, first = by_paper_row(rows), common_base(rows)
    records = []
    for paper in TABLE_3:
        models: list[tuple[str, Any, Any]] = [("paper", paper, TABLE_3[0])]
        models += [("here", row, first) for row in results.get(paper.name, [])]
        for whose, model, base in models:
            name = describe(model, base) if whose == "here" else paper.name
            changed = model.bleu - base.bleu, model.perplexity - base.perplexity
            values = model.bleu, model.perplexity, *(round(change, 4) for change in changed)
            records.append((paper.name, whose, name, *values))
    columns = ["row", "whose", "model", "bleu", "perplexity", "bleu_change", "perplexity_change"]
    return pd.DataFrame(records, columns=columns)
