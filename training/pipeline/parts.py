"""The kinds of parts of a plan, and the commands that each is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.config import RunConfig
from training.corpus import TARGET
from training.data.prepared import MANIFEST
from training.pipeline.place import FIRST, RUN, TEXT, Place, split_weight
from training.state import has_state
from transformer.atomic import write_file
from transformer.errors import ConfigError

DIRECTIONS = ("forward", "reversed")


@dataclass(frozen=True)
class Job:
    """One command in a process of its own.

    Args:
        name: among the jobs of its part.
        module: whose `main(arguments)` is called: what `python -m` would run.
        arguments: of it.
        product: the file that is there when it is done.
        takes_output: whether its standard output is written to the product.
        run: the folder of a training, whose log tells how fast it is.
        config: the file of its configuration.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    product: Path
    takes_output: bool = False
    run: Path | None = None
    config: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a plan.

    Args:
        name: of its folder.
        minutes: what it may take; 0 for as long as it needs. Trainings are shortened to it, each of
            those that follow each other to its share.
        beside: jobs at one time.
    """

    name: str
    minutes: float = 0.0
    beside: int = 1

    def needs(self) -> tuple[str, ...]:
        """The parts that must be done before."""
        return ()

    def configurations(self, place: Place) -> list[Path]:  # noqa: ARG002
        """The files that it reads, for a check before anything begins."""
        return []

    def texts(self, place: Place) -> list[str]:  # noqa: ARG002
        """What it reads of --data, with weights, and of --held-out: with other texts it differs."""
        return []

    def stages(self, place: Place) -> list[list[Job]]:
        """Its commands; those of a stage may run at one time, when the stage before is done."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Benchmark(Part):
    """How fast an update is here: `python -m benchmarks training`, with these arguments."""

    arguments: tuple[str, ...] = ()

    def stages(self, place: Place) -> list[list[Job]]:
        """One; its table is in `table.md`."""
        table = place.folder(self.name) / "table.md"
        return [[Job("benchmark", "benchmarks.training", self.arguments, table, takes_output=True)]]


@dataclass(frozen=True, kw_only=True)
class _OnText(Part):
    """A part that reads text.

    Args:
        data: names of text, each perhaps with a weight.
    """

    data: tuple[str, ...] = (TEXT,)

    def needs(self) -> tuple[str, ...]:
        """The parts whose text it reads."""
        names = (split_weight(name)[0] for name in self.data)
        return tuple(name for name in names if name not in (TEXT, FIRST))

    def texts(self, place: Place) -> list[str]:
        """Those that no part makes."""
        made = self.needs()
        return place.arguments([name for name in self.data if split_weight(name)[0] not in made])


@dataclass(frozen=True, kw_only=True)
class Train(_OnText):
    """A run of training.train.

    Args:
        config: file of the configuration, beside that of the plan.
        direction: "reversed" exchanges source and target.
        seed: instead of the configuration's; none with 0.
    """

    config: str
    direction: str = "forward"
    seed: int = 0

    def configurations(self, place: Place) -> list[Path]:
        """Its own."""
        return [place.plan / self.config]

    def stages(self, place: Place) -> list[list[Job]]:
        """One, that goes on where it was."""
        data = place.arguments(self.data, swapped=self.direction == "reversed")
        folder, config = place.folder(self.name), place.plan / self.config
        return [[_training("train", config, data, folder, self.seed)]]


@dataclass(frozen=True, kw_only=True)
class Prepare(_OnText):
    """Text once for several runs: vocabulary and pieces, by training.prepare.

    Args:
        config: whose vocabulary and lengths; as of `Train`, and so is direction.
        arguments: further ones of training.prepare.
    """

    config: str
    direction: str = "forward"
    arguments: tuple[str, ...] = ()

    def configurations(self, place: Place) -> list[Path]:
        """That of the runs to come."""
        return [place.plan / self.config]

    def stages(self, place: Place) -> list[list[Job]]:
        """One, that goes on where it was; the prepared folder is the text of this part."""
        data = place.arguments(self.data, swapped=self.direction == "reversed")
        out = place.folder(self.name) / RUN
        config = str(place.plan / self.config)
        arguments = ("--config", config, "--data", *data, "--out", str(out), *self.arguments)
        return [[Job("prepare", "training.prepare", arguments, out / MANIFEST)]]


