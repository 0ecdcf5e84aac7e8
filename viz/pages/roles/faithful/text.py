"""What a measurement of faithfulness says, and what it does not: computed from its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transformer import Kind
from transformer.analysis.corpus.faithfulness_report import Curves, FaithfulnessReport
from transformer.analysis.corpus.stored import Figure
from transformer.kinds import KIND_TITLES
from viz.draw.formatting import format_number, listing, per_cent
from viz.pages.roles.faithful.sentence import ErasingResult, mean, screen_name


def corpus_said(report: FaithfulnessReport) -> list[str]:
    """Which lens picks the words whose removal matters most, and which no better than chance."""
    curves = {name: one.curves for name, one in report.lenses.items()}
    first = {name: one.comprehensiveness for name, one in curves.items()}
    others = {name: one.sufficiency for name, one in curves.items()}
    return [
        _strongest(first, report.random.comprehensiveness),
        _against_random(first, report.random, report.fractions),
        _least_needed(others, report.random.sufficiency),
    ]


def sentence_said(erased: ErasingResult) -> str:
    """The same on one sentence, which has no interval, for the lenses that were computed."""
    falls = {name: mean(one.comprehensiveness) for name, one in erased.lenses.items()}
    best = max(falls, key=lambda name: falls[name])
    random = mean(erased.random.comprehensiveness)
    below = [screen_name(name) for name, fall in falls.items() if fall <= random]
    less = f" Not more than random words: {listing(below)}." if below else ""
    return (
        f"On this sentence log P of a piece falls most where the first words by "
        f"{screen_name(best)} are erased, by {format_number(falls[best])} nats (mean over the "
        f"shares); with random words by {format_number(random)}.{less} One sentence tells little "
        f"of a lens: see the development set."
    )


def attention_said(changes: Mapping[Kind, Figure], what: str) -> str:
    """What uniform or permuted weights change on the corpus."""
    parts = []
    for kind, one in changes.items():
        within = one.low <= 0 <= one.high
        parts.append(
            f"{KIND_TITLES[kind]} by {_signed(one.value)} ({_signed(one.low)} to "
            f"{_signed(one.high)}{', which holds 0' if within else ''})"
        )
    return f"With {what} weights in all heads of one kind log P of a written piece changes: " + (
        f"{'; '.join(parts)}."
    )


def measured_on(report: FaithfulnessReport) -> str:
    """On what all of it was measured."""
    left_out = f", {report.left_out:,} left out" if report.left_out else ""
    whose = "the reference" if report.forced else "the model's own"
    return (
        f"Measured on {report.sentences:,} sentences{left_out}, over pieces of {whose} "
        f"translations, with 95 % bootstrap intervals over the sentences."
    )


def overlap(one: Figure, other: Figure) -> bool:
    """Whether two intervals have a point in common."""
    return one.low <= other.high and other.low <= one.high


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
    same, less = [], []
    for name, curve in lenses.items():
        pairs = [*zip(fractions, curve, chance, strict=True)]
        if shares := [fraction for fraction, one, other in pairs if overlap(one, other)]:
            same.append(_at(name, shares, len(fractions)))
        if shares := [fraction for fraction, one, other in pairs if one.high < other.low]:
            less.append(_at(name, shares, len(fractions)))
    if not same and not less:
        return "Every lens lies above random words at every share, beyond the 95 % intervals."
    parts = []
    if same:
        parts.append(f"Not to be told from random words by the 95 % intervals: {listing(same)}.")
    if less:
        parts.append(f"Below random words: {listing(less)}.")
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
    """Of which lenses the intervals overlap at every share: this does not say that they are alike.

    All lenses are measured on the same sentences, so that a difference may be clear all the same.
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
    return mean([one.value for one in curve])


def _signed(value: float) -> str:
    return format_number(value, sign=True)
