"""python -m training.evaluate aer --reverse: links of two models, one for each direction."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from training.data.corpus import CorpusError
from training.evaluation.gold_alignment import Counts, Figures, GoldLine, best, in_words, measure
from training.evaluation.measurement import require_place, store
from transformer import InputError, Translator
from transformer.analysis.alignment_settings import LINKS, GoldFigures
from transformer.analysis.both_directions import (
    FILE,
    RULES,
    BothSettings,
    both_shares,
    combine,
    links_of_models,
    require_reverse,
)
from transformer.cli import command

MODELS = ("forward", "reverse")
"""The links of each model alone, beside those of the rules."""


@dataclass(frozen=True)
class Measured:
    """Figures of a model alone or of a rule, by the maps with the least AER on the odd lines."""

    settings: BothSettings
    odd: Figures  # of the lines that chose the maps
    even: Figures  # of the lines that chose nothing


@dataclass(frozen=True)
class BothResult:
    """All figures of both models on one gold set."""

    measured: Mapping[str, Measured]
    sentences: tuple[int, int]  # odd and even lines
    dropped: int

    def best(self, name: str) -> BothSettings:
        """Return the maps and the rule with the least AER on the odd lines of a set so named."""
        rule = min(RULES, key=lambda rule: self.measured[rule].odd["aer"])
        gold = GoldFigures(name, self.sentences[1], round(self.measured[rule].even["aer"], 4))
        return replace(self.measured[rule].settings, gold=gold)

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


def _links(name: str, settings: BothSettings) -> str:
    """Name the map of a model alone, and the links of each that a rule combines."""
    side = settings.reverse if name == "reverse" else settings.forward
    return f"{side.map_in_words()}, {side.links}" if name in MODELS else side.links


def run(
    translator: Translator, gold: Sequence[GoldLine], dropped: int, options: argparse.Namespace
) -> None:
    """Measure both models, print, and store what is best if asked."""
    reverse = Translator.load(options.reverse)
    require_reverse(translator.languages, reverse.languages)
    if len(gold) < 2:
        raise CorpusError("One line cannot choose and report: give at least two sentence pairs.")
    if options.write:
        require_place(translator.folder, None, [FILE])
    odd, even = gold[::2], gold[1::2]
    result = BothResult(_measure(translator, reverse, odd, even), (len(odd), len(even)), dropped)
    print(json.dumps(result.to_dict()) if options.json else result.as_text())
    if options.write:
        best = result.best(options.write)
        store(translator.folder, {FILE: best.to_json(reverse).encode()})
        command.say(f"training.evaluate: {translator.folder / FILE} says: {best.in_words()}.")


def _measure(
    translator: Translator, reverse: Translator, odd: Sequence[GoldLine], even: Sequence[GoldLine]
) -> dict[str, Measured]:
    """Choose the maps on the odd lines, once for each kind of links, and measure on both halves."""
    forward, back = measure(translator, odd), measure(reverse, [line.turned() for line in odd])
    measured: dict[str, Measured] = {}
    for links in LINKS:
        chosen = best(forward, [links])[0], best(back, [links])[0]
        settings = BothSettings(*chosen, RULES[0])
        halves = [_count(translator, reverse, lines, settings) for lines in (odd, even)]
        by_rule = {rule: replace(settings, rule=rule) for rule in RULES}
        for name, named in (dict.fromkeys(MODELS, settings) | by_rule).items():
            figures = Measured(named, *(half[name].figures() for half in halves))
            if name not in measured or figures.odd["aer"] < measured[name].odd["aer"]:
                measured[name] = figures
    return measured


def _count(
    translator: Translator, reverse: Translator, lines: Sequence[GoldLine], settings: BothSettings
) -> dict[str, Counts]:
    """Count the links of each model, and of each rule, with the maps of the settings."""
    counts = {name: Counts() for name in (*MODELS, *RULES)}
    for line in lines:
        try:
            trace = translator.trace(line.source, target=line.target)
            shares = both_shares(translator, reverse, trace, settings, words="typed")
        except InputError as error:
            raise CorpusError(f"Line {line.number:,}: {error}") from error
        for model, links in zip(MODELS, links_of_models(shares, settings), strict=True):
            counts[model].add(links, line.links)
        for rule in RULES:
            pairs = combine(shares, settings, rule)
            counts[rule].add({pair[:2] for pair in pairs}, line.links)
    return counts
