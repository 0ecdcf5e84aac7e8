"""The records of a run for TensorBoard, beside `run.jsonl`, where it is installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from training.runlog import Record
from transformer.errors import ConfigError

REQUIREMENT = "tensorboard>=2.18,<3"
_VALIDATION = "validation_"


class TensorBoard:
    """Writes each number of a record as a scalar, and the plan of the run as text.

    Of the records of an interrupted run TensorBoard shows those up to `after_step` alone.

    Args:
        folder: of the run's event files; made if it is not there.
        after_step: the step that the run goes on from; 0 for a new one.

    Raises:
        ConfigError: if TensorBoard is not installed; it says how it would be.
        OSError: if the folder cannot be written.
    """

    def __init__(self, folder: Path, after_step: int) -> None:
        try:
            package: Any = importlib.import_module("torch.utils.tensorboard")
        except ImportError as error:
            raise ConfigError(
                f"TensorBoard is not installed: leave --tensorboard out, or run pip install "
                f"'{REQUIREMENT}'."
            ) from error
        self._writer = package.SummaryWriter(str(folder), purge_step=after_step + 1)

    def write(self, record: Record) -> None:
        """Write one record of `run.jsonl`; it is on the disk when this returns."""
        step = int(record["step"])
        if "steps" in record:
            self._writer.add_text("plan", _table(record), step)
        else:
            for name, value in record.items():
                if name != "step" and not isinstance(value, str):
                    self._writer.add_scalar(_tag(name), value, step)
        # what waits in memory would be lost where the run is killed, and run.jsonl has it
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def _tag(name: str) -> str:
    """`train/loss` of `loss`, and `validation/bleu` of `validation_bleu`."""
    if name.startswith(_VALIDATION):
        return f"validation/{name.removeprefix(_VALIDATION)}"
    return f"train/{name}"


def _table(plan: Record) -> str:
    """The planned schedule as a table of Markdown, which TensorBoard draws."""
    rows = [f"| {name} | {value} |" for name, value in plan.items() if name != "step"]
    return "\n".join(["| | |", "|---|---|", *rows])
