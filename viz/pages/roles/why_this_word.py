"""The view “Why this word?”: evidence for two alternative pieces, and a check by erasing."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translator, kinds
from transformer.analysis.heads.head import Head
from transformer.analysis.logits.contrast import Contrast, contrast, erase
from transformer.analysis.logits.direct_logits import DecoderKind, direct_logits
from transformer.arrays import AnyFloats, Bools
from transformer.circuits.edges import patch_edges, patch_strongest
from viz.app.chrome import charts, explanations, fields, head_picker, problems
from viz.app.links import navigation
from viz.app.sentence import worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Job, cached, compute, compute_in_job, view
from viz.draw.formatting import SEEN, format_number, format_probability
from viz.draw.labels import SCREEN_NAMES, display_tokens, quoted
from viz.figures import axes, forms
from viz.findings.passes import strongest_edge
from viz.findings.weights import Finding
from viz.pages.roles import edges, head_charts, pieces
from viz.pages.roles.removal_controls import open_removal

ERASE, MEASURE = "erase", "why_heads"
"""Names in the URL: whether the pieces of a long sentence are erased; the measure of the heads."""
MAX_ERASED_AT_ONCE, MAX_ERASED = 32, 128
"""Subwords up to which the check runs automatically, since more take seconds; and up to which it is
offered, since its time grows with the cube of the length."""
NOTABLE = 0.1  # share of the largest bar from which two bars can disagree


def find_edge(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Find the strongest edge at the step and for the alternative that the view opens on."""
    choices = pieces.step_choices(translator, trace)
    step = pieces.least_certain_step(choices)
    texts = [choice.piece for choice in choices[step][:2]]
    (other,) = translator.target_tokenizer.ids_of(texts[1:])
    patched = cached(patch_edges, translator.model, trace, step, other)
    return strongest_edge(patched, step, [pieces.shown_piece(text) for text in texts])


@view(
    "Why this word",
    needs="trace",
    question="What speaks for this word rather than another?",
    find=find_edge,
)
def why_this_word(bar: BarTranslation) -> None:
    """Draw a written piece, an alternative, and what favours either."""
    translator, trace = bar.translator, bar.trace
    choices = pieces.step_choices(translator, trace)
    # another step has other alternatives
    clear = partial(st.session_state.update, {pieces.OTHER: ""})
    step, step_problem = pieces.pick_written(
        trace, pieces.least_certain_step(choices), on_pick=clear
    )
    written = trace.target_pieces[step]
    other, message = pieces.pick_other(translator, written.id, choices[step][1:])
    for sentence in filter(None, (step_problem, message)):
        st.text(sentence)
    names = (
        pieces.shown_piece(written.text),
        pieces.shown_piece(pieces.piece_text(translator, other)),
    )
    evidence = compute("evidence", contrast, translator.model, trace, step, other)
    first, second = map(quoted, names)
    probability, log_odds = choices[step][0].probability, evidence.log_odds
    st.text(
        f"Probability {format_probability(probability)} for {first}, "
        f"{format_probability(probability * math.exp(-log_odds))} for {second}. Log-odds, the "
        f"logarithm of their ratio: {format_number(log_odds, sign=True)} nats."
    )
    left, right = st.columns(2, gap="large")
    with right:
        with fields.controls_row("why-controls"):
            measure: Measure = fields.choose_one("Heads by", get_args(Measure), MEASURE)
            with st.popover("Choose a head", key="why-head"):
                notable = worth_seeing.default_choices("roles", translator, trace)
                head = head_picker.pick_head(translator, notable)
        show_heads(evidence, head, measure, *names)
    with left:
        _sources(translator, trace, step, other, evidence, f"{first}, below for {second}.")
        show_open_head(trace, step, evidence, head, f"{first}, below for {second}.")
    edges.show(translator, trace, step, other, head, names)
    explanations.explain(
        "Gradient × value estimates what the log-odds would lose if a head took nothing from a "
        "subword (after Yin and Neubig 2022); a bar sums it over the heads of cross-attention. "
        "Direct logits are what a head itself adds to the difference of the two scores, with the "
        "norms fixed. Erasing hides a subword and runs the model again. This shows what changed, "
        "not why the model decided; other subwords can stand in for the erased one.\n\n"
        "An edge is the part of a head's input that one earlier head has written, carried through "
        "the norms between them as they are on this sentence. Patching takes it out of this input "
        "alone and runs the rest of the model: that is exact, for this one choice. Which edges to "
        "patch, an estimate of all of them says: the change of the reader's output times the "
        "gradient there (Syed et al. 2023, Kramár et al. 2024). It can miss an edge. "
        "That the strongest edges exceed random ones holds of an untrained model, too."
        + explanations.sources("§3.1", contrast, direct_logits, erase, patch_strongest)
    )


