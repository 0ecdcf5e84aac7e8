"""python -m training.model_card: what is known of a run, as the MODEL_CARD.md of its weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from training.card.figures import THIS_MODEL, Evaluation, cell, figures, read_evaluations
from training.card.run import Row, RunFiles, model_rows, training_rows
from training.data.corpus import read_lines
from training.evaluation.beside import require_place
from transformer import Translator
from transformer.analysis.corpus.stored import checksum_of_weights
from transformer.cli import command
from transformer.cli.arguments import Parser
from transformer.errors import CheckpointError, InputError, unwritable
from transformer.files.atomic import write_file

MOST_EXAMPLES = 100
_PAPER = "*Attention Is All You Need* (Vaswani et al. 2017)"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    return command.run("training.model_card", lambda: _write(options))


def _write(options: argparse.Namespace) -> None:
    require_place(options.run, options.out)
    evaluations = [
        evaluation for path in options.evaluation for evaluation in read_evaluations(path)
    ]
    notes = "\n".join(read_lines(options.notes)) if options.notes else ""
    text = card(
        RunFiles.read(options.run),
        evaluations,
        examples=read_examples(options.examples) if options.examples else [],
        before=options.before,
        notes=notes,
    )
    try:
        write_file(options.out, text.encode())
    except OSError as error:
        raise CheckpointError(
            f"{unwritable(error, options.out)} Make room, or choose another --out."
        ) from error


def card(
    run: RunFiles,
    evaluations: Sequence[Evaluation] = (),
    *,
    examples: Sequence[str] = (),
    before: Path | None = None,
    notes: str = "",
) -> str:
    """Compose the whole card, as Markdown.

    Args:
        run: what it is about.
        evaluations: measurements of its weights, and of others to stand beside them.
        examples: sentences to translate.
        before: a checkpoint whose translations of them stand beside.
        notes: Markdown that stands between what the run was and how good its weights are.

    Raises:
        HeadlightError: if weights that are needed are missing or damaged.
    """
    translator = Translator.load(run.weights())
    names = translator.languages
    lines = [
        f"# Model card: a Transformer with N = {run.model.N}, {names.source} to {names.target}",
        "",
        f"An encoder-decoder Transformer as in {_PAPER}, trained with Headlight. Its tables were "
        f"written by `python -m training.model_card` from the files of the run.",
        "",
        "## The model",
        "",
        *_table(model_rows(run)),
        "",
        "## How it was trained",
        "",
        *_table(training_rows(run)),
        "",
    ]
    if notes.strip():
        lines += [notes.strip(), ""]
    if evaluations:
        table = figures(evaluations, checksum_of_weights(translator.folder))
        lines += ["## How good it is", "", *table, ""]
    if examples:
        beside = Translator.load(before) if before else None
        lines += ["## Examples", "", *_translated(examples, translator, beside), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def read_examples(path: Path) -> list[str]:
    """Read the sentences of a file, one on each line.

    Raises:
        CorpusError: if the file cannot be read.
        InputError: if there are none, or too many to stand in a card.
    """
    sentences = [line for line in read_lines(path) if line.strip()]
    if not 0 < len(sentences) <= MOST_EXAMPLES:
        raise InputError(
            f"{path} has {len(sentences):,} sentences: give from 1 to {MOST_EXAMPLES}, one a line."
        )
    return sentences


def _translated(
    sentences: Sequence[str], translator: Translator, before: Translator | None
) -> Iterator[str]:
    models = (
        {THIS_MODEL: translator} if before is None else {"before": before, THIS_MODEL: translator}
    )
    yield f"| sentence | {' | '.join(models)} |"
    yield "|---" * (1 + len(models)) + "|"
    for sentence in sentences:
        written = [cell(model.translate(sentence).text) for model in models.values()]
        yield f"| {cell(sentence)} | {' | '.join(written)} |"


def _table(rows: Iterable[Row]) -> list[str]:
    return ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)]


def _parser() -> Parser:
    parser = Parser(
        prog="python -m training.model_card",
        description=__doc__,
        epilog="training.average --card FILE puts the card beside the weights.",
    )
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument(
        "--evaluation",
        type=Path,
        action="extend",
        nargs="+",
        default=[],
        metavar="JSON",
        help="what training.evaluate bleu --json wrote; each checkpoint in them has a column",
    )
    parser.add_argument(
        "--examples",
        type=Path,
        help=f"up to {MOST_EXAMPLES} sentences, one a line, to show with their translations",
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="CHECKPOINT",
        help="a checkpoint whose translations of the examples stand beside those of the run",
    )
    parser.add_argument(
        "--notes",
        type=Path,
        help="Markdown of your own, which stands after what the run was and before the figures",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
