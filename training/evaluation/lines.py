"""headlight evaluate lines: measure every head on lines, for the page Corpus."""

import argparse
from pathlib import Path
from typing import Any

from tqdm import tqdm

from training.data import corpus
from training.evaluation.measurement import OneReference, add_paths, load_translator, store_or_write
from transformer.cli import command
from transformer.corpus import measured, measuring, result_file

SHOWN_HEADS = 10


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate lines`."""
    parser = commands.add_parser("lines", help="measure heads on your lines, for the page Corpus")
    parser.set_defaults(run=run)
    add_paths(parser, src="sentences, one per line")
    parser.add_argument("--tgt", type=Path, help="translations to force; default: the model's own")
    parser.add_argument(
        "--ref", type=Path, action=OneReference, help="reference translations, for BLEU and chrF2"
    )
    parser.add_argument("--gold", type=Path, help="hand-drawn word links, for the alignment error")
    parser.add_argument(
        "--no-costs", action="store_true", help="leave out the loss without each head: much faster"
    )
    parser.add_argument("--json", action="store_true", help="print the table of heads as JSON")
    parser.add_argument("--out", type=Path, help="file to write; default: beside the checkpoint")


def run(options: argparse.Namespace) -> None:
    """Measure, store and print."""
    translator = load_translator(options, result_file.FILE)
    targets, references, gold = (
        None if path is None else corpus.read_lines(path)
        for path in (options.tgt, options.ref, options.gold)
    )
    with tqdm(total=100, unit="%", disable=None, bar_format="{l_bar}{bar}| {remaining}") as bar:

        def progress(done: int, total: int, now: str = "", /) -> None:
            bar.set_description(now)
            bar.update(100 * done / total - bar.n)

        lines = measuring.measure_lines(
            translator,
            corpus.read_lines(options.src),
            costs=not options.no_costs,
            progress=progress,
            targets=targets,
            references=references,
            gold=gold,
        )
    for number, reason in lines.left_out:
        command.say(f"line {number:,} is left out: {reason}")
    for number, reason in lines.undefined:
        command.say(f"line {number:,}: {reason}")
    store_or_write(translator.folder, options.out, {result_file.FILE: result_file.to_bytes(lines)})
    table = measured.heads_table(lines, measured.head_means(lines))
    if options.json:
        print(table.to_json(orient="records"))
        return
    order = "confidence" if options.no_costs else "loss without"
    shown = table.sort_values(order, ascending=False).head(SHOWN_HEADS)
    columns = ["kind", "layer", "head", "role", order, f"{order} low", f"{order} high"]
    wordless = len({number for number, _ in lines.undefined})
    print(f"{len(lines):,} lines, {len(lines.left_out):,} left out, {wordless:,} without a word")
    print(shown[columns].to_string(index=False, float_format="{:.3f}".format))