def disagree(first: AnyFloats, check: AnyFloats) -> Bools:
    """Return where both bars are notable and have different signs, `[place]`."""
    notable = [np.abs(values) >= NOTABLE * np.abs(values).max() for values in (first, check)]
    result: Bools = notable[0] & notable[1] & (np.sign(first) != np.sign(check))
    return result


def _sources(
    translator: Translator,
    trace: AttentionTrace,
    step: int,
    other: int,
    evidence: Contrast,
    favours: str,
) -> None:
    language = translator.languages.name("source")
    tokens, first = display_tokens(trace.source_tokens), evidence.by_source
    erased, why_not = _changes_by_erasing(translator, trace, step, other)
    places = strongest(first) if erased is None else strongest(first, erased)
    marked = None if erased is None else disagree(first, erased).tolist()
    left, right = st.columns(2, gap="small")
    with left:
        charts.altair_chart(
            pieces_chart(tokens, first, "gradient × value, nats", places=places),
            key="why-sources",
            alt=f"Gradient × value of each {language} subword, over all heads of cross-attention.",
        )
    with right:
        if erased is None:
            st.text(why_not)
        else:
            title = "lost when erased, nats"
            charts.altair_chart(
                pieces_chart(tokens, erased, title, places=places, marked=marked),
                key="why-erased",
                alt=f"What the log-odds lose when each {language} subword is erased.",
            )
    text = f"Above 0 a subword speaks for {favours}"
    if any(marked or ()):
        text += " Where the two disagree (≠), trust erasing: gradient × value is only an estimate."
    st.text(text)
    if len(tokens) > len(places):
        st.text(f"You see the {MAX_ROWS} largest of {len(tokens)} subwords, in reading order.")


def _changes_by_erasing(
    translator: Translator, trace: AttentionTrace, step: int, other: int
) -> tuple[AnyFloats | None, str]:
    """Return the change by erasing each piece, or None with a message."""
    count = len(trace.source_pieces)
    if count > MAX_ERASED:
        most = f"the page erases them one by one up to {MAX_ERASED}."
        return None, f"This sentence has {count} subwords: {most}"
    if count > MAX_ERASED_AT_ONCE and not st.toggle(
        f"Erase each of {count} subwords", key=ERASE, bind="query-params"
    ):
        return None, "Erasing takes some seconds on a sentence of this length."

    job = Job(f"Erasing {count} subwords one by one", at_once=64)
    try:
        return compute_in_job("erased", job, erase, translator.model, trace, step, other), ""
    except HeadlightError as error:
        return None, problems.without_paths(error)


Measure = Literal["gradient × value", "direct logits"]
DECODER_KINDS: tuple[DecoderKind, ...] = get_args(DecoderKind)
MAX_NAMED = 5  # heads on each side that are listed


def show_heads(evidence: Contrast, head: Head, measure: Measure, written: str, other: str) -> None:
    """Draw the heads as tables, and the strongest by name; a click opens a head."""
    values: dict[kinds.Kind, AnyFloats] = dict(evidence.by_head)
    if measure == "direct logits":
        values = {kind: evidence.direct[kind] for kind in DECODER_KINDS}
    maximum = max(float(np.abs(heads).max()) for heads in values.values())
    for column, (kind, heads) in zip(st.columns(len(kinds.KINDS)), values.items(), strict=False):
        with column:
            total = format_number(float(heads.sum()), sign=True)
            st.html(head_charts.kind_title(kind, f"{SCREEN_NAMES[kind]} {total}"))
            charts.draw_clickable(
                head_charts.heads_chart(kind, heads, maximum, measure, opened=head),
                head_charts.grid_key("why-heads", kind, head),
                [Head(kind, *at) for at in np.ndindex(heads.shape)],
                f"What each {SCREEN_NAMES[kind]} head adds: layers down, heads across.",
            )
    st.caption(
        explanations.as_markdown(
            f"Purple speaks for {quoted(written)}, olive for {quoted(other)}; full colour: "
            f"{maximum:.2f} nats. Number beside a kind: the sum of its heads."
        )
    )
    ordered = head_charts.heads_by_value(values)
    for piece, favouring in (
        (written, [pair for pair in ordered if pair[1] >= SEEN]),
        (other, [pair for pair in reversed(ordered) if pair[1] <= -SEEN]),
    ):
        text = "For {}" if favouring else "No head speaks for {}."
        st.text(text.format(quoted(piece)))
        buttons = [(head, format_number(value, sign=True)) for head, value in favouring]
        head_picker.head_buttons("why-open", buttons[:MAX_NAMED])


