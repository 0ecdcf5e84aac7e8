"""Measures of heads on a corpus: their stored report, coloured cells of the map, and sentences."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.axes import by_pieces
from transformer.analysis.corpus import head_report
from transformer.analysis.corpus.corpus_roles import MEASURES, POSITIONAL, RARE_WORD, ROLES
from transformer.analysis.corpus.head_report import HeadFigures, HeadReport
from transformer.analysis.corpus.stored import Figure
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.heads.roles import head_roles, role_scores
from transformer.kinds import KIND_TITLES, KINDS
from viz.app.cache.memory import memo, memo_per_trace, state_of_file
from viz.draw.formatting import format_number, per_cent
from viz.draw.labels import capitalised, role_name
from viz.draw.palette import COLOR
from viz.figures.axes import INK, OLIVE, PURPLE, bare_axis
from viz.figures.head_scatter import PICKED

ROLE_TEXTS: dict[str, str] = {
    "previous": "Looks at the token before",
    "next": "Looks at the token after",
    "itself": "Looks at its own position",
    "first": "Looks at the first token",
    "end token": "Looks at the end token </s>",
    "punctuation": "Looks at punctuation",
    "same word": "Looks at the same word again, or at the other subwords of its word",
    "one-to-one": "Pairs rows and tokens one to one, mostly in order, rightly or wrongly",
    "spread": "Looks at all tokens almost equally",
    "rare word": "Looks at the rarest word that it may see",
}
"""Sentence beginnings by role; that of "positional" depends on the offset."""

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
    """Measure that decides a role, its value on the corpus, and the value that gives the role."""

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
        closest = role_name(measure, figures.place.kind)
        return f"Closest role: {closest}, {value} (a head is named from {bound} up)."
    if measure == "positional":
        return (
            f"{_at_offset(figures.offset)}: {value} of its largest weights lie there (named from "
            f"{bound} up, as in Voita et al. 2019)."
        )
    if measure == "rare word":
        place = f"{value} of its largest weights lie there"
        return f"{ROLE_TEXTS[measure]}: {place} (named from {bound} up)."
    if measure == "spread":
        return f"{ROLE_TEXTS[measure]}: {value} (100 = perfectly even; named from {bound} up)."
    return (
        f"{ROLE_TEXTS[measure]}: {value} (0 = even attention, 100 = all weight; named from "
        f"{bound} up).{_not_positional(figures)}"
    )


def interval_verdict(figures: HeadFigures, sentences: int) -> str:
    """Say whether the interval of the deciding measure lies on one side of the threshold."""
    measure, figure, threshold = deciding_measure(figures)
    interval = interval_text(measure, figure)
    bounds = f"The {per_cent(0.95)} interval over {sentences:,} sentences, {interval},"
    bound = per_cent(threshold)
    if figures.role:
        if figure.low >= threshold:
            return f"{bounds} lies above {bound}."
        return f"{bounds} reaches below {bound}: another sample could give another role."
    if figure.high < threshold:
        return f"{bounds} lies below {bound}."
    return f"{bounds} reaches above {bound}: another sample could give this role."


def importance_text(report: HeadReport, figures: HeadFigures) -> str:
    """Describe the change of loss and BLEU without this head, and its ranks."""
    loss, bleu = (figures.measures[name] for name in ("loss without", "BLEU without"))
    gradient = figures.measures["gradient"]
    losses = [other.measures["loss without"].value for other in report.heads]
    rank = 1 + sum(value > loss.value for value in losses)
    gradients = [
        other.measures["gradient"].value
        for other in report.heads
        if other.place[:2] == figures.place[:2]
    ]
    rank_in_layer = 1 + sum(value > gradient.value for value in gradients)
    return (
        f"Without this head: loss {as_text('loss without', loss.value)} per subword "
        f"({interval_text('loss without', loss)}{_includes_zero(loss)}), rank {rank} of "
        f"{len(losses)}; BLEU {as_text('BLEU without', bleu.value)} "
        f"({interval_text('BLEU without', bleu)}{_includes_zero(bleu)}). Rank by gradient "
        f"in its layer: {rank_in_layer} of {len(gradients)}."
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
        f" {share} of its largest weights lie at offset "
        f"{format_number(figures.offset, 0, sign=True)}: Voita et al. 2019 call a head positional "
        f"from {per_cent(POSITIONAL)} up."
    )


def _includes_zero(figure: Figure) -> str:
    return ", includes 0" if figure.low <= 0 <= figure.high else ""


PALEST, DEEPEST = 0.05, 0.6
"""Opacity at 0 and at the largest value; text in the page's ink is readable on both."""

_ROW, _TOP = 26, 28  # CSS pixels: height of a layer, and of the labels above the first


@dataclass(frozen=True)
class Cell:
    """One head on the map."""

    head: Head
    # share of the deepest colour, 0 to 1, or -1 to 1 for signed measures; None where there is none
    value: float | None
    text: str  # text of the cell
    description: str  # text of the tooltip, and of the table for screen readers


