"""headlight card: what is known of a run, as the MODEL_CARD.md of its weights."""

import argparse
import filecmp
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from pathlib import Path, PurePath
from typing import Any

from jinja2 import Environment, StrictUndefined

from training import bleu_tokens, trainer
from training.config import RunConfig
from training.data.corpus import read_lines
from training.evaluation import measurement
from training.run import journal
from training.run.journal import LOG, Record
from training.run.state import STATE, SavedRun, checkpoints, step_of
from transformer import Translator, shapes
from transformer.analysis import stored
from transformer.cli import arguments, command
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError, InputError, writing
from transformer.files import atomic, documents

MAX_EXAMPLES = 100
THIS_MODEL = "this model"
TEMPLATE = Path(__file__).with_suffix(".md.jinja")
_COMMAND = "headlight evaluate bleu --json"

Evaluation = Mapping[str, Any]
"""One measurement of a checkpoint on a text, as `headlight evaluate bleu --json` writes it."""
_NUMBERS = ("bleu", "chrf", "perplexity", "beam", "alpha", "sentences")
_TEXTS = ("src", "ref", "checkpoint", "weights", "signature")
_MEASURES = (
    ("bleu", "BLEU", ".2f"),
    ("multi30k_bleu", "lower-cased Moses BLEU", ".2f"),
    ("chrf", "chrF", ".2f"),
    ("perplexity", "perplexity", ".2f"),
)
"""Name, words and format of each measure in a card."""
_FORM = make_dataclass("_FORM", [(n, float) for n in _NUMBERS] + [(n, str) for n in _TEXTS])


def _write(options: argparse.Namespace) -> None:
    measurement.require_place(options.run, options.out)
    text = card(options)
    with writing(options.out, advice="Make room, or choose another --out."):
        atomic.write_file(options.out, text.encode())


def card(options: argparse.Namespace) -> str:
    """Compose the whole card, as Markdown."""
    evaluations = [values for path in options.evaluation for values in read_evaluations(path)]
    notes = "\n".join(read_lines(options.notes)) if options.notes else ""
    run = RunFiles.read(options.run)
    lines = read_lines(options.examples) if options.examples else []
    sentences = [line for line in lines if line.strip()]
    if options.examples and not 0 < len(sentences) <= MAX_EXAMPLES:
        raise InputError(
            f"{options.examples} has {len(sentences):,} sentences: give from 1 to {MAX_EXAMPLES}, "
            "one a line."
        )
    translator = Translator.load(run.weights())
    models = {"before": Translator.load(options.before)} if sentences and options.before else {}
    models[THIS_MODEL] = translator
    examples = [
        (cell(line), [cell(model.translate(line).text) for model in models.values()])
        for line in sentences
    ]
    environment = Environment(trim_blocks=True, undefined=StrictUndefined, autoescape=False)
    environment.filters["thousands"] = "{:,}".format
    environment.globals["shown"] = shown
    template = environment.from_string(TEMPLATE.read_text("utf-8"))
    text = template.render(
        run.values()
        | figures(evaluations, stored.checksum_of_weights(translator.folder))
        | {"languages": translator.languages, "notes": notes.strip()}
        | {"models": list(models), "examples": examples}
    )
    return text.rstrip("\n") + "\n"


@dataclass(frozen=True)
class RunFiles:
    """A run's folder as far as a card tells of it; the recipe is as it was written then."""

    folder: Path
    model: TransformerConfig
    recipe: Mapping[str, Any]
    records: Sequence[Record]

    @classmethod
    def read(cls, folder: Path) -> "RunFiles":
        """Read configuration and log."""
        if not (folder / STATE).exists():
            raise CheckpointError(f"{folder} holds no run: give the --out of headlight train.")
        config = SavedRun.read(folder / STATE).config
        model = RunConfig.from_dict({**config}).model
        run = cls(folder, model, config["training"], journal.read(folder / LOG))
        if not run.having("loss"):
            raise CheckpointError(f"{folder / LOG} has no loss yet: let the run log one first.")
        return run

    def having(self, name: str) -> list[Record]:
        """Return the records with this measurement."""
        return [record for record in self.records if name in record]

    @property
    def averages(self) -> bool:
        """True if the run is complete, and the mean of its last checkpoints has its whole log."""
        copy = self.folder / trainer.AVERAGED / LOG
        return copy.exists() and filecmp.cmp(copy, self.folder / LOG, shallow=False)

    def weights(self) -> Path:
        """Return the folder of the weights that the card describes."""
        if self.averages:
            return self.folder / trainer.AVERAGED
        if saved := checkpoints(self.folder):
            return saved[-1]
        raise CheckpointError(f"{self.folder} has no checkpoint yet: let the run save one first.")

    def values(self) -> dict[str, Any]:
        """Return what the template of a card shows of the run."""
        plan, logged = journal.plan(self.records), self.having("loss")
        seconds, tokens = float(logged[-1].get("seconds", 0)), _tokens(logged)
        machine = [str(plan[name]) for name in ("device", "precision") if name in plan]
        if "processes" in plan:
            ending = "" if plan["processes"] == 1 else "es"
            machine.insert(0, f"{plan['processes']:,} process{ending}")
        validations = self.having("validation_loss")
        return {
            "run": self,
            "model": self.model,
            "parameters": shapes.number_of_parameters(self.model),
            "steps": [*map(step_of, checkpoints(self.folder))],
            "plan": plan,
            "last": logged[-1],
            "differences": list(_differences(self)),
            "tokens": tokens,
            "seconds": seconds,
            "duration": _duration(seconds),
            "machine": machine,
            "validations": validations,
            "best": min(
                validations, key=lambda record: float(record["validation_loss"]), default={}
            ),
        }