def show_open_head(
    trace: AttentionTrace, step: int, evidence: Contrast, head: Head, favours: str
) -> None:
    """Draw the contribution of each key of the open head, and links to other pages."""
    kind, place = head.kind, (head.layer, head.head)
    head_picker.head_heading(head)
    values = evidence.values[kind][place]
    summary = f"{format_number(float(values.sum()), sign=True)} nats by gradient × value"
    further: dict[str, AnyFloats] = {}
    if kind != "encoder_self":  # whose rows are not steps
        direct = format_number(float(evidence.direct[kind][place]), sign=True)
        summary += f", {direct} by direct logits"
        further["weight"] = trace.weights(kind)[place][step, : len(values)]
    st.text(f"{summary}: above 0 it speaks for {favours}")
    tokens = trace.decoder_tokens[: step + 1] if kind == "decoder_self" else trace.source_tokens
    names, places = display_tokens(tokens), strongest(values)
    charts.altair_chart(
        pieces_chart(names, values, "gradient × value, nats", places=places, more=further),
        key="why-open",
        title=head.title,
        alt="Gradient × value of each subword that the open head looks at.",
    )
    with st.container(key="why-links", horizontal=True, vertical_alignment="center", gap="small"):
        navigation.link("heads", "See where this head looks", head_picker.link_parameters(*head))
        st.button("Remove this head", key="why-remove", on_click=open_removal, args=(head,))


MAX_ROWS, _ROW = 40, 22
"""Bars of a chart, of more pieces the strongest; and the height of one in CSS pixels."""


def strongest(*measures: AnyFloats) -> list[int]:
    """Select the places where any of the measures `[place]` is relatively largest, in order."""
    shares = [
        np.abs(values) / max(float(np.abs(values).max()), head_charts.TINY) for values in measures
    ]
    places = np.argsort(-np.max(shares, axis=0), kind="stable")[:MAX_ROWS]
    return sorted(places.tolist())


def pieces_chart(
    names: Sequence[str],
    values: AnyFloats,
    title: str,
    *,
    places: Sequence[int],
    marked: Sequence[bool] | None = None,
    more: dict[str, AnyFloats] | None = None,
) -> alt.LayerChart:
    """Draw signed bars, in nats, for the pieces at some places, with a ≠ after those `marked`."""
    more, marks = more or {}, marked or [False] * len(names)
    columns = {"value": values, **more}
    frame = pd.DataFrame({"place": list(places), "piece": [names[n] for n in places]}).assign(
        sign=head_charts.signs(values[list(places)]),
        mark=["≠" if marks[n] else "" for n in places],
        **{name: column[list(places)].astype(float) for name, column in columns.items()},
    )
    labels = f"{axes.vega_json(list(names))}[datum.value]"
    y = alt.Y("place:O", title=None, axis=axes.bare_axis(labelExpr=labels, labelLimit=110))
    maximum = max(float(frame["value"].abs().max()), 0.01)
    # space for the mark after the longest bar
    scale = alt.Scale(domain=[-1.12 * maximum, 1.12 * maximum], nice=False)
    axis = alt.Axis(labelExpr=axes.tick_label("+"), tickCount=5)
    x = alt.X("value:Q", title=title, scale=scale, axis=axis)
    tooltip = forms.tips("piece", value=(title, "+.3f"), **dict.fromkeys(more, ("", ".3f")))
    base = alt.Chart(frame, height={"step": _ROW})
    bars = base.mark_bar(height=_ROW - 8).encode(x, y, head_charts.SIGN_COLOR, tooltip=tooltip)
    marks = base.mark_text(
        color=axes.INK,
        fontSize=14,
        align=alt.expr("datum.value >= 0 ? 'left' : 'right'"),
        dx=alt.expr("datum.value >= 0 ? 4 : -4"),
    )
    return forms.rule("value", 0) + bars + marks.encode(x, y, text=alt.Text("mark:N"))
