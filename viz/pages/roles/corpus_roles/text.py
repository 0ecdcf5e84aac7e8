"""Sentences on the measures of a head: where it looked, never why the model decided."""

from __future__ import annotations

from typing import NamedTuple

from transformer.analysis.corpus.corpus_roles import POSITIONAL, RARE_WORD, ROLES
from transformer.analysis.corpus.head_report import HeadFigures, HeadReport
from transformer.analysis.corpus.stored import Figure
from viz.draw.formatting import format_number, per_cent

ROLE_TEXTS: dict[str, str] = {
    "previous": "Looks at the token before",
    "next": "Looks at the token after",
    "itself": "Looks at its own position",
    "first": "Looks at the first token",
    "end token": "Looks at the end token </s>",
    "punctuation": "Looks at punctuation",
    "same word": "Looks at the same word again, or at the other pieces of its word",
    "aligns": "Looks at one word for each that is written, in order, as an alignment does",
    "spread": "Looks at everything nearly alike",
    "rare word": "Looks at the least frequent word that it may see",
}
"""Sentence beginnings by role; that of "positional" depends on the offset."""

SHORT: dict[str, str] = {
    "previous": "prev",
    "end token": "end",
    "punctuation": "punct",
    "same word": "same",
    "aligns": "align",
    "rare word": "rare",
    "positional": "offset",
}
"""Abbreviations of role names that are too long for a cell."""

SHARES = frozenset({*ROLE_TEXTS, "confidence", "positional", "sink"})
"""Measures shown in per cent."""

UNITS: dict[str, tuple[int, str]] = {
    "entropy": (2, " bits"),
    "offset": (1, " tokens"),
    "gradient": (2, ""),
    "loss without": (3, " nats"),
    "BLEU without": (2, ""),
}
SIGNED = frozenset({"offset", "loss without", "BLEU without"})


class DecidingMeasure(NamedTuple):
    """Measure that gives a head its role, or comes nearest to its threshold.

    Args:
        threshold: value from which the role is assigned.
        measure: name of the measure.
        figure: its value on the corpus.
    """

    measure: str
    figure: Figure
    threshold: float


def deciding_measure(figures: HeadFigures) -> DecidingMeasure:
    """Return the measure that decided the role, as `corpus_roles.corpus_role` does."""
    measures = figures.measures
    if figures.place.kind != "cross" and measures["positional"].value >= POSITIONAL:
        return DecidingMeasure("positional", measures["positional"], POSITIONAL)
    thresholds = {name: value for name, value in ROLES.items() if name in measures}
    thresholds["rare word"] = RARE_WORD
    name = max(thresholds, key=lambda name: measures[name].value / thresholds[name])
    return DecidingMeasure(name, measures[name], thresholds[name])


def role_text(figures: HeadFigures) -> str:
    """Describe the role of a head, with the value and the threshold of its measure."""
    measure, figure, threshold = deciding_measure(figures)
    value, bound = as_text(measure, figure.value), per_cent(threshold)
    if not figures.role:
        return (
            f"Nothing dominates on this corpus: the nearest is “{measure}” with {value}, and the "
            f"page gives a name from {bound}."
        )
    if measure == "positional":
        return (
            f"{_at_offset(figures.offset)}: {value} of its largest weights lie there. Voita et al. "
            f"2019 call a head positional from {bound}."
        )
    if measure == "rare word":
        return (
            f"{ROLE_TEXTS[measure]}: {value} of its largest weights lie there. Voita et al. 2019 "
            f"describe such heads and give no threshold; {bound} is a choice of this page."
        )
    if measure == "spread":
        return (
            f"{ROLE_TEXTS[measure]}: its entropy is {value} of the largest possible one. The name "
            f"is given from {bound}, a choice of this page."
        )
    return (
        f"{ROLE_TEXTS[measure]}: {value} of the way from what even attention would put there to "
        f"all of its weight. The name is given from {bound}, a choice of this page."
        f"{_not_positional(figures)}"
    )


