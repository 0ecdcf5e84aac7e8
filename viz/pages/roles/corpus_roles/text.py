"""What was measured of a head, in plain words: where it looked, never why the model decided."""

from __future__ import annotations

from typing import NamedTuple

from transformer.analysis.corpus.corpus_roles import POSITIONAL, RARE_WORD, ROLES
from transformer.analysis.corpus.head_report import HeadFigures, HeadReport
from transformer.analysis.corpus.stored import Figure
from viz.draw.formatting import format_number, per_cent

LOOKS: dict[str, str] = {
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
"""By role; "positional" is said with its offset."""

SHORT: dict[str, str] = {
    "previous": "prev",
    "end token": "end",
    "punctuation": "punct",
    "same word": "same",
    "aligns": "align",
    "rare word": "rare",
    "positional": "offset",
}
"""What a small cell can hold of a name; the others are short."""

SHARES = frozenset({*LOOKS, "confidence", "positional", "sink"})
"""Measures that are written in per cent."""

UNITS: dict[str, tuple[int, str]] = {
    "entropy": (2, " bits"),
    "offset": (1, " tokens"),
    "gradient": (2, ""),
    "loss without": (3, " nats"),
    "BLEU without": (2, ""),
}
SIGNED = frozenset({"offset", "loss without", "BLEU without"})


class Naming(NamedTuple):
    """What gives a head its role, or comes nearest to it.

    Args:
        measure: its name.
        figure: on the corpus.
        least: from which the role is given.
    """

    measure: str
    figure: Figure
    least: float


def naming(figures: HeadFigures) -> Naming:
    """The measure that named a head, as `corpus_roles.corpus_role` weighs them."""
    measures = figures.measures
    if figures.place.kind != "cross" and measures["positional"].value >= POSITIONAL:
        return Naming("positional", measures["positional"], POSITIONAL)
    least = {name: value for name, value in ROLES.items() if name in measures}
    least["rare word"] = RARE_WORD
    name = max(least, key=lambda name: measures[name].value / least[name])
    return Naming(name, measures[name], least[name])


def role_said(figures: HeadFigures) -> str:
    """What the head does, with the figure and the threshold that it is measured against."""
    measure, figure, least = naming(figures)
    value, bound = as_text(measure, figure.value), per_cent(least)
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
            f"{LOOKS[measure]}: {value} of its largest weights lie there. Voita et al. 2019 "
            f"describe such heads and give no threshold; {bound} is a choice of this page."
        )
    if measure == "spread":
        return (
            f"{LOOKS[measure]}: its entropy is {value} of the largest possible one. The name is "
            f"given from {bound}, a choice of this page."
        )
    return (
        f"{LOOKS[measure]}: {value} of the way from what even attention would put there to all of "
        f"its weight. The name is given from {bound}, a choice of this page."
        f"{_not_positional(figures)}"
    )


def sureness(figures: HeadFigures, sentences: int) -> str:
    """Whether another sample of sentences would have given the same name."""
    measure, figure, least = naming(figures)
    interval = interval_text(measure, figure)
    bounds = f"The {per_cent(0.95)} interval over {sentences:,} sentences, {interval},"
    bound = per_cent(least)
    if figures.role:
        if figure.low >= least:
            return f"{bounds} lies above {bound}."
        return f"{bounds} reaches below {bound}: another sample could name the head otherwise."
    if figure.high < least:
        return f"{bounds} lies below {bound}."
    return f"{bounds} reaches above {bound}: another sample could give the head this name."


def importance_said(report: HeadReport, figures: HeadFigures) -> str:
    """What changed on the corpus when this head was taken away, and its rank."""
    loss, bleu = (figures.measures[name] for name in ("loss without", "BLEU without"))
    gradient = figures.measures["gradient"]
    every = [one.measures["loss without"].value for one in report.heads]
    rank = 1 + sum(value > loss.value for value in every)
    amount = format_number(abs(loss.value), 3)
    changes = f"{'raises' if loss.value >= 0 else 'lowers'} the loss by {amount} nats a piece"
    if float(amount) == 0:
        changes = "leaves the loss where it is"
    layer = [
        one.measures["gradient"].value for one in report.heads if one.place[:2] == figures.place[:2]
    ]
    own = 1 + sum(value > gradient.value for value in layer)
    return (
        f"Taking it away {changes} "
        f"({interval_text('loss without', loss)}{_nothing(loss)}), rank {rank} of {len(every)}. "
        f"BLEU changes by {as_text('BLEU without', bleu.value)} "
        f"({interval_text('BLEU without', bleu)}{_nothing(bleu)}). By its gradient it has rank "
        f"{own} of {len(layer)} in its layer."
    )


def measured_on(report: HeadReport) -> str:
    """On what all of it was measured."""
    left_out = f", {report.left_out:,} left out as empty or too long" if report.left_out else ""
    return (
        f"Measured on {report.sentences:,} sentence pairs{left_out}, BLEU on greedy translations "
        f"of {report.bleu_sentences:,} of them. In brackets: 95 % bootstrap intervals over the "
        f"sentences."
    )


def as_text(measure: str, value: float) -> str:
    """The value of a measure with its unit."""
    if measure in SHARES:
        return per_cent(value)
    digits, unit = UNITS[measure]
    return format_number(value, digits, sign=measure in SIGNED) + unit


def interval_text(measure: str, figure: Figure) -> str:
    """`91 to 95 %`."""
    unit = "\u00a0%" if measure in SHARES else UNITS[measure][1]
    low, high = as_text(measure, figure.low), as_text(measure, figure.high)
    return f"{low.removesuffix(unit)} to {high}"


def with_interval(measure: str, figure: Figure) -> str:
    """`93 % (91 to 95 %)`."""
    unit = UNITS[measure][1] if measure in UNITS else ""
    return f"{as_text(measure, figure.value)} ({interval_text(measure, figure).removesuffix(unit)})"


def _at_offset(offset: int) -> str:
    if offset in (-1, 0, 1):
        return LOOKS[{-1: "previous", 0: "itself", 1: "next"}[offset]]
    way = "back" if offset < 0 else "ahead"
    return f"Looks {abs(offset)} tokens {way}"


def _not_positional(figures: HeadFigures) -> str:
    if figures.role not in ("previous", "next", "itself"):
        return ""
    share = as_text("positional", figures.measures["positional"].value)
    return (
        f" At one offset ({format_number(figures.offset, 0, sign=True)}) lie {share} of its "
        f"largest weights: fewer than the {per_cent(POSITIONAL)} from which Voita et al. 2019 call "
        f"a head positional."
    )


def _nothing(figure: Figure) -> str:
    return ", which holds 0" if figure.low <= 0 <= figure.high else ""
