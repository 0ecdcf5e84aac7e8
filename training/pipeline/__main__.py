"""python -m training.pipeline: make the most of a machine that is at hand for a while.

Carries out the parts of a plan one after the other. Each saves as it goes and is marked when it is
done; the same command goes on where the last one was stopped, killed or cut.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from pathlib import Path

from training.config import RunConfig
from training.corpus import SOURCE, TARGET, validation_prefix
from training.data.folders import DataFolder, data_folder
from training.pipeline.parts import Evaluate, Part
from training.pipeline.place import Place
from training.pipeline.plan import load
from training.pipeline.runner import Runner
from transformer import command
from transformer.arguments import Parser, number
from transformer.atomic import new_folder
from transformer.errors import ConfigError, unwritable

LANGUAGES = (SOURCE, TARGET)
MARGIN = 30.0
"""Seconds before the end of --minutes at which what runs is stopped, to save its state."""
MARGIN_SHARE = 0.2
"""Of a short time, at most."""
SAVING_SHARE = 2 / 3
"""Of the margin, for saving; then what still runs is killed. The rest is for the imports before the
time is taken, and for the end of this process."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong, or a part failed."""
    started = time.monotonic()
    options = _parser().parse_args(arguments)
    return command.run("training.pipeline", lambda: _run(options, started))


def _run(options: argparse.Namespace, started: float) -> None:
    parts = load(options.plan)
    # absolute: the next call may name the same text otherwise
    data = tuple(DataFolder(folder.path.absolute(), folder.weight) for folder in options.data)
    held_out = tuple(path.absolute() for path in options.held_out)
    place = Place(options.plan.parent, options.out, data, held_out)
    _check(place, parts)
    seconds = math.inf if options.minutes is None else 60 * options.minutes
    margin = min(MARGIN, MARGIN_SHARE * seconds)
    stop_at = started + seconds - margin
    runner = Runner(place, parts, stop_at, stop_at + SAVING_SHARE * margin)

    def stop(*_: object) -> None:
        runner.stopping = True

    before = {name: signal.signal(name, stop) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        with new_folder(options.out):
            done = runner.run()
    except OSError as error:
        raise ConfigError(
            f"{unwritable(error, options.out)} Make room, and give the same command again."
        ) from error
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    if runner.failed:
        raise ConfigError(
            f"{len(runner.failed)} of {len(parts)} parts failed, {', '.join(runner.failed)}: mend "
            f"what their output names (a training that has begun reads PART/config.toml, a row "
            f"PART/ROW/config.toml, in {options.out}), and give the same command again."
        )
    if done < len(parts):
        print(f"Stopped: {done} of {len(parts)} parts are done. The same command goes on.")
    else:
        print(f"Done: all {len(parts)} parts are in {options.out}.")


def _check(place: Place, parts: tuple[Part, ...]) -> None:
    """Look at all that the plan will read, before any time is spent.

    Raises:
        HeadlightError: naming what is missing or wrong.
    """
    for part in parts:
        for path in part.configurations(place):
            RunConfig.load(path)
    prefixes = [folder.path / "train" for folder in place.data]
    prefixes.append(validation_prefix(place.data[0].path))
    wanted = [Path(f"{prefix}.{language}") for prefix in prefixes for language in LANGUAGES]
    if any(isinstance(part, Evaluate) for part in parts):
        wanted += [path for _, *pair in place.measured_texts() for path in pair]
    for path in wanted:
        if not path.exists():
            raise ConfigError(
                f"{path} is missing: name folders of text in --data, the first with valid.* or "
                f"val.*, too, and texts in --held-out without .{SOURCE} and .{TARGET}."
            )


def _parser() -> Parser:
    parser = Parser(prog="python -m training.pipeline", description=__doc__)
    parser.add_argument("plan", type=Path, help="a plan of training/configs/gpu")
    parser.add_argument(
        "--data",
        type=data_folder,
        required=True,
        nargs="+",
        metavar="DIR[:W]",
        help="folders with train.en and train.de; the first also holds valid.* or val.*",
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        default=[],
        nargs="+",
        metavar="PREFIX",
        help="texts to measure on: PREFIX.en and PREFIX.de; the validation text unless given",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of all parts")
    parser.add_argument(
        "--minutes",
        type=number(0.01, 100_000),
        metavar="M",
        help="stop in good order before so many minutes are over",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
