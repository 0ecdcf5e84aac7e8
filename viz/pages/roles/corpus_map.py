"""Measures of heads on a corpus: coloured cells of the map, and sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from transformer import AttentionTrace, Kind, kinds
from transformer.analysis import stored
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads import importance
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.roles import head_roles, role_scores
from transformer.corpus import corpus_roles
from transformer.corpus.head_report import HeadFigures, HeadReport
from viz.draw import labels, palette
from viz.draw.formatting import format_number, per_cent
from viz.figures import forms
from viz.figures.axes import OLIVE, PURPLE
from viz.figures.head_cells import head_cells

ROLE_TEXTS: dict[str, str] = {
    "previous": "Looks at the token before",
    "next": "Looks at the token after",
    "itself": "Looks at its own position",
    "first": "Looks at the first token",
    "end token": "Looks at the end token",
    "punctuation": "Looks at punctuation",
    "same word": "Looks at the same word again, or at the other subwords of its word",
    "one-to-one": "Pairs rows and tokens one to one, mostly in order, rightly or wrongly",
    "spread": "Looks at all tokens almost equally",
    "rare word": "Looks at the rarest word that it may see",
}
"""Sentence beginnings by role; that of "positional" depends on the offset."""

SHARES = frozenset({*ROLE_TEXTS, "confidence", "positional", "sink"})  # measures shown in per cent

UNITS: dict[str, tuple[int, str]] = {
    "entropy": (2, " bits"),
    "offset": (1, " tokens"),
    "gradient": (2, ""),
    "loss without": (3, " nats"),
    "BLEU without": (2, ""),
}
SIGNED = frozenset({"offset", "loss without", "BLEU without"})


def deciding_measure(figures: HeadFigures) -> tuple[str, stored.Figure, float]:
    """Return the measure that decides a role, its value on the corpus, and the role's threshold."""
    measures = figures.measures
    if figures.place.kind != "cross" and measures["positional"].value >= corpus_roles.POSITIONAL:
        return "positional", measures["positional"], corpus_roles.POSITIONAL
    thresholds = {name: value for name, value in corpus_roles.ROLES.items() if name in measures}
    thresholds["rare word"] = corpus_roles.RARE_WORD
    name = max(thresholds, key=lambda name: measures[name].value / thresholds[name])
    return name, measures[name], thresholds[name]


def role_text(figures: HeadFigures) -> str:
    """Describe the role of a head, with the value and the threshold of its measure."""
    measure, figure, threshold = deciding_measure(figures)
    value, bound = as_text(measure, figure.value), per_cent(threshold)
    if not figures.role:
        closest = labels.role_name(measure, figures.place.kind)
        value = f"below {bound}" if value == bound else value  # by less than a rounding
        return f"Closest role: {closest}, {value} (a head is named from {bound} up)."
    named, there = f"named from {bound} up", f"{value} of its largest weights lie there"
    if measure == "positional":
        offset = figures.offset
        direction = f"Looks {abs(offset)} tokens {'back' if offset < 0 else 'ahead'}"
        near = {-1: "previous", 0: "itself", 1: "next"}
        text = ROLE_TEXTS[near[offset]] if offset in near else direction
        return f"{text}: {there} ({named}, as in Voita et al. 2019)."
    text = ROLE_TEXTS[measure]
    if measure == "rare word":
        return f"{text}: {there} ({named})."
    if measure == "spread":
        return f"{text}: {value} (100 = perfectly even; {named})."
    text = f"{text}: {value} (0 = even attention, 100 = all weight; {named})."
    if figures.role in ("previous", "next", "itself"):
        share = as_text("positional", figures.measures["positional"].value)
        text += (
            f" {share} of its largest weights lie at offset "
            f"{format_number(figures.offset, 0, sign=True)}: Voita et al. 2019 call a head "
            f"positional from {per_cent(corpus_roles.POSITIONAL)} up."
        )
    return text


def interval_verdict(figures: HeadFigures, sentences: int) -> str:
    """Say whether the interval of the deciding measure lies on one side of the threshold."""
    measure, figure, threshold = deciding_measure(figures)
    bound = per_cent(threshold)
    if figures.role:
        verdict = f"reaches below {bound}: another sample could give another role."
        if figure.low >= threshold:
            verdict = f"lies above {bound}."
    else:
        verdict = f"reaches above {bound}: another sample could give this role."
        if figure.high < threshold:
            verdict = f"lies below {bound}."
    interval = interval_text(measure, figure)
    return f"The {per_cent(0.95)} interval over {sentences:,} sentences, {interval}, {verdict}"


