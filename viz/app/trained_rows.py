"""The rows of Table 3 that were trained here, as small models, with their logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training import runlog
from training.runlog import RunLogError
from transformer import ConfigError, TransformerConfig
from transformer.files import ASSETS
from viz.app.paper_tables import BASE, BIG, TABLE_3, PaperRow
from viz.app.problems import without_paths

ROWS = ASSETS / "rows"
"""A folder for each row, with `config.json` and `run.jsonl`."""

NAMES_OF_BASE = (BASE, "sinusoidal")
# what a row of Table 3 is about; the vocabulary and the longest sentence are no part of it, and d_v
# changes nowhere by itself
COMPARED_FIELDS = ("N", "d_model", "d_ff", "h", "d_k", "P_drop", "epsilon_ls", "positions")


@dataclass(frozen=True)
class TrainedRow:
    """One model that was trained here.

    Args:
        name: of its folder.
        config: its shape.
        parameters: that it learns; 0 where its log does not say.
        steps: that it was trained for.
        perplexity: per piece of the validation text, at the last validation.
        bleu: of greedy translations of it.
    """

    name: str
    config: TransformerConfig
    parameters: int
    steps: int
    perplexity: float
    bleu: float


def read(folder: Path) -> TrainedRow | str:
    """Read one folder, or say in one sentence what is wrong with it."""
    try:
        shape = json.loads((folder / "config.json").read_text("utf-8"))
        config = TransformerConfig.from_dict(shape)
        records = runlog.read(folder / "run.jsonl")
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
    except (OSError, RunLogError, ValueError, KeyError, TypeError, AttributeError):
        return (
            f"{folder.name} has no config.json and run.jsonl that can be read: train it again with "
            "training.train."
        )


def read_all(folder: Path = ROWS) -> tuple[list[TrainedRow], list[str]]:
    """All rows that were trained, and a sentence on each folder that is none."""
    folders = sorted(path for path in folder.glob("*") if path.is_dir())
    found = [read(path) for path in folders]
    return (
        [row for row in found if isinstance(row, TrainedRow)],
        [row for row in found if isinstance(row, str)],
    )


def changes(row: TrainedRow, base: TrainedRow) -> dict[str, float | str]:
    """What differs between two rows, with the values that the first has."""
    differ = {
        name: getattr(row.config, name)
        for name in COMPARED_FIELDS
        if getattr(row.config, name) != getattr(base.config, name)
    }
    if "h" in differ or "d_model" in differ:
        differ.pop("d_k", None)  # d_model / h: it follows
    return differ


def common_base(rows: Sequence[TrainedRow]) -> TrainedRow | None:
    """The row from which the others differ least: the one that each of them changes.

    Where two are as near, as with two rows in all, the one that is called so.
    """

    def far(one: TrainedRow) -> tuple[int, bool]:
        return sum(len(changes(row, one)) for row in rows), one.name not in NAMES_OF_BASE

    return min(rows, key=far, default=None)


def paper_row_of(row: TrainedRow, base: TrainedRow) -> PaperRow | None:
    """The paper's row that makes the same change; None where the paper has none.

    Only rows that change the base in the same direction count: of them that of the same value, such
    as one head, or else that of the nearest share of the base, such as half the layers.
    """
    differ = changes(row, base)
    if not differ:
        return TABLE_3[0]
    if len(differ) > 1:
        return None
    ((what, value),) = differ.items()
    candidates = [one for one in TABLE_3 if one.letter not in (BASE, BIG) and one.change[0] == what]
    of_base = getattr(base.config, what)
    if isinstance(value, str) or not of_base:  # there is no share of it
        return next((one for one in candidates if one.change[1] == value), None)
    share = value / float(of_base)
    shares = [(float(one.change[1]) / TABLE_3[0].shape[what], one) for one in candidates]
    same_direction = [(abs(of - share), one) for of, one in shares if (of < 1) == (share < 1)]
    # the same value first, then the nearest
    ranked = sorted(same_direction, key=lambda pair: (pair[1].change[1] != value, pair[0]))
    return ranked[0][1] if ranked else None