@dataclass(frozen=True, kw_only=True)
class Translate(_OnText):
    """The training text in the words of a model.

    Args:
        model: the part that trained it; the weights of the text do not matter.
        side: "source", or "target" by a model of the direction "reversed".
        beam: beam size; 1 is greedy.
    """

    model: str
    side: str = "source"
    beam: int = 4

    def needs(self) -> tuple[str, ...]:
        """The model, and the parts whose text it reads."""
        return (self.model, *super().needs())

    def stages(self, place: Place) -> list[list[Job]]:
        """One, that goes on where it was."""
        out = place.folder(self.name) / RUN
        arguments = (
            "--checkpoint", str(place.model(self.model)), "--data", *place.arguments(self.data),
            "--out", str(out), "--side", self.side, "--beam", str(self.beam),
        )  # fmt: skip
        product = out / f"train.{TARGET}"
        return [[Job("translate", "training.pipeline.translate", arguments, product)]]


@dataclass(frozen=True, kw_only=True)
class Evaluate(Part):
    """BLEU, chrF and perplexity of models on every held-out text.

    Args:
        models: the parts that trained them, forward.
        beam: beam size.
    """

    models: tuple[str, ...]
    beam: int = 4

    def needs(self) -> tuple[str, ...]:
        """The models."""
        return self.models

    def texts(self, place: Place) -> list[str]:
        """The held-out ones."""
        return [str(source) for _, source, _ in place.measured_texts()]

    def stages(self, place: Place) -> list[list[Job]]:
        """One for each model and text; its figures are in `MODEL-TEXT.json`."""
        return [[self._job(place, m, text) for m in self.models for text in place.measured_texts()]]

    def _job(self, place: Place, model: str, text: tuple[str, Path, Path]) -> Job:
        name, source, reference = text
        arguments = (
            "bleu", "--json", "--checkpoint", str(place.model(model)), "--src", str(source),
            "--ref", str(reference), "--beam", str(self.beam),
        )  # fmt: skip
        product = place.folder(self.name) / f"{model}-{name}.json"
        return Job(product.stem, "training.evaluate", arguments, product, takes_output=True)


@dataclass(frozen=True, kw_only=True)
class Rows(_OnText):
    """Rows of Table 3 as small models, in the layout of assets/rows.

    Args:
        configs: files, or patterns of files, beside that of the plan; a row has the file's name.
        beside: several, since small models leave a GPU room.
    """

    configs: tuple[str, ...]
    data: tuple[str, ...] = (FIRST,)

    def configurations(self, place: Place) -> list[Path]:
        """One for each row.

        Raises:
            ConfigError: if there is none for a pattern, or two rows would have one name.
        """
        found: dict[str, Path] = {}
        for pattern in self.configs:
            for file in place.files(pattern):
                if found.setdefault(file.stem, file).resolve() != file.resolve():
                    raise ConfigError(
                        f"Part {self.name}: {found[file.stem]} and {file} would both be the row "
                        f"{file.stem}: rename one."
                    )
        return sorted(found.values())

    def stages(self, place: Place) -> list[list[Job]]:
        """The training of each row, then what the Architecture page reads of each."""
        files, folder = self.configurations(place), place.folder(self.name)
        data = place.arguments(self.data)
        trainings = [_training(file.stem, file, data, folder / file.stem) for file in files]
        return [trainings, [_row(folder, file.stem) for file in files]]


KINDS: dict[str, type[Part]] = {
    "benchmark": Benchmark,
    "prepare": Prepare,
    "train": Train,
    "translate": Translate,
    "evaluate": Evaluate,
    "rows": Rows,
}


def written_config(config: RunConfig) -> bytes:
    """A configuration as TOML; of these values JSON is TOML, too."""
    lines = []
    for table, values in config.to_dict().items():
        lines.append(f"[{table}]")
        lines += [
            f"{name} = {json.dumps(value)}" for name, value in values.items() if value is not None
        ]
    return "".join(f"{line}\n" for line in lines).encode()


def _training(name: str, file: Path, data: Sequence[str], folder: Path, seed: int = 0) -> Job:
    """Begin a run, or go on with it; its configuration is the one that it began with."""
    run, own = folder / RUN, folder / "config.toml"
    if not own.exists():
        config = RunConfig.load(file)
        if seed:
            config = replace(config, recipe=replace(config.recipe, seed=seed))
        folder.mkdir(parents=True, exist_ok=True)
        write_file(own, written_config(config))
    arguments = ["--config", str(own), "--data", *data, "--out", str(run)]
    if has_state(run / "state"):
        arguments.append("--resume")
    product = run / "averaged" / "MANIFEST.json"
    return Job(name, "training.train", tuple(arguments), product, run=run, config=own)


def _row(folder: Path, name: str) -> Job:
    row = folder / "rows" / name
    arguments = (str(folder / name / RUN), str(row))
    return Job(f"{name}-row", "training.pipeline.row", arguments, row / "run.jsonl")
