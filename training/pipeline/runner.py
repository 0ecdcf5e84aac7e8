"""Carry a plan out: part after part, within a time, and again from where it was stopped."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from training import runlog
from training.pipeline import job_process
from training.pipeline.fitting import fitting_steps, shorten
from training.pipeline.parts import Job, Part
from training.pipeline.place import Place
from training.runlog import Record, RunLogError
from transformer.atomic import write_file
from transformer.errors import ConfigError, HeadlightError
from transformer.reading import MIB, read_bytes

DONE, OUTPUT, FITTED = "done.json", "output.txt", "fitted"
LOOK_EVERY = 0.5
"""Seconds between two looks at the time and at what the jobs have logged."""
GRACE = 60.0
"""Seconds that a job has to save what it has when it is stopped, unless the time ends before."""


@dataclass
class Running:
    """A job that runs."""

    job: Job
    process: BaseProcess
    seconds: float  # its share of the part's time
    fits: bool  # its steps were fitted into them, or need not be
    logged: int  # the last step in its log when it began
    began: float = field(default_factory=time.monotonic)
    stopped_at: float | None = None


class Runner:
    """Carries out the parts of a plan that are not done.

    Args:
        place: where they lie.
        parts: of the plan.
        stop_at: moment of `time.monotonic` at which all that runs is stopped; none unless given.
        kill_at: that at which it is killed, if it still runs; none unless given.

    Attributes:
        stopping: set to stop at the next look.
        failed: the parts that could not be carried out, and those that need them.
    """

    def __init__(
        self,
        place: Place,
        parts: Sequence[Part],
        stop_at: float = math.inf,
        kill_at: float = math.inf,
    ) -> None:
        self.place, self.parts, self.stop_at, self.kill_at = place, parts, stop_at, kill_at
        self.stopping = False
        self.failed: list[str] = []

    def run(self) -> int:
        """Carry out one part after the other; one that fails does not stop those that do without.

        Returns:
            How many parts are done.

        Raises:
            ConfigError: if a part was done otherwise than the plan says now.
            OSError: if the folder cannot be written.
        """
        for part in self.parts:
            self.is_done(part)  # before anything begins
        done = 0
        for number, part in enumerate(self.parts, start=1):
            if self.is_done(part):
                done += 1
                continue
            if lacking := [name for name in part.needs() if name in self.failed]:
                self._fail(part, f"it needs {lacking[0]}")
                continue
            if self._over():
                break
            print(f"{part.name}: begins, part {number} of {len(self.parts)}", flush=True)
            done += self._carry_out(part)
        return done

    def is_done(self, part: Part) -> bool:
        """Whether a part is done.

        Raises:
            ConfigError: if it was done otherwise than the plan says now.
        """
        try:
            there = json.loads(read_bytes(self.place.folder(part.name) / DONE, MIB))
        except FileNotFoundError:
            return False
        except ValueError:
            there = {}
        if there != self._description(part):
            raise ConfigError(
                f"{self.place.folder(part.name)} was done with another plan, or with other --data "
                f"or --held-out: choose another --out, or delete that folder."
            )
        return True

    def _carry_out(self, part: Part) -> bool:
        started = time.monotonic()
        try:
            if not all(self._carry_out_stage(part, n) for n in range(self._stages(part))):
                return False
        except HeadlightError as error:
            self._fail(part, str(error))
            return False
        done = json.dumps(self._description(part), indent=2)
        write_file(self.place.folder(part.name) / DONE, done.encode())
        minutes = (time.monotonic() - started) / 60
        print(f"{part.name}: done, {minutes:.1f} min in this call", flush=True)
        return True

    def _description(self, part: Part) -> Any:
        """What a part is made from, as a file gives it back; how fast it is made is left out."""
        fields = dataclasses.asdict(part)
        del fields["minutes"], fields["beside"]
        # with lists for tuples
        return json.loads(json.dumps({"part": fields, "texts": self._texts(part)}))

    def _texts(self, part: Part) -> list[str]:
        """What it reads of --data and --held-out, itself and through the parts that it needs."""
        needed = [other for other in self.parts if other.name in part.needs()]
        return [*part.texts(self.place), *(text for one in needed for text in self._texts(one))]

    def _carry_out_stage(self, part: Part, stage: int) -> bool:
        """Run the jobs of a stage that are not done, some at one time."""
        jobs = part.stages(self.place)[stage]
        waiting = [job.name for job in jobs if not job.product.exists()]
        running: list[Running] = []
        while running or (waiting and not self._over()):
            while waiting and len(running) < part.beside and not self._over():
                running.append(self._start(part, stage, waiting.pop(0)))
            connection.wait([one.process.sentinel for one in running], LOOK_EVERY)
            for one in running:
                self._look_at(part, one)
            for one in [one for one in running if not one.process.is_alive()]:
                running.remove(one)
                one.process.join()
                if one.stopped_at is not None:
                    waiting.insert(0, one.job.name)  # to go on, now or in the next call
                elif not one.job.product.exists():
                    self._fail(part, _last_line(self._output(part)))
        return all(job.product.exists() for job in jobs)

    def _start(self, part: Part, stage: int, name: str) -> Running:
        # asked for anew: a run that has begun is resumed
        jobs = part.stages(self.place)[stage]
        job = next(job for job in jobs if job.name == name)
        has_time = bool(part.minutes and job.run and job.config)
        fits = not has_time or (job.config is not None and _fitted(job.config).exists())
        seconds = 60 * part.minutes / math.ceil(len(jobs) / part.beside)  # they follow each other
        logged = max((int(r["step"]) for r in _records(job)), default=0)
        process = job_process.start(job, self._output(part))
        return Running(job, process, seconds, fits, logged)

    def _look_at(self, part: Part, one: Running) -> None:
        """Stop a job when the time is over, and shorten a run that would take too long."""
        if one.stopped_at is not None:
            if time.monotonic() > min(one.stopped_at + GRACE, self.kill_at):
                one.process.kill()
        elif self._over():
            _stop(one)
        elif not one.fits and one.job.config:
            records, passed = _records(one.job), time.monotonic() - one.began
            steps = fitting_steps(records, one.seconds, passed, one.logged)
            if steps is not None:
                one.fits = True
                write_file(_fitted(one.job.config), f"{steps}\n".encode())
                if shorten(one.job.config, steps):
                    print(f"{part.name}: shortened to {steps:,} steps", flush=True)
                    _stop(one)

    def _stages(self, part: Part) -> int:
        return len(part.stages(self.place))

    def _over(self) -> bool:
        return self.stopping or time.monotonic() >= self.stop_at

    def _fail(self, part: Part, reason: str) -> None:
        if part.name not in self.failed:
            self.failed.append(part.name)
        print(f"{part.name}: failed: {reason}", flush=True)

    def _output(self, part: Part) -> Path:
        return self.place.folder(part.name) / OUTPUT


def _stop(one: Running) -> None:
    one.process.terminate()  # a training saves its state first
    one.stopped_at = time.monotonic()


def _records(job: Job) -> list[Record]:
    """Of the log of a training; none before it has one, and while that is being written."""
    try:
        return runlog.read(job.run / "run.jsonl") if job.run else []
    except RunLogError:
        return []


def _fitted(config: Path) -> Path:
    """The file that says that the steps of a run were fitted into its time."""
    return config.with_name(FITTED)


def _last_line(path: Path) -> str:
    """The last line of an output, and where the rest of it is."""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
    return f"{last} (all of it: {path})"