def importance_text(report: HeadReport, figures: HeadFigures) -> str:
    """Describe the change of loss and BLEU without this head, and its ranks."""

    def rank(measure: str, heads: Sequence[HeadFigures]) -> str:
        value = figures.measures[measure].value
        larger = sum(other.measures[measure].value > value for other in heads)
        return f"{1 + larger} of {len(heads)}"

    def change(measure: str, per: str = "") -> str:
        figure = figures.measures[measure]
        zero = ", includes 0" if figure.low <= 0 <= figure.high else ""
        return f"{as_text(measure, figure.value)}{per} ({interval_text(measure, figure)}{zero})"

    layer = [other for other in report.heads if other.place[:2] == figures.place[:2]]
    return (
        f"Without this head: loss {change('loss without', ' per subword')}, rank "
        f"{rank('loss without', report.heads)}; BLEU {change('BLEU without')}. Rank by gradient "
        f"in its layer: {rank('gradient', layer)}."
    )


def corpus_text(report: HeadReport) -> str:
    """Describe the corpus of the report."""
    left_out = f", {report.left_out:,} left out as empty or too long" if report.left_out else ""
    return (
        f"Measured on {report.sentences:,} sentence pairs{left_out}, BLEU on greedy translations "
        f"of {report.bleu_sentences:,} of them. In brackets: 95 % bootstrap intervals over the "
        f"sentences. Loss: −log probability of a reference subword, in nats."
    )


def as_text(measure: str, value: float) -> str:
    """Format the value of a measure with its unit."""
    if measure in SHARES:
        return per_cent(value)
    digits, unit = UNITS[measure]
    return format_number(value, digits, sign=measure in SIGNED) + unit


def interval_text(measure: str, figure: stored.Figure) -> str:
    """Format the interval of a measure, such as `91 to 95 %`."""
    unit = "\u00a0%" if measure in SHARES else UNITS[measure][1]
    low, high = as_text(measure, figure.low), as_text(measure, figure.high)
    return f"{low.removesuffix(unit)} to {high}"


def with_interval(measure: str, figure: stored.Figure) -> str:
    """Format a measure with its interval, such as `93 % (91 to 95 %)`."""
    unit = UNITS[measure][1] if measure in UNITS else ""
    return f"{as_text(measure, figure.value)} ({interval_text(measure, figure).removesuffix(unit)})"


PALEST, DEEPEST, PALE = 0.05, 0.6, 0.3
"""Opacity at 0 and at the largest value, on both of which text in the page's ink is readable; and
the share of it that a closest role gets."""


@dataclass(frozen=True)
class Cell:
    """One head on the map."""

    head: Head
    # share of the deepest colour, 0 to 1, or -1 to 1 for signed measures; None where there is none
    value: float | None
    text: str  # text of the cell
    description: str  # text of the tooltip, and of the table for screen readers
    closest: bool = False  # whether the text is the closest role, whose threshold is not reached


def kind_chart(cells: Sequence[Cell], kind: Kind, opened: Head, *, signed: bool) -> alt.LayerChart:
    """Draw the heads of one kind, layers down and heads across, the open one outlined."""
    colors = (PURPLE, OLIVE) if signed else (palette.COLOR[kind], palette.COLOR[kind])
    values = [cell.value for cell in cells]
    table = pd.DataFrame(
        [(*cell.head[1:], cell.head.title, cell.text, cell.description) for cell in cells],
        columns=["layer", "head", "name", "text", "description"],
    ).assign(
        opacity=[
            0.0 if value is None else PALEST + (DEEPEST - PALEST) * min(abs(value), 1.0)
            for value in values
        ],
        color=[colors[(value or 0) < 0] for value in values],
        size=[min(12.0, 88 / max(len(cell.text), 1)) for cell in cells],  # px, as it fits
        opened=[cell.head == opened for cell in cells],
        ink=[0.6 if cell.closest else 1.0 for cell in cells],
    )
    tooltip = forms.tips(name=("head", forms.TEXT), description=("measured", forms.TEXT))
    # the labels above, and each layer
    height = 28 + 26 * int(table["layer"].nunique())
    return head_cells(table, height, tooltip, named=True, cornerRadius=2, aria=False)


