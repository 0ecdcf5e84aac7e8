"""python -m training.evaluate aer: which map of cross-attention aligns words as people do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from tqdm import tqdm

from training.data.corpus import CorpusError, ParallelText, read_lines
from training.evaluation.measurement import add_paths, read_held_out, require_place, store
from transformer import InputError, Translator
from transformer.analysis import alignment, lenses
from transformer.analysis.alignment_settings import (
    FILE,
    LINKS,
    LONGEST_NAME,
    AlignmentSettings,
    GoldFigures,
    Links,
    read_alignment,
)
from transformer.analysis.gold_links import GoldLinks, Link, Notation, read_links
from transformer.analysis.lenses import LensName
from transformer.cli import command
from transformer.kinds import ROWS, Row

Figures: TypeAlias = dict[str, float]
"""`aer`, `precision` and `recall`, in percent."""


def read_gold(path: Path, text: ParallelText, notation: Notation) -> tuple[list[GoldLinks], int]:
    """Read the links of each line, `1-2` if sure, `1p2` if possible, and count the dropped ones.

    Raises:
        CorpusError: naming the line and what is wrong with it.
    """
    lines = read_lines(path)
    if len(lines) != len(text):
        raise CorpusError(
            f"{path} has {len(lines):,} lines, but there are {len(text):,} sentence pairs: each "
            f"needs its line of links."
        )
    gold, dropped = [], 0
    for number, (line, *pair) in enumerate(
        zip(lines, text.source, text.target, strict=True), start=1
    ):
        if not line.strip():
            raise CorpusError(f"{path} line {number:,} is empty: remove it from all three files.")
        try:
            links, outside = read_links(line, [len(side.split()) for side in pair], notation)
        except ValueError as error:
            raise CorpusError(f"{path} line {number:,}: {error}") from error
        gold.append(links)
        dropped += outside
    return gold, dropped


@dataclass
class Counts:
    """Links shared by an alignment A and gold links, summed over sentences."""

    links: float = 0  # |A|
    sure: float = 0  # |S|
    found_sure: float = 0  # |A ∩ S|
    found_possible: float = 0  # |A ∩ P|

    def add(self, links: Collection[Link], gold: GoldLinks) -> None:
        """Count one more sentence."""
        self.links += len(links)
        self.sure += len(gold.sure)
        self.found_sure += len(gold.sure.intersection(links))
        self.found_possible += len(gold.possible.intersection(links))

    def figures(self) -> Figures:
        """Compute AER, precision and recall in percent (Och & Ney 2003).

        AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|), precision |A∩P| / |A|, recall |A∩S| / |S|.
        """
        right = _percent(self.found_sure + self.found_possible, self.links + self.sure)
        return {
            "aer": 100 - right,
            "precision": _percent(self.found_possible, self.links),
            "recall": _percent(self.found_sure, self.sure),
        }


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


class Map(NamedTuple):
    """A map of cross-attention, named as `AlignmentSettings` do; without a head, a whole layer."""

    layer: int
    head: int | None
    row: Row
    lens: LensName


Maps: TypeAlias = Mapping[Map, Mapping[Links, Counts]]
"""What was counted with each map and rule."""


@dataclass(frozen=True)
class Result:
    """All figures of one gold set."""

    maps: Maps
    baselines: dict[str, Figures]
    default: AlignmentSettings
    sentences: int
    dropped: int

    def best(self, name: str) -> AlignmentSettings:
        """Return the settings with the least AER, measured on a gold set of this name."""
        rates = {
            (map_, rule): counts.figures()["aer"]
            for map_, rules in self.maps.items()
            for rule, counts in rules.items()
        }
        map_, rule = min(rates, key=rates.__getitem__)
        gold = GoldFigures(name, self.sentences, round(rates[map_, rule], 2))
        return AlignmentSettings(*map_, rule, gold)

    def to_dict(self) -> dict[str, Any]:
        """Convert to values for JSON; the figures of a row itself are by the rule `each`."""
        return {
            "rows": [
                map_._asdict() | rules["each"].figures() | {"mutual": rules["mutual"].figures()}
                for map_, rules in self.maps.items()
            ],
            "baselines": self.baselines,
            "default": self._default_figures(),
            "sentences": self.sentences,
            "dropped": self.dropped,
        }

    def _default_figures(self) -> dict[str, Any]:
        chosen = self.default
        map_ = Map(chosen.layer, chosen.head, chosen.row, chosen.lens)
        figures = self.maps[map_][chosen.links].figures()
        return map_._asdict() | {"links": chosen.links} | figures

    def as_text(self) -> str:
        """Return a table of AER with notes; layers and heads count from 1."""
        best = self.best("this set")
        default = self._default_figures()
        return "\n".join(
            [
                f"AER in percent, {self.sentences:,} sentences: each target word with its "
                f"strongest source word / these pairs where that holds both ways",
                f"{'layer':5} {'head':4} {'row':6}" + "".join(f"{n:>14}" for n in lenses.NAMES),
                *self._lines(),
                "",
                *(_in_words(name, figures) for name, figures in self.baselines.items()),
                _in_words("default", default) + f"  {self.default.in_words()}",
                f"best: {best.in_words()}",
            ]
        )

    def _lines(self) -> list[str]:
        # whole layers after the heads of all layers
        order = sorted(
            {map_[:3] for map_ in self.maps},
            key=lambda key: (key[1] is None, key[0], key[1] or 0, key[2]),
        )
        return [
            f"{layer + 1:5} {'all' if head is None else head + 1:>4} {row:6}"
            + "".join(f"{self._cell(Map(layer, head, row, name)):>14}" for name in lenses.NAMES)
            for layer, head, row in order
        ]

    def _cell(self, map_: Map) -> str:
        if map_ not in self.maps:
            return "–"
        rules = self.maps[map_]
        return " / ".join(f"{rules[rule].figures()['aer']:.1f}" for rule in ("each", "mutual"))


def _in_words(name: str, figures: Mapping[str, Any]) -> str:
    return (
        f"{name:10}  AER {figures['aer']:5.1f}  precision {figures['precision']:5.1f}  "
        f"recall {figures['recall']:5.1f}"
    )


def add_arguments(commands: Any) -> None:
    """Register `python -m training.evaluate aer`."""
    parser = commands.add_parser("aer", help="alignment error rate of every map against gold links")
    parser.set_defaults(run=run)
    add_paths(
        parser,
        src="what is translated, one sentence a line",
        tgt="its translation, line by line",
        gold="links of each line, source-target from 0: 1-2 is sure, 1p2 is possible",
    )
    for option, text in (
        ("--turned", "links are target-source"),
        ("--from-one", "links count words from 1"),
        ("--drop-outside", "leave out links to words that are not there; they are counted"),
    ):
        parser.add_argument(option, action="store_true", help=text)
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
    """Yield each map with its links by rule, for one sentence pair."""
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
                            {
                                rule: {pair[:2] for pair in alignment.strongest(shares, rule)}
                                for rule in LINKS
                            },
                        )


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