def _differences(run: RunFiles) -> Iterator[str]:
    """Describe each setting that the paper lacks, or whose value is in no row of its Table 3."""
    settings = {**run.recipe, **journal.plan(run.records)}
    for name, default, words in (
        ("lr_factor", 1, "a factor of {:g} on the rate of equation 3"),
        ("cooldown", 0, "a rate that falls to 0 over the last {:,} steps"),
        ("r_drop", 0, "R-Drop with α = {:g} (Wu et al. 2021, arXiv:2106.14448)"),
        ("started_from", "", "first weights of the checkpoint with SHA-256 {!s:.12}…"),
        ("depth_scaled", False, "first weights of layer l divided by √l (Zhang et al. 2019)"),
        ("patience", 0, "an end after {:,} validations without a lower loss"),
    ):
        if (value := settings.get(name, default)) != default:
            yield words.format(value)
    if run.model.activation != "relu":
        yield f"{run.model.activation} in the feed-forward networks"
    if run.model.attention_bias:
        yield "biases in the projections of attention"
    if run.model.output_bias:
        yield "a bias before the softmax"


def _tokens(logged: Sequence[Record]) -> float:
    """Count the target tokens of a run: the sum of each logged speed times its seconds."""
    total = before = 0.0
    for record in logged:
        seconds = float(record.get("seconds", before))
        total += float(record.get("tokens_per_second", 0)) * (seconds - before)
        before = seconds
    return total


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def read_evaluations(path: Path) -> list[Evaluation]:
    """Read the measurements of a file, one on each line."""
    evaluations = [
        _evaluation(path, number, line)
        for number, line in enumerate(read_lines(path), 1)
        if line.strip()
    ]
    if not evaluations:
        raise CheckpointError(f"{path} is empty: give what {_COMMAND} wrote.")
    return evaluations


def figures(evaluations: Sequence[Evaluation], this_model: str) -> dict[str, Any]:
    """Return the table with a row for each text and a column for each checkpoint.

    Only measurements on the same text with the same search settings and tokens stand in one row.

    Of one checkpoint on one text the last counts; `this_model` is the checksum of its weights.
    """
    # by the checksum of the weights: one model under whatever name
    models = {str(values["weights"]): str(values["checkpoint"]) for values in evaluations}
    names = _short_names(list(models.values()))
    files = _short_names([str(values[side]) for values in evaluations for side in ("src", "ref")])
    texts: dict[str, dict[str, Evaluation]] = {}
    for values in evaluations:
        match = re.search(r"\btok:([^|]+)", str(values["signature"]))
        tokens = f", tokens {match[1]}" if match and match[1] != bleu_tokens.DEFAULT else ""
        text = (
            f"{cell(files[values['src']])} → {cell(files[values['ref']])}, {values['sentences']:,} "
            f"sentences, beam {values['beam']}, α {values['alpha']:g}{tokens}"
        )
        texts.setdefault(text, {})[str(values["weights"])] = values
    rows = [
        (text, ["<br>".join(shown(measured.get(name, {}), *_MEASURES)) or "–" for name in models])
        for text, measured in texts.items()
    ]
    signatures = {
        str(values[name])
        for values in evaluations
        for name in ("signature", "multi30k_signature")
        if name in values
    }
    return {
        "titles": [
            THIS_MODEL if weights == this_model else cell(names[folder])
            for weights, folder in models.items()
        ],
        "figures": rows,
        "signatures": sorted(signatures),
    }


def cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    plain = " ".join(text.split())
    return "".join(f"\\{c}" if c in r"\|`*_<>[]#~&$" else c for c in plain)


def _evaluation(path: Path, number: int, line: str) -> Evaluation:
    try:
        values: Evaluation = documents.parse_json(line)
        documents.from_json(_FORM, values)
    except documents.DocumentError as error:
        raise CheckpointError(
            f"{path} line {number} {error}: measure again with {_COMMAND}."
        ) from error
    return values


def shown(values: Mapping[str, Any], *rows: tuple[str, str, str]) -> list[str]:
    """Format the values that are there, each by its name, its words and its format."""
    return [f"{words} {values[name]:{shown}}" for name, words, shown in rows if name in values]


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    ends = {path: PurePath(path).parts for path in paths}
    names = {}
    for path, parts in ends.items():
        names[path] = path
        for count in (1, 2):
            if sum(other[-count:] == parts[-count:] for other in ends.values()) == 1:
                names[path] = "/".join(parts[-count:])
                break
    return names


def _parser() -> arguments.Parser:
    parser = arguments.Parser(
        prog="headlight card",
        description=__doc__,
        epilog="headlight average --card FILE puts the card beside the weights.",
    )
    add = parser.add_argument
    add("run", type=Path, help="folder of a run")
    add("--out", type=Path, required=True, help="file to write")
    measured = "output files of headlight evaluate bleu --json; each checkpoint gets a column"
    several: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    add("--evaluation", type=Path, **several, metavar="JSON", help=measured)
    examples = f"up to {MAX_EXAMPLES} sentences, one per line, to show with their translations"
    add("--examples", type=Path, help=examples)
    before = "checkpoint whose translations of the examples are beside those of the run"
    add("--before", type=Path, metavar="CHECKPOINT", help=before)
    notes = "Markdown file with your own text, placed after the run and before the figures"
    add("--notes", type=Path, help=notes)
    return parser


main = command.main(_parser, _write)
