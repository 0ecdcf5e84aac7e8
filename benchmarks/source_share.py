"""Do the shares of the source find damage? Each signal's AUC on translations with planted damage.

Three kinds of damage stand beside the undamaged pair: the source without a third of its words, with
the whole translation (invented text); the whole source, with the translation of that shorter one
(left-out text); and the source with another sentence's translation. The words that were left out
are told from the others by how much they were used.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.machine import describe, table
from transformer import AttentionTrace, Translator
from transformer.analysis.source_share import SourceShares, by_words, source_shares
from transformer.text.words import has_letter

Floats = npt.NDArray[np.float64]

SEED = 0
RESAMPLES = 1000
REFERENCE, OWN = "reference", "own translation"
SHORT_SOURCE, SHORT_TARGET = "a third of the source gone", "a third of the translation gone"
OTHER = "another's translation"
UNDAMAGED = {SHORT_SOURCE: REFERENCE, SHORT_TARGET: OWN, OTHER: REFERENCE}
"""By the damage, the pair without it: a model finds its own translations more probable."""
SIGNALS: dict[str, Callable[[SourceShares, AttentionTrace], float]] = {
    "mean share of the source": lambda shares, _: float(shares.from_source.mean()),
    "lowest share of the source": lambda shares, _: float(shares.from_source.min()),
    "least used word": lambda shares, trace: float(shares.used[lettered(trace)].min()),
    "log p per subword": lambda _, trace: float(trace.log_probs.mean()),
}
"""Each is lower where more is wrong."""


def lettered(trace: AttentionTrace) -> npt.NDArray[np.bool_]:
    """Mark the source words that have a letter, `[word]`, `</s>` last."""
    words = {piece.word for piece in trace.source_pieces[:-1] if has_letter(piece.text)}
    count = len({piece.word for piece in trace.source_pieces})
    return np.isin(np.arange(count), list(words))


def auc(damaged: Floats, undamaged: Floats) -> float:
    """Compute the share of pairs in which the damaged one is lower; a tie counts half."""
    ranks = np.sort(undamaged)
    above = len(ranks) - np.searchsorted(ranks, damaged, side="right")
    ties = len(ranks) - np.searchsorted(ranks, damaged, side="left") - above
    return float((above + ties / 2).mean() / len(ranks))


def interval(damaged: list[Floats], undamaged: list[Floats]) -> str:
    """Format the AUC with its 95 % interval by resampling sentences, whose values stay together."""
    generator = np.random.default_rng(SEED)
    draws = generator.integers(len(damaged), size=(RESAMPLES, len(damaged)))
    values = [
        auc(*(np.concatenate([side[n] for n in draw]) for side in (damaged, undamaged)))
        for draw in draws
    ]
    low, high = np.percentile(values, [2.5, 97.5])
    whole = auc(np.concatenate(damaged), np.concatenate(undamaged))
    return f"{whole:.2f} ({low:.2f} to {high:.2f})"


def shortened(text: str, generator: np.random.Generator) -> tuple[str, list[int]]:
    """Remove a third of the words at random; return the rest and the numbers of those removed."""
    words = text.split()
    gone = generator.choice(len(words), max(1, len(words) // 3), replace=False).tolist()
    return " ".join(word for n, word in enumerate(words) if n not in gone), sorted(gone)


def traces(
    translator: Translator, lines: list[tuple[str, str]]
) -> Iterator[tuple[dict[str, AttentionTrace], list[int]]]:
    """Yield the pairs of each line, undamaged and damaged, and the words that were removed."""
    generator = np.random.default_rng(SEED)
    for n, (text, reference) in enumerate(lines):
        rest, gone = shortened(text, generator)
        own, shorter = (translator.translate(t, beam_size=1).text for t in (text, rest))
        pairs = {
            REFERENCE: (text, reference),
            OWN: (text, own),
            SHORT_SOURCE: (rest, reference),
            SHORT_TARGET: (text, shorter),
            OTHER: (text, lines[n - 1][1]),
        }
        yield {name: translator.trace(*pair) for name, pair in pairs.items()}, gone


def typed_words(trace: AttentionTrace) -> list[int]:
    """Return the number in `str.split()` of each source word, without `</s>`."""
    numbers: list[int] = []
    number, last = -1, None
    for piece in trace.source_pieces[:-1]:
        number += piece.text.startswith("▁")
        if piece.word != last:
            numbers.append(number)
        last = piece.word
    return numbers


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks source_share`."""
    parser = commands.add_parser("source_share", help="how well shares of the source find damage")
    parser.add_argument("--src", type=Path, required=True, help="sentences, one a line")
    parser.add_argument("--ref", type=Path, required=True, help="their translations by people")
    parser.add_argument("--lines", type=int, default=300, help="number of lines to take")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    sides = (path.read_text("utf-8").splitlines() for path in (options.src, options.ref))
    lines = [pair for pair in zip(*sides, strict=True) if len(pair[0].split()) > 2 and pair[1]]
    lines = lines[: options.lines]
    translator = Translator.load()
    values: dict[tuple[str, str], list[Floats]] = {}
    removed: dict[str, tuple[list[Floats], list[Floats]]] = {}
    for pairs, gone in traces(translator, lines):
        for name, trace in pairs.items():
            shares = by_words(source_shares(translator, trace), trace)
            for signal, measure in SIGNALS.items():
                values.setdefault((signal, name), []).append(np.array([measure(shares, trace)]))
            if name == SHORT_TARGET:
                was_removed = np.isin(typed_words(trace), gone)
                words = lettered(trace)[:-1]
                for statistic, used in (("largest", shares.used), ("sum", shares.source.sum(0))):
                    groups = removed.setdefault(
                        f"used, the {statistic} over written words", ([], [])
                    )
                    for group, chosen in zip(groups, (was_removed, ~was_removed), strict=True):
                        group.append(used[:-1][chosen & words])
    print(describe())
    print(f"AUC on {len(lines)} sentences, 95 % interval of {RESAMPLES} resamples")
    rows = (
        [signal, *(interval(values[signal, a], values[signal, b]) for a, b in UNDAMAGED.items())]
        for signal in SIGNALS
    )
    print(table(["signal", *UNDAMAGED], rows))
    print(
        table(
            ["left-out words", "AUC"], ([name, interval(*sides)] for name, sides in removed.items())
        )
    )
