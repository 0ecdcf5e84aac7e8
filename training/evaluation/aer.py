"""python -m training.evaluate aer: which map of cross-attention aligns words as people do."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from training.data import corpus
from training.evaluation.gold_alignment import (
    Counts,
    Figures,
    GoldLine,
    Maps,
    best,
    in_words,
    measure,
    read_gold,
)
from training.evaluation.measurement import add_paths, read_held_out, require_place, store
from transformer import InputError, Translator
from transformer.analysis import both_directions, gold_links, lenses
from transformer.analysis.alignment_settings import (
    FILE,
    LINKS,
    AlignmentSettings,
    GoldFigures,
    read_alignment,
)
from transformer.cli import command
from transformer.files import documents


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
        settings, aer = best(self.maps)
        return replace(settings, gold=GoldFigures(name, self.sentences, round(aer, 4)))

    def content(self, name: str) -> str:
        """Return the content of the file that stores the best settings."""
        return self.best(name).to_json()

    def to_dict(self) -> dict[str, Any]:
        """Convert to values for JSON; the figures of a row itself are by the rule `each`."""
        return {
            "rows": [
                _place(settings)
                | counts.figures()
                | {"mutual": self.maps[replace(settings, links="mutual")].figures()}
                for settings, counts in self.maps.items()
                if settings.links == "each"
            ],
            "baselines": self.baselines,
            "default": self._default_figures(),
            "sentences": self.sentences,
            "dropped": self.dropped,
        }

    def _default_figures(self) -> dict[str, Any]:
        figures = self.maps[replace(self.default, gold=None)].figures()
        return _place(self.default) | {"links": self.default.links} | figures

    def as_text(self) -> str:
        """Return a table of AER with notes; layers and heads count from 1."""
        best = self.best("this set")
        default = self._default_figures()
        # whole layers after the heads of all layers
        rows = {(s.head is None, s.layer, s.head or 0, s.row) for s in self.maps}
        lines = []
        for whole, layer, head, row in sorted(rows):
            line = f"{layer + 1:5} {'all' if whole else head + 1:>4} {row:6}"
            for name in lenses.NAMES:
                maps = [
                    AlignmentSettings(layer, None if whole else head, row, name, rule)
                    for rule in LINKS
                ]
                rates = [f"{self.maps[s].figures()['aer']:.1f}" for s in maps if s in self.maps]
                line += f"{' / '.join(rates) or '–':>14}"
            lines.append(line)
        return "\n".join(
            [
                f"AER in percent, {self.sentences:,} sentences: each target word with its "
                f"strongest source word / these pairs where that holds both ways",
                f"{'layer':5} {'head':4} {'row':6}" + "".join(f"{n:>14}" for n in lenses.NAMES),
                *lines,
                "",
                *(in_words(name, figures) for name, figures in self.baselines.items()),
                in_words("default", default) + f"  {self.default.in_words()}",
                f"best: {best.in_words()}",
            ]
        )


def _place(settings: AlignmentSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("layer", "head", "row", "lens")}


MODELS = ("forward", "reverse")  # the links of each model alone, beside those of the rules


@dataclass(frozen=True)
class Measured:
    """Figures of a model alone or of a rule, by the maps with the least AER on the odd lines."""

    settings: both_directions.BothSettings
    odd: Figures  # of the lines that chose the maps
    even: Figures  # of the lines that chose nothing


@dataclass(frozen=True)
class BothResult:
    """All figures of both models on one gold set."""

    reverse: Translator
    measured: Mapping[str, Measured]
    sentences: tuple[int, int]  # odd and even lines
    dropped: int

    def best(self, name: str) -> both_directions.BothSettings:
        """Return the maps and the rule with the least AER on the odd lines of a set so named."""
        rule = min(both_directions.RULES, key=lambda rule: self.measured[rule].odd["aer"])
        gold = GoldFigures(name, self.sentences[1], round(self.measured[rule].even["aer"], 4))
        return replace(self.measured[rule].settings, gold=gold)

    def content(self, name: str) -> str:
        """Return the content of the file that stores the best settings."""
        return self.best(name).to_json(self.reverse)

    def to_dict(self) -> dict[str, Any]:
        """Convert to values for JSON."""
        odd, even = self.sentences
        return {
            "measured": {name: asdict(measured) for name, measured in self.measured.items()},
            "best": asdict(self.best("this set")),
            "odd": odd,
            "even": even,
            "dropped": self.dropped,
        }

    def as_text(self) -> str:
        """Return a line for each model alone and each rule, and one for the best."""
        odd, even = self.sentences
        return "\n".join(
            [
                f"In percent, {even:,} even lines; the {odd:,} odd ones, whose AER stands in "
                f"brackets, chose the maps",
                *(
                    f"{in_words(name, figures.even)}  (odd {figures.odd['aer']:5.1f})  "
                    f"{_links(name, figures.settings)}"
                    for name, figures in self.measured.items()
                ),
                f"best on the odd lines: {self.best('this set').in_words()}",
            ]
        )


def _links(name: str, settings: both_directions.BothSettings) -> str:
    """Name the map of a model alone, and the links of each that a rule combines."""
    side = settings.reverse if name == "reverse" else settings.forward
    return f"{side.map_in_words()}, {side.links}" if name in MODELS else side.links


def add_arguments(commands: Any) -> None:
    """Register `python -m training.evaluate aer`."""
    parser = commands.add_parser("aer", help="alignment error rate of every map against gold links")
    parser.set_defaults(run=run)
    add_paths(
        parser,
        src="source text, one sentence per line",
        tgt="translation, line by line",
        gold="links of each line, source-target from 0: 1-2 is sure, 1p2 is possible",
    )
    for option, text in (
        ("--turned", "links are target-source"),
        ("--from-one", "links count words from 1"),
        ("--drop-outside", "leave out links to words that do not exist, and count them"),
    ):
        parser.add_argument(option, action="store_true", help=text)
    best = f"store the best map as {FILE} in the checkpoint, with this name for the gold set; "
    best += f"with --reverse, store the best maps and rule as {both_directions.FILE}"
    parser.add_argument("--write", type=_name, metavar="NAME", help=best)
    second = "model of the other direction: the odd lines choose a map of each model and the rule "
    second += "that combines their links; the even lines give the results"
    parser.add_argument("--reverse", type=Path, metavar="CHECKPOINT", help=second)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Measure, print, and store the best if asked."""
    # one sentence at a time: a second thread costs more than it gains
    torch.set_num_threads(1)
    text = read_held_out(options.src, options.tgt)
    notation = gold_links.Notation(options.turned, int(options.from_one), options.drop_outside)
    gold, dropped = read_gold(options.gold, text, notation)
    if dropped:
        problem = "link names a word that is" if dropped == 1 else "links name words that are"
        command.say(f"{dropped:,} {problem} not there: dropped.")
    translator = Translator.load(options.checkpoint)
    reverse = Translator.load(options.reverse) if options.reverse else None
    name = both_directions.FILE if reverse else FILE
    if reverse:
        both_directions.require_reverse(translator.languages, reverse.languages)
        if len(gold) < 2:
            raise corpus.CorpusError(
                "One line cannot choose and report: give at least two sentence pairs."
            )
    default = None if reverse else read_alignment(translator)
    if options.write:
        require_place(translator.folder, None, [name])
    result: Result | BothResult
    if default:
        result = Result(measure(translator, gold), baselines(gold), default, len(gold), dropped)
    elif reverse:
        odd, even = gold[::2], gold[1::2]
        measured = _measure_both(translator, reverse, odd, even)
        result = BothResult(reverse, measured, (len(odd), len(even)), dropped)
    print(json.dumps(result.to_dict()) if options.json else result.as_text())
    if options.write:
        store(translator.folder, {name: result.content(options.write).encode()})
        best = result.best(options.write).in_words()
        command.say(f"{translator.folder / name} says: {best}.")


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > documents.MAX_NAME_LENGTH:
        raise argparse.ArgumentTypeError(
            f"'{text}' must have 1 to {documents.MAX_NAME_LENGTH} printable characters"
        )
    return text