def interval_verdict(figures: HeadFigures, sentences: int) -> str:
    """Say whether the interval of the deciding measure lies on one side of the threshold.

    Args:
        figures: the measures of the head.
        sentences: number of sentences of the corpus.
    """
    measure, figure, threshold = deciding_measure(figures)
    interval = interval_text(measure, figure)
    bounds = f"The {per_cent(0.95)} interval over {sentences:,} sentences, {interval},"
    bound = per_cent(threshold)
    if figures.role:
        if figure.low >= threshold:
            return f"{bounds} lies above {bound}."
        return f"{bounds} reaches below {bound}: another sample could name the head otherwise."
    if figure.high < threshold:
        return f"{bounds} lies below {bound}."
    return f"{bounds} reaches above {bound}: another sample could give the head this name."


def importance_text(report: HeadReport, figures: HeadFigures) -> str:
    """Describe the change of loss and BLEU without this head, and its ranks."""
    loss, bleu = (figures.measures[name] for name in ("loss without", "BLEU without"))
    gradient = figures.measures["gradient"]
    losses = [other.measures["loss without"].value for other in report.heads]
    rank = 1 + sum(value > loss.value for value in losses)
    amount = format_number(abs(loss.value), 3)
    changes = f"{'raises' if loss.value >= 0 else 'lowers'} the loss by {amount} nats a piece"
    if float(amount) == 0:
        changes = "leaves the loss where it is"
    gradients = [
        other.measures["gradient"].value
        for other in report.heads
        if other.place[:2] == figures.place[:2]
    ]
    rank_in_layer = 1 + sum(value > gradient.value for value in gradients)
    return (
        f"Taking it away {changes} "
        f"({interval_text('loss without', loss)}{_includes_zero(loss)}), rank {rank} of "
        f"{len(losses)}. BLEU changes by {as_text('BLEU without', bleu.value)} "
        f"({interval_text('BLEU without', bleu)}{_includes_zero(bleu)}). By its gradient it has "
        f"rank {rank_in_layer} of {len(gradients)} in its layer."
    )


def corpus_text(report: HeadReport) -> str:
    """Describe the corpus of the report."""
    left_out = f", {report.left_out:,} left out as empty or too long" if report.left_out else ""
    return (
        f"Measured on {report.sentences:,} sentence pairs{left_out}, BLEU on greedy translations "
        f"of {report.bleu_sentences:,} of them. In brackets: 95 % bootstrap intervals over the "
        f"sentences."
    )


def as_text(measure: str, value: float) -> str:
    """Format the value of a measure with its unit."""
    if measure in SHARES:
        return per_cent(value)
    digits, unit = UNITS[measure]
    return format_number(value, digits, sign=measure in SIGNED) + unit


def interval_text(measure: str, figure: Figure) -> str:
    """Format the interval of a measure, such as `91 to 95 %`."""
    unit = "\u00a0%" if measure in SHARES else UNITS[measure][1]
    low, high = as_text(measure, figure.low), as_text(measure, figure.high)
    return f"{low.removesuffix(unit)} to {high}"


def with_interval(measure: str, figure: Figure) -> str:
    """Format a measure with its interval, such as `93 % (91 to 95 %)`."""
    unit = UNITS[measure][1] if measure in UNITS else ""
    return f"{as_text(measure, figure.value)} ({interval_text(measure, figure).removesuffix(unit)})"


def _at_offset(offset: int) -> str:
    if offset in (-1, 0, 1):
        return ROLE_TEXTS[{-1: "previous", 0: "itself", 1: "next"}[offset]]
    direction = "back" if offset < 0 else "ahead"
    return f"Looks {abs(offset)} tokens {direction}"


def _not_positional(figures: HeadFigures) -> str:
    if figures.role not in ("previous", "next", "itself"):
        return ""
    share = as_text("positional", figures.measures["positional"].value)
    return (
        f" At one offset ({format_number(figures.offset, 0, sign=True)}) lie {share} of its "
        f"largest weights: fewer than the {per_cent(POSITIONAL)} from which Voita et al. 2019 call "
        f"a head positional."
    )


def _includes_zero(figure: Figure) -> str:
    return ", which holds 0" if figure.low <= 0 <= figure.high else ""
