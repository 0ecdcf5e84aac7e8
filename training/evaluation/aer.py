"""python -m training.evaluate aer: which map of cross-attention aligns words as people do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from training.data.corpus import CorpusError, ParallelText
from training.evaluation.aer_result import Map, Maps, Result
from training.evaluation.beside import require_place, store
from training.evaluation.gold_links import Counts, Figures, GoldLinks, Link, Notation, read_gold
from training.evaluation.held_out import read_held_out
from transformer import InputError, Translator
from transformer.analysis import alignment, lenses
from transformer.analysis.alignment_settings import (
    FILE,
    LINKS,
    LONGEST_NAME,
    ROWS,
    Links,
    read_alignment,
)
from transformer.cli import command


def add_arguments(commands: Any) -> None:
    """Register `python -m training.evaluate aer`."""
    parser = commands.add_parser("aer", help="alignment error rate of every map against gold links")
    parser.set_defaults(run=run)
    parser.add_argument("--checkpoint", type=Path, help="the bundled one unless given")
    parser.add_argument(
        "--src", type=Path, required=True, help="what is translated, one sentence a line"
    )
    parser.add_argument("--tgt", type=Path, required=True, help="its translation, line by line")
    parser.add_argument(
        "--gold",
        type=Path,
        required=True,
        help="links of each line, source-target from 0: 1-2 is sure, 1p2 is possible",
    )
    parser.add_argument("--turned", action="store_true", help="links are target-source")
    parser.add_argument("--from-one", action="store_true", help="links count words from 1")
    parser.add_argument(
        "--drop-outside",
        action="store_true",
        help="leave out links to words that are not there; they are counted",
    )
    parser.add_argument(
        "--write",
        type=_name,
        metavar="NAME",
        help=f"store the best map as {FILE} in the checkpoint, measured on a gold set of this name",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: argparse.Namespace) -> None:
    """Measure, print, and store the best if asked."""
    # one sentence at a time: a second thread costs more than it gains
    torch.set_num_threads(1)
    text = read_held_out(options.src, options.tgt)
    notation = Notation(options.turned, int(options.from_one), options.drop_outside)
    gold, dropped = read_gold(options.gold, text, notation)
    if dropped:
        problem = "link names a word that is" if dropped == 1 else "links name words that are"
        command.say(f"training.evaluate: {dropped:,} {problem} not there: dropped.")
    translator = Translator.load(options.checkpoint)
    default = read_alignment(translator)
    if options.write:
        require_place(translator.folder, None, [FILE])
    result = Result(
        measure(translator, text, gold),
        baselines(text, gold),
        default,
        len(text),
        dropped,
    )
    print(json.dumps(result.to_dict()) if options.json else result.as_text())
    if options.write:
        best = result.best(options.write)
        store(translator.folder, {FILE: best.to_json().encode()})
        command.say(f"training.evaluate: {translator.folder / FILE} says: {best.in_words()}.")


def _name(text: str) -> str:
    """Parse the name of a gold set for argparse."""
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        raise argparse.ArgumentTypeError(
            f"'{text}' must have 1 to {LONGEST_NAME} printable characters"
        )
    return text


def measure(translator: Translator, text: ParallelText, gold: list[GoldLinks]) -> Maps:
    """Align every sentence by every map, and count what agrees with the gold links.

    Raises:
        CorpusError: naming a line that the model cannot read.
    """
    maps: dict[Map, dict[Links, Counts]] = {}
    lines = zip(text.source, text.target, gold, strict=True)
    bar = tqdm(lines, "sentences", total=len(text), disable=None)
    for number, (source, target, links) in enumerate(bar, start=1):
        try:
            for map_, by_rule in _alignments(translator, source, target):
                counts = maps.setdefault(map_, {rule: Counts() for rule in LINKS})
                for rule, pairs in by_rule.items():
                    counts[rule].add(pairs, links)
        except InputError as error:
            raise CorpusError(f"Line {number:,}: {error}") from error
    return maps


def _alignments(
    translator: Translator, source: str, target: str
) -> Iterator[tuple[Map, dict[Links, set[Link]]]]:
    """One sentence pair by every map."""
    trace = translator.trace(source, target=target)
    words = alignment.word_numbers(translator, trace, "typed")
    for name in lenses.NAMES:
        for heads in (False, True) if name in lenses.HAS_HEADS else (False,):
            values = alignment.cross_values(translator, trace, name, heads=heads)
            for layer, rows in enumerate(values):
                for head, head_rows in enumerate(rows):
                    for row in ROWS:
                        shares = alignment.word_shares(head_rows, *words, row)
                        yield (
                            Map(layer, head if heads else None, row, name),
                            {rule: _links(alignment.strongest(shares, rule)) for rule in LINKS},
                        )


def _links(pairs: Iterable[alignment.WordPair]) -> set[Link]:
    return {(pair.source, pair.target) for pair in pairs}


def baselines(text: ParallelText, gold: list[GoldLinks]) -> dict[str, Figures]:
    """Measure alignments that need no model: each target word with one source word.

    `diagonal` at the same share of the sentence, `one_to_one` at the same number where there is
    one, `random` at any: the mean over all choices.
    """
    diagonal, one_to_one, random = Counts(), Counts(), Counts()
    for source, target, links in zip(text.source, text.target, gold, strict=True):
        width, height = len(source.split()), len(target.split())
        diagonal.add({((2 * j + 1) * width // (2 * height), j) for j in range(height)}, links)
        one_to_one.add({(j, j) for j in range(min(width, height))}, links)
        random.links += height
        random.sure += len(links.sure)
        random.found_sure += len(links.sure) / width
        random.found_possible += len(links.possible) / width
    return {
        "diagonal": diagonal.figures(),
        "one_to_one": one_to_one.figures(),
        "random": random.figures(),
    }
