"""What a run tells as it goes: the lines of its log, and the same to TensorBoard."""

from __future__ import annotations

from pathlib import Path

from training import runlog
from training.runlog import Record, RunLog
from training.tensorboard import TensorBoard


class Journal:
    """Writes each record to `run.jsonl` and, where it is asked for, to TensorBoard.

    Args:
        log: the file of the log.
        after_step: remove the records that an interrupted run wrote after this step.
        tensorboard: the folder of TensorBoard's files, if they are asked for.

    Raises:
        ConfigError: if TensorBoard is asked for and not installed.
        RunLogError: if the file is there and no log.
    """

    def __init__(self, log: Path, after_step: int, tensorboard: Path | None) -> None:
        self._tensorboard = TensorBoard(tensorboard, after_step) if tensorboard else None
        self._log, self._step = RunLog(log, after_step), after_step

    def write_plan(self, planned: Record) -> None:
        """Say how the run is planned, unless the log says just this already."""
        logged = runlog.plan(runlog.read(self._log.path))
        if planned != {name: value for name, value in logged.items() if name != "step"}:
            self.write(step=self._step, **planned)

    def write(self, **record: float | int | str) -> None:
        """Write one record; `step` belongs in each."""
        self._log.write(**record)
        if self._tensorboard:
            self._tensorboard.write(record)

    def close(self) -> None:
        """Write out what TensorBoard still holds."""
        if self._tensorboard:
            self._tensorboard.close()
