"""Alignments by every map of cross-attention, counted against gold links."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from tqdm import tqdm

from training.data.corpus import CorpusError, ParallelText, read_lines
from transformer import InputError, Translator, kinds
from transformer.analysis import alignment, lenses
from transformer.analysis.alignment_settings import LINKS, AlignmentSettings, Links
from transformer.analysis.gold_links import GoldLinks, Link, Notation, OutsideLinkError, read_links

Figures: TypeAlias = dict[str, float]  # `aer`, `precision` and `recall`, in percent


class GoldLine(NamedTuple):
    """A sentence pair with its gold links, and its number in the file, from 1."""

    number: int
    source: str
    target: str
    links: GoldLinks

    def turned(self) -> "GoldLine":
        """Return the pair with source and target exchanged."""
        sure, possible = (
            frozenset((target, source) for source, target in links)
            for links in (self.links.sure, self.links.possible)
        )
        return GoldLine(self.number, self.target, self.source, GoldLinks(sure, possible))


def read_gold(path: Path, text: ParallelText, notation: Notation) -> tuple[list[GoldLine], int]:
    """Read the links of each line, `1-2` if sure, `1p2` if possible, and count the dropped ones."""
    lines = read_lines(path)
    if len(lines) != len(text):
        raise CorpusError(
            f"{path} has {len(lines):,} lines, but there are {len(text):,} sentence pairs: each "
            f"needs its line of links."
        )
    gold, dropped = [], 0
    for number, (line, source, target) in enumerate(
        zip(lines, text.source, text.target, strict=True), start=1
    ):
        if not line.strip():
            raise CorpusError(f"{path} line {number:,} is empty: remove it from all three files.")
        try:
            words = len(source.split()), len(target.split())
            links, outside = read_links(line, words, notation)
        except OutsideLinkError as error:
            raise CorpusError(
                f"{path} line {number:,}: {error}, or choose among --turned, --from-one and "
                f"--drop-outside."
            ) from error
        except ValueError as error:
            raise CorpusError(f"{path} line {number:,}: {error}.") from error
        gold.append(GoldLine(number, source, target, links))
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


def as_line(name: str, figures: Mapping[str, float]) -> str:
    """Format the figures of a map as one line."""
    return (
        f"{name:12}  AER {figures['aer']:5.1f}  precision {figures['precision']:5.1f}  "
        f"recall {figures['recall']:5.1f}"
    )


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


Maps: TypeAlias = Mapping[AlignmentSettings, Counts]  # counts of each map by each rule of its pairs


def best_map(maps: Maps, choices: Collection[Links] = LINKS) -> tuple[AlignmentSettings, float]:
    """Return the map and one of these rules that have the least AER, and this AER."""
    rates = {s: counts.figures()["aer"] for s, counts in maps.items() if s.links in choices}
    return min(rates.items(), key=lambda rate: rate[1])


def measure(translator: Translator, gold: Sequence[GoldLine]) -> Maps:
    """Align every sentence by every map, and count what agrees with the gold links."""
    maps: dict[AlignmentSettings, Counts] = {}
    for number, source, target, links in tqdm(gold, "sentences", disable=None):
        try:
            for settings, pairs in _alignments(translator, source, target):
                maps.setdefault(settings, Counts()).add(pairs, links)
        except InputError as error:
            raise CorpusError(f"Line {number:,}: {error}") from error
    return maps


def _alignments(
    translator: Translator, source: str, target: str
) -> Iterator[tuple[AlignmentSettings, set[Link]]]:
    trace = translator.trace(source, target=target)
    words = alignment.word_numbers(translator, trace, "typed")
    for name in lenses.NAMES:
        for heads in (False, True) if name in lenses.HAS_HEADS else (False,):
            values = alignment.cross_values(translator, trace, name, heads=heads)
            for layer, head in np.ndindex(values.shape[0], values.shape[1]):
                for row in kinds.ROWS:
                    shares = alignment.word_shares(values[layer, head], *words, row)
                    for rule in LINKS:
                        yield (
                            AlignmentSettings(layer, head if heads else None, row, name, rule),
                            {pair[:2] for pair in alignment.strongest(shares, rule)},
                        )
