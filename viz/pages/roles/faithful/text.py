"""Sentences on measured faithfulness, computed from its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transformer import Kind
from transformer.analysis.corpus.faithfulness_report import Curves, FaithfulnessReport
from transformer.analysis.corpus.stored import Figure
from transformer.kinds import KIND_TITLES
from viz.draw.formatting import format_number, listing, per_cent
from viz.pages.roles.faithful.sentence import ErasingResult, mean, screen_name


def corpus_sentences(report: FaithfulnessReport) -> list[str]:
    """Name the lenses that find the most important words, and those no better than chance."""
    comprehensiveness = {name: result.comprehensiveness for name, result in report.lenses.items()}
    sufficiency = {name: result.sufficiency for name, result in report.lenses.items()}
    return [
        _strongest(comprehensiveness, report.random.comprehensiveness),
        _against_random(comprehensiveness, report.random, report.fractions),
        _least_needed(sufficiency, report.random.sufficiency),
    ]


def sentence_text(erased: ErasingResult) -> str:
    """Compare the computed lenses on one sentence, which has no interval."""
    falls = {name: mean(result.comprehensiveness) for name, result in erased.lenses.items()}
    best = max(falls, key=lambda name: falls[name])
    random = mean(erased.random.comprehensiveness)
    below = [screen_name(name) for name, fall in falls.items() if fall <= random]
    not_above = f" Not more than random words: {listing(below)}." if below else ""
    return (
        f"On this sentence log P of a piece falls most where the first words by "
        f"{screen_name(best)} are erased, by {format_number(falls[best])} nats (mean over the "
        f"shares); with random words by {format_number(random)}.{not_above} One sentence tells "
        f"little of a lens: see the development set."
    )


def attention_text(changes: Mapping[Kind, Figure], weights: str) -> str:
    """Describe the change of log P with uniform or permuted weights on the corpus."""
    parts = []
    for kind, figure in changes.items():
        includes_zero = figure.low <= 0 <= figure.high
        parts.append(
            f"{KIND_TITLES[kind]} by {_signed(figure.value)} ({_signed(figure.low)} to "
            f"{_signed(figure.high)}{', which holds 0' if includes_zero else ''})"
        )
    return f"With {weights} weights in all heads of one kind log P of a written piece changes: " + (
        f"{'; '.join(parts)}."
    )


def corpus_text(report: FaithfulnessReport) -> str:
    """On what all of it was measured."""
    left_out = f", {report.left_out:,} left out" if report.left_out else ""
    translations = "the reference" if report.forced else "the model's own"
    return (
        f"Measured on {report.sentences:,} sentences{left_out}, over pieces of {translations} "
        f"translations, with 95 % bootstrap intervals over the sentences."
    )


def overlap(first: Figure, second: Figure) -> bool:
    """Return whether two intervals overlap."""
    return first.low <= second.high and second.low <= first.high


def _strongest(lenses: Mapping[str, Sequence[Figure]], random: Sequence[Figure]) -> str:
    falls = {name: _mean(curve) for name, curve in lenses.items()}
    best = max(falls, key=lambda name: falls[name])
    overlapping = (
        _overlapping(best, lenses)
        or " No other lens has an interval that overlaps with its own at every share."
    )
    return (
        f"The words that come first by {screen_name(best)} are those whose removal changed most: "
        f"log P of a written piece fell by {format_number(falls[best])} nats, mean over the "
        f"shares, which has no interval, and by {format_number(_mean(random))} with random words."
        f"{overlapping}"
    )


def _against_random(
    lenses: Mapping[str, Sequence[Figure]], random: Curves, fractions: Sequence[float]
) -> str:
    chance = random.comprehensiveness
    overlapping, below = [], []
    for name, curve in lenses.items():
        pairs = [*zip(fractions, curve, chance, strict=True)]
        if shares := [
            fraction for fraction, figure, random_figure in pairs if overlap(figure, random_figure)
        ]:
            overlapping.append(_at(name, shares, len(fractions)))
        if shares := [
            fraction for fraction, figure, random_figure in pairs if figure.high < random_figure.low
        ]:
            below.append(_at(name, shares, len(fractions)))
    if not overlapping and not below:
        return "Every lens lies above random words at every share, beyond the 95 % intervals."
    parts = []
    if overlapping:
        parts.append(
            f"Not to be told from random words by the 95 % intervals: {listing(overlapping)}."
        )
    if below:
        parts.append(f"Below random words: {listing(below)}.")
    return " ".join(parts)


def _least_needed(lenses: Mapping[str, Sequence[Figure]], random: Sequence[Figure]) -> str:
    falls = {name: _mean(curve) for name, curve in lenses.items()}
    best = min(falls, key=lambda name: falls[name])
    return (
        f"Kept alone, the first words by {screen_name(best)} cost least: "
        f"{format_number(falls[best])} nats, mean over the shares, which has no interval, and "
        f"{format_number(_mean(random))} with random words.{_overlapping(best, lenses)}"
    )


def _overlapping(best: str, lenses: Mapping[str, Sequence[Figure]]) -> str:
    """Name the lenses whose intervals overlap with the best one's at every share.

    All lenses are measured on the same sentences, so a difference may be significant all the same.
    """
    names = [
        screen_name(name)
        for name, curve in lenses.items()
        if name != best and all(map(overlap, curve, lenses[best]))
    ]
    if not names:
        return ""
    return (
        f" Its 95 % interval overlaps at every share with {listing(names)}: the intervals "
        f"alone do not tell them apart."
    )


def _at(name: str, shares: Sequence[float], count: int) -> str:
    if len(shares) == count:
        return f"{screen_name(name)} at every share"
    return f"{screen_name(name)} at {listing(list(map(per_cent, shares)))}"


def _mean(curve: Sequence[Figure]) -> float:
    return mean([figure.value for figure in curve])


def _signed(value: float) -> str:
    return format_number(value, sign=True)
