"""headlight evaluate aer: which map of cross-attention aligns words as people do."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from training.data import corpus
from training.evaluation.gold_alignment import (
    Counts,
    Figures,
    GoldLine,
    as_line,
    best_map,
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
from transformer.analysis.both_directions import RULES, BothSettings
from transformer.cli import command
from transformer.files import documents

THIS_SET = "this set"  # the name of a gold set whose results are not stored


class Result(NamedTuple):
    """All figures of one gold set."""

    best: AlignmentSettings | BothSettings  # with the least AER
    gold: GoldFigures  # of the best
    values: dict[str, Any]  # for JSON
    lines: list[str]  # for the screen; layers and heads count from 1


def measure_one(
    translator: Translator, gold: Sequence[GoldLine], default: AlignmentSettings
) -> Result:
    """Measure each map of a model, the default one too, and alignments that need no model."""
    maps = measure(translator, gold)
    winner, aer = best_map(maps)
    winner_gold = GoldFigures(THIS_SET, len(gold), round(aer, 4))
    figures = {settings: counts.figures() for settings, counts in maps.items()}
    # whole layers after the heads of all layers
    rates: dict[tuple[bool, int, int, str], dict[str, list[str]]] = {}
    for map_, rate in figures.items():
        place = map_.head is None, map_.layer, map_.head or 0, map_.row
        by_lens = rates.setdefault(place, {})
        by_lens.setdefault(map_.lens, []).append(f"{rate['aer']:.1f}")
    simple, usual = baselines(gold), _place(default) | {"links": default.links}
    usual |= figures[replace(default, gold=None)]
    values = {
        "rows": [  # by the rule `each`
            _place(map_) | rate | {"mutual": figures[replace(map_, links="mutual")]}
            for map_, rate in figures.items()
            if map_.links == "each"
        ],
        "baselines": simple,
        "default": usual,
        "sentences": len(gold),
    }
    lines = [
        f"AER in percent, {len(gold):,} sentences: each target word with its strongest source word "
        f"/ these pairs where that holds both ways",
        f"{'layer':5} {'head':4} {'row':6}" + "".join(f"{n:>14}" for n in lenses.NAMES),
        *(
            f"{layer + 1:5} {'all' if whole else head + 1:>4} {row:6}"
            + "".join(f"{' / '.join(by_lens.get(name, '–')):>14}" for name in lenses.NAMES)
            for (whole, layer, head, row), by_lens in sorted(rates.items())
        ),
        "",
        *(as_line(name, rate) for name, rate in simple.items()),
        as_line("default", usual) + f"  {default.describe()}",
        f"best: {replace(winner, gold=winner_gold).describe()}",
    ]
    return Result(winner, winner_gold, values, lines)


def _place(settings: AlignmentSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("layer", "head", "row", "lens")}


MODELS = ("forward", "reverse")  # the links of each model alone, beside those of the rules


def measure_both(translator: Translator, reverse: Translator, gold: Sequence[GoldLine]) -> Result:
    """Choose a map of each model on the odd lines, once for each kind of links, and measure."""
    odd, even = gold[::2], gold[1::2]
    forward, back = measure(translator, odd), measure(reverse, [line.turned() for line in odd])
    # by model alone or rule: the maps with the least AER on the odd lines, which chose them, and
    # the figures of these lines, and of the others, which chose nothing
    measured: dict[str, tuple[BothSettings, Figures, Figures]] = {}
    for links in LINKS:
        chosen = best_map(forward, [links])[0], best_map(back, [links])[0]
        settings = BothSettings(*chosen, RULES[0])
        first, second = (_count(translator, reverse, lines, settings) for lines in (odd, even))
        by_rule = {rule: replace(settings, rule=rule) for rule in RULES}
        for name, named in (dict.fromkeys(MODELS, settings) | by_rule).items():
            figures = first[name].figures()
            if name not in measured or figures["aer"] < measured[name][1]["aer"]:
                measured[name] = named, figures, second[name].figures()
    winner, _, figures = min((measured[rule] for rule in RULES), key=lambda row: row[1]["aer"])
    winner_gold = GoldFigures(THIS_SET, len(even), round(figures["aer"], 4))
    stored = replace(winner, gold=winner_gold)
    rows = {
        name: {"settings": asdict(settings), "odd": odd_figures, "even": even_figures}
        for name, (settings, odd_figures, even_figures) in measured.items()
    }
    values = {"measured": rows, "best": asdict(stored), "odd": len(odd), "even": len(even)}
    lines = [
        f"In percent, {len(even):,} even lines; the {len(odd):,} odd ones, whose AER stands in "
        f"brackets, chose the maps",
        *(
            f"{as_line(name, figures)}  (odd {chosen_by['aer']:5.1f})  {_links(name, settings)}"
            for name, (settings, chosen_by, figures) in measured.items()
        ),
        f"best on the odd lines: {stored.describe()}",
    ]
    return Result(winner, winner_gold, values, lines)


def _links(name: str, settings: BothSettings) -> str:
    """Name the map of a model alone, and the links of each that a rule combines."""
    side = settings.reverse if name == "reverse" else settings.forward
    return f"{side.describe_map()}, {side.links}" if name in MODELS else side.links


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate aer`."""
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
    if reverse:
        both_directions.require_reverse(translator.languages, reverse.languages)
        if len(gold) < 2:
            raise corpus.CorpusError(
                "One line cannot choose and report: give at least two sentence pairs."
            )
        name, compute = both_directions.FILE, partial(measure_both, translator, reverse, gold)
    else:
        name, compute = FILE, partial(measure_one, translator, gold, read_alignment(translator))
    if options.write:
        require_place(translator.folder, None, [name])
    result = compute()
    values = result.values | {"dropped": dropped}
    print(json.dumps(values) if options.json else "\n".join(result.lines))
    if options.write:
        chosen = replace(result.best, gold=replace(result.gold, name=options.write))
        content = chosen.to_json(*([reverse] if reverse else []))
        store(translator.folder, {name: content.encode()})
        command.say(f"{translator.folder / name} says: {chosen.describe()}.")


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


def _count(
    translator: Translator,
    reverse: Translator,
    lines: Sequence[GoldLine],
    settings: BothSettings,
) -> dict[str, Counts]:
    """Count the links of each model, and of each rule, with the maps of the settings."""
    counts = {name: Counts() for name in (*MODELS, *RULES)}
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
        for rule in RULES:
            pairs = both_directions.combine(shares, settings, rule)
            counts[rule].add({pair[:2] for pair in pairs}, line.links)
    return counts