def baselines(gold: Sequence[GoldLine]) -> dict[str, Figures]:
    """Measure alignments that need no model: each target word with one source word.

    `diagonal` at the same share of the sentence, `one_to_one` at the same number where there is
    one, `random` at any: the mean over all choices.
    """
    diagonal, one_to_one, random = Counts(), Counts(), Counts()
    for _, source, target, links in gold:
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


def _measure_both(
    translator: Translator, reverse: Translator, odd: Sequence[GoldLine], even: Sequence[GoldLine]
) -> dict[str, Measured]:
    """Choose the maps on the odd lines, once for each kind of links, and measure on both halves."""
    forward, back = measure(translator, odd), measure(reverse, [line.turned() for line in odd])
    measured: dict[str, Measured] = {}
    for links in LINKS:
        chosen = best(forward, [links])[0], best(back, [links])[0]
        settings = both_directions.BothSettings(*chosen, both_directions.RULES[0])
        halves = [_count(translator, reverse, lines, settings) for lines in (odd, even)]
        by_rule = {rule: replace(settings, rule=rule) for rule in both_directions.RULES}
        for name, named in (dict.fromkeys(MODELS, settings) | by_rule).items():
            figures = Measured(named, *(half[name].figures() for half in halves))
            if name not in measured or figures.odd["aer"] < measured[name].odd["aer"]:
                measured[name] = figures
    return measured


def _count(
    translator: Translator,
    reverse: Translator,
    lines: Sequence[GoldLine],
    settings: both_directions.BothSettings,
) -> dict[str, Counts]:
    """Count the links of each model, and of each rule, with the maps of the settings."""
    counts = {name: Counts() for name in (*MODELS, *both_directions.RULES)}
    for line in lines:
        try:
            trace = translator.trace(line.source, target=line.target)
            shares = both_directions.both_shares(
                translator, reverse, trace, settings, words="typed"
            )
        except InputError as error:
            raise corpus.CorpusError(f"Line {line.number:,}: {error}") from error
        for model, links in zip(
            MODELS, both_directions.links_of_models(shares, settings), strict=True
        ):
            counts[model].add(links, line.links)
        for rule in both_directions.RULES:
            pairs = both_directions.combine(shares, settings, rule)
            counts[rule].add({pair[:2] for pair in pairs}, line.links)
    return counts