def kind_chart(cells: Sequence[Cell], kind: Kind, opened: Head, *, signed: bool) -> alt.LayerChart:
    """Draw the heads of one kind, layers down and heads across, the open one outlined.

    A click selects `PICKED`. Values of a `signed` measure below 0 have another colour.
    """
    colors = (PURPLE, OLIVE) if signed else (COLOR[kind], COLOR[kind])
    table = pd.DataFrame(
        {
            "layer": [cell.head.layer for cell in cells],
            "head": [cell.head.head for cell in cells],
            "name": [cell.head.title for cell in cells],
            "text": [cell.text for cell in cells],
            "description": [cell.description for cell in cells],
            "opacity": [
                0.0 if value is None else PALEST + (DEEPEST - PALEST) * min(abs(value), 1.0)
                for value in (cell.value for cell in cells)
            ],
            "color": [colors[(cell.value or 0) < 0] for cell in cells],
            "size": [min(12.0, 88 / max(len(cell.text), 1)) for cell in cells],  # px, as it fits
            "opened": [cell.head == opened for cell in cells],
        }
    )
    plain: dict[str, Any] = {"labelAngle": 0, "labelPadding": 6}
    x = alt.X(
        "head:O",
        title=None,
        axis=bare_axis(orient="top", labelExpr="'H' + (datum.value + 1)", **plain),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    y = alt.Y(
        "layer:O",
        title=None,
        axis=bare_axis(labelExpr="'L' + (datum.value + 1)", **plain),
        scale=alt.Scale(paddingInner=0.08, paddingOuter=0.04),
    )
    tooltip = [alt.Tooltip("name:N", title="head"), alt.Tooltip("description:N", title="measured")]
    base = alt.Chart(table, height=_TOP + _ROW * int(table["layer"].nunique())).encode(x, y)
    color = alt.Color("color:N", scale=None)
    cell = (
        base.mark_rect(cornerRadius=2, cursor="pointer", aria=False)
        .encode(color, opacity=alt.Opacity("opacity:Q", scale=None), tooltip=tooltip)
        .add_params(alt.selection_point(name=PICKED, fields=["layer", "head"]))
    )
    text = base.mark_text(color=INK, cursor="pointer", aria=False).encode(
        text="text:N", size=alt.Size("size:Q", scale=None), tooltip=tooltip
    )
    outline = base.transform_filter("datum.opened").mark_rect(
        filled=False, stroke=INK, strokeWidth=2, cornerRadius=2, aria=False
    )
    return cell + outline + text


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
    caption = escape(f"{KIND_TITLES[kind]}: {quantity} of each head")
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


def is_signed(quantity: str) -> bool:
    """Return whether a quantity has values below 0."""
    return QUANTITIES[quantity] in SIGNED


def describe_quantity(quantity: str) -> str:
    """Describe a quantity in one or two sentences."""
    measure = QUANTITIES[quantity]
    if quantity == ROLE:
        return (
            "Darker: the role covers more of the head's attention. Empty: mixed, no role reaches "
            "its threshold."
        )
    description = (MEASURES | IMPORTANCE)[measure]
    colours = " Olive: below 0; purple: above." if is_signed(quantity) else ""
    return f"{capitalised(description)}.{colours}"


def report_cells(report: HeadReport, quantity: str) -> dict[Kind, list[Cell]]:
    """Build the cells of a report's heads, by kind."""
    if quantity == ROLE:
        cells = [_role_cell(figures) for figures in report.heads]
    else:
        measure, maximum = QUANTITIES[quantity], 1.0
        if measure not in SHARES:  # the value with the deepest colour: one scale for all kinds
            figures = [head.measures[measure] for head in report.heads if measure in head.measures]
            maximum = max(abs(figure.value) for figure in figures) or 1.0
        cells = [_measure_cell(head, measure, maximum) for head in report.heads]
    return {kind: [cell for cell in cells if cell.head.kind == kind] for kind in KINDS}


def sentence_cells(trace: AttentionTrace) -> dict[Kind, list[Cell]]:
    """Build the cells of the roles on one sentence, by kind."""
    return {
        kind: [
            Cell(
                head,
                result.score if result.role else 0.0,
                role_name(result.role, kind),
                f"{_role_name(result.role, result.nearest, kind)} {per_cent(result.score)} "
                f"in this sentence",
            )
            for head, result in sentence_roles(trace, kind).items()
        ]
        for kind in KINDS
    }


def sentence_roles(trace: AttentionTrace, kind: Kind) -> dict[Head, SentenceRole]:
    """Compute the role of each head of a kind on one sentence."""

    def compute() -> dict[Head, SentenceRole]:
        axes = by_pieces(trace, kind)
        scores = role_scores(axes, kind)
        names = [*scores]
        strengths = np.stack([values / ROLES[name] for name, values in scores.items()])
        nearest = strengths.argmax(0)  # [layer, head]
        results = {}
        for layer, roles in enumerate(head_roles(axes, kind)):
            for head, role in enumerate(roles):
                name = role or names[nearest[layer, head]]
                score = float(scores[name][layer, head])
                results[Head(kind, layer, head)] = SentenceRole(role, name, score)
        return results

    return memo_per_trace(trace, ("roles of heads", kind), compute)


def _role_cell(figures: HeadFigures) -> Cell:
    measure, figure, _ = deciding_measure(figures)
    kind = figures.place.kind
    value = figure.value if figures.role else 0.0
    description = f"{_role_name(figures.role, measure, kind)} {with_interval(measure, figure)}"
    return Cell(figures.place, value, role_name(figures.role, kind), description)


def _role_name(role: str, nearest: str, kind: Kind) -> str:
    return role_name(role, kind) or f"mixed, closest {role_name(nearest, kind)}"


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


def stored_report(translator: Translator) -> HeadReport | None:
    """Read the report of the heads, or return None where nothing was measured."""

    def read() -> HeadReport | None:
        return head_report.read(translator.folder, translator.model.config)

    state = report_state(translator)
    return read() if state is None else memo(state, read)


def report_state(translator: Translator) -> Hashable | None:
    """Return a cache key that changes with the report's file, or None without a readable file."""
    path = translator.folder / head_report.FILE
    if (state := state_of_file(path)) is None:
        return None
    return "head report", str(path), translator.checksum, state