def spoken_table(cells: Sequence[Cell], kind: Kind, quantity: str) -> str:
    """Format the cells as an HTML table that only screen readers get."""
    layers = sorted({cell.head.layer for cell in cells})
    heads = sorted({cell.head.head for cell in cells})
    descriptions = {cell.head[1:]: escape(cell.description) for cell in cells}
    top = "".join(f'<th scope="col">head {head + 1}</th>' for head in heads)
    rows = "".join(
        f'<tr><th scope="row">layer {layer + 1}</th>'
        + "".join(f"<td>{descriptions.get((layer, head), '')}</td>" for head in heads)
        + "</tr>"
        for layer in layers
    )
    caption = escape(f"{kinds.KIND_TITLES[kind]}: {quantity} of each head")
    return (
        f'<div class="headlight-unseen"><table><caption>{caption}</caption>'
        f"<thead><tr><td></td>{top}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


ROLE = "role"
QUANTITIES: dict[str, str] = {
    ROLE: "",
    "confidence": "confidence",
    "entropy": "entropy",
    "share at one offset": "positional",
    "sinks": "sink",
    "same word": "same word",
    "rare word": "rare word",
    "one-to-one": "one-to-one",
    "importance by gradient": "gradient",
    "loss increase": "loss without",
    "BLEU change": "BLEU without",
}
"""Name of each measure in the report, by its name on the screen and in the URL."""

_CELL_DIGITS = {"loss without": 2, "BLEU without": 1, "entropy": 1}
"""Decimals in a cell, by measure."""


class SentenceRole(NamedTuple):
    """Role of a head on one sentence, "" below every threshold, and the nearest one's score."""

    role: str
    nearest: str
    score: float


def describe_quantity(quantity: str) -> str:
    """Describe a quantity in one or two sentences."""
    measure = QUANTITIES[quantity]
    if quantity == ROLE:
        stronger = "Stronger: the role covers more of the head's attention."
        return f"{stronger} Faint: the closest role, below its threshold."
    description = (corpus_roles.MEASURES | importance.IMPORTANCE)[measure]
    colours = " Olive: below 0; purple: above." if measure in SIGNED else ""
    return f"{labels.capitalised(description)}.{colours}"


def report_cells(report: HeadReport, quantity: str) -> dict[Kind, list[Cell]]:
    """Build the cells of a report's heads, by kind."""
    measure, maximum = QUANTITIES[quantity], 1.0
    if measure and measure not in SHARES:  # of the deepest colour: one scale for all kinds
        figures = [head.measures[measure] for head in report.heads if measure in head.measures]
        maximum = max(abs(figure.value) for figure in figures) or 1.0
    cells = [
        _measure_cell(head, measure, maximum) if measure else _role_cell(head)
        for head in report.heads
    ]
    return {kind: [cell for cell in cells if cell.head.kind == kind] for kind in kinds.KINDS}


def sentence_cells(
    roles: Mapping[Kind, Mapping[Head, SentenceRole]],
) -> dict[Kind, list[Cell]]:
    """Build the cells of the roles on one sentence, by kind."""
    return {
        kind: [
            Cell(
                head,
                score if role else PALE * score,
                labels.role_name(role or nearest, kind),
                f"{nearest_role(role, nearest, kind)} {per_cent(score)} in this sentence",
                closest=not role,
            )
            for head, (role, nearest, score) in heads.items()
        ]
        for kind, heads in roles.items()
    }


def sentence_roles(trace: AttentionTrace, kind: Kind) -> dict[Head, SentenceRole]:
    """Compute the role of each head of a kind on one sentence."""
    axes = by_pieces(trace, kind)
    scores, roles = role_scores(axes, kind), head_roles(axes, kind)
    strengths = np.stack([values / corpus_roles.ROLES[name] for name, values in scores.items()])
    nearest = np.array([*scores])[strengths.argmax(0)]  # [layer, head]
    results = {}
    for layer, head in np.ndindex(nearest.shape):
        role = roles[layer][head]
        name = role or str(nearest[layer, head])
        score = float(scores[name][layer, head])
        results[Head(kind, layer, head)] = SentenceRole(role, name, score)
    return results


def _role_cell(figures: HeadFigures) -> Cell:
    measure, figure, _ = deciding_measure(figures)
    kind = figures.place.kind
    value = figure.value if figures.role else PALE * figure.value
    description = f"{nearest_role(figures.role, measure, kind)} {with_interval(measure, figure)}"
    text = labels.role_name(figures.role or measure, kind)
    return Cell(figures.place, value, text, description, closest=not figures.role)


def nearest_role(role: str, nearest: str, kind: Kind) -> str:
    """Name the role of a head; where it has none, `mixed` and the closest one."""
    return labels.role_name(role, kind) or f"mixed, closest {labels.role_name(nearest, kind)}"


def _measure_cell(figures: HeadFigures, measure: str, maximum: float) -> Cell:
    figure = figures.measures.get(measure)
    if figure is None:
        return Cell(figures.place, None, "", "not measured for this kind")
    description = with_interval(measure, figure)
    if measure in SHARES:
        text = format_number(100 * figure.value, 0)
    elif measure in _CELL_DIGITS:
        digits = _CELL_DIGITS[measure]
        text = format_number(figure.value, digits, sign=measure in SIGNED)
        text = text if round(figure.value, digits) else "0"  # `0.00` would say no more
    else:
        text = as_text(measure, figure.value).split(" ")[0]
    return Cell(figures.place, figure.value / maximum, text, description)
