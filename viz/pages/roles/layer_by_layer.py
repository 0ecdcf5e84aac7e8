"""The view “Layer by layer”: predictions of each layer, parts of a logit, shares of the source."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, HeadlightError, Kind, Translator
from transformer.analysis.axes import by_words, first_pieces
from transformer.analysis.lenses import alti
from transformer.analysis.logits.decoder_lens import LayerReading, decoder_lens, read_layers
from transformer.analysis.logits.direct_logits import direct_logits
from transformer.analysis.logits.logit_lens import LayerPredictions, layer_predictions
from transformer.arrays import AnyFloats
from viz.app import jobs
from viz.app.cache.cached_results import SearchBudget
from viz.app.chrome import charts, problems
from viz.app.chrome.explanations import as_markdown, explain, sources
from viz.app.sentence import search_request
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.sentence.translation_line import MARKS, show_candidate
from viz.app.view import Job, compute, compute_in_job, list_result, view
from viz.draw.formatting import counted, format_number, format_probability
from viz.draw.labels import SCREEN_NAMES, decoder_rows, display_tokens, head_title, quoted
from viz.figures import axes
from viz.figures.forms import long_form, rule, tips
from viz.pages.roles.head_charts import heads_by_value, heads_chart, kind_title, signs
from viz.pages.roles.pieces import least_certain_step, pick_written, shown_piece, step_choices

ENCODER_LAYERS = "encoder_layers"  # name in the URL
MAX_AT_ONCE, TOP = 160, 5
"""Subwords of both sides up to which they are computed automatically, since more take seconds; and
most probable pieces of each layer that a tooltip lists."""


@view("Layer by layer", needs="trace", question="What would each layer write?", find="nothing")
def layer_by_layer(bar: BarTranslation) -> None:
    """Draw the logit lens, the sum of one logit, and the shares of the source."""
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    step, problem = pick_written(trace, least_certain_step(step_choices(translator, trace)))
    if problem:
        st.text(problem)
    layers = compute("layers", layer_predictions, translator, trace, TOP)
    st.html(predictions_html(layers, trace.target_tokens, step))
    st.caption(
        "Each cell: what the layer would write; the stronger, the more probable. Below it: its "
        "probability if the model wrote this subword, else the rank of the subword that it wrote. "
        f"“First at” and a frame: from here on it stays first. Below: the {TOP} most probable "
        "subwords of the chosen step."
    )
    _step(translator, trace, layers, step, given=step < len(translation.prefix))
    _shares(translator, trace, step)
    _encoder_layers(bar)
    explain(
        "The “logit lens” multiplies each layer's output by the vocabulary's matrix. Only the last "
        "layer was trained for that: lower layers may hold what the next ones use in another form. "
        "The sum keeps each norm as it is in this sentence. The shares (ALTI+, Ferrando et al. "
        "2022) measure how much each token contributes to the output, through all layers."
        + sources("§3.1, §3.4", layer_predictions, direct_logits, alti.whole_model, decoder_lens)
    )


def _step(
    translator: Translator,
    trace: AttentionTrace,
    layers: LayerPredictions,
    step: int,
    *,
    given: bool,
) -> None:
    """Draw predictions and summands at one step, whose piece was `given` or searched."""
    row = decoder_rows(trace.decoder_tokens, trace.target_tokens)[step]
    st.subheader(as_markdown(f"Step {step + 1} {row}"), anchor=False)
    stable_from = first_stable_layers(layers.rank)[step]
    written = quoted(display_tokens(trace.target_tokens)[step])
    origin = "you gave this one" if given else "the search kept this one"
    st.text(
        f"{written} is the most probable subword from layer {stable_from + 1} on."
        if stable_from is not None
        else f"The last layer finds another subword more probable than {written}: {origin}."
    )
    st.html(top_html(layers, step))
    logits = compute("logits", direct_logits, translator.model, trace)
    total = float(logits.logits[step])
    parts = compute("parts", logits.parts, step)
    bars, heads = st.columns([7, 5], gap="large")
    with bars:
        st.subheader(f"What adds up to its score (logit) {format_number(total)}", anchor=False)
        charts.altair_chart(
            sum_chart(parts, total),
            key="layers-sum",
            alt="What each part of the decoder adds to the logit of the written subword.",
        )
        st.caption(
            f"The {len(parts)} parts add up to the score (a logit is a score before the softmax). "
            f"Rounding may hide up to {(len(parts) + 1) * 0.005:.2f}."
        )
    with heads:
        st.subheader("Head by head", anchor=False)
        values: dict[Kind, AnyFloats] = {
            kind: array[..., step] for kind, array in logits.heads.items()
        }
        maximum = max(float(np.abs(array).max()) for array in values.values())
        for kind, array in values.items():
            added = format_number(float(array.sum()), sign=True)
            st.html(kind_title(kind, f"{SCREEN_NAMES[kind]} {added}"))
            charts.altair_chart(
                heads_chart(kind, array, maximum, "adds to the score"),
                key=f"layers-heads-{kind}",
                alt=f"What each {SCREEN_NAMES[kind]} head adds to the logit.",
            )
        most, largest = heads_by_value(values)[0]
        st.caption(
            f"Purple adds, olive subtracts; full colour: {maximum:.2f}. {head_title(*most)} adds "
            f"most, {format_number(largest, sign=True)}."
        )


def _shares(translator: Translator, trace: AttentionTrace, step: int) -> None:
    st.subheader("From the source, or from what was already written?", anchor=False)
    pieces = len(trace.source_pieces) + len(trace.target_pieces)
    if pieces > MAX_AT_ONCE and not st.toggle(
        f"Compute the shares of {pieces} subwords", key="shares", bind="query-params"
    ):
        st.text("The shares take some seconds for a sentence of this length.")
        return

    job = Job("Sharing out each layer's output", at_once=200)
    whole = compute_in_job("shares", job, alti.whole_model, translator.model, trace)
    first, shares = compute("of_words", word_shares, trace, whole)
    words = by_words(trace, "cross").labels.queries
    charts.altair_chart(
        shares_chart(words, shares, int(np.searchsorted(first, step, side="right")) - 1),
        key="layers-shares",
        alt="Shares of the source, of the start token and of earlier words in each written word.",
    )


SOURCE, START, BEFORE = "source", "start", "written before"

_ROW = 24  # CSS pixels


def sum_chart(parts: Mapping[str, float], total: float) -> alt.LayerChart:
    """Draw each summand from where the one before it ended, and their total below."""
    values = list(parts.values())
    ends = np.cumsum(values)
    rows = pd.DataFrame({"part": [*parts, "= logit"], "start": [*(ends - values), 0.0]}).assign(
        end=[*ends, total],
        value=[*values, total],
        figure=[*(format_number(v, sign=True) for v in values), format_number(total)],
        sign=[*signs(np.array(values)), "sum"],
    )
    rows["right"] = rows[["start", "end"]].max(axis=1)
    y = alt.Y("part:N", sort=list(rows["part"]), title=None, axis=axes.bare_axis(labelLimit=140))
    low = min(0.0, float(rows[["start", "end"]].min().min()))
    high = max(0.0, float(rows["right"].max()))
    # space for the number after the longest bar
    scale = alt.Scale(domain=[low, high + 0.16 * (high - low or 1.0)], nice=False)
    x = alt.X("start:Q", title="logit, added up from above", scale=scale)
    base = alt.Chart(rows, height={"step": _ROW})
    colors = alt.Scale(domain=["for", "against", "sum"], range=[axes.PURPLE, axes.OLIVE, axes.GREY])
    colour = alt.Color("sign:N", scale=colors, legend=None)
    tooltip = tips("part", value=("adds", "+.4f"))
    bars = base.mark_bar(height=_ROW - 9).encode(x, y, colour, x2=alt.X2("end:Q"), tooltip=tooltip)
    figures = base.mark_text(align="left", dx=5, color=axes.INK)
    return rule("start", 0) + bars + figures.encode(alt.X("right:Q"), y, text=alt.Text("figure:N"))


def word_shares(
    trace: AttentionTrace, shares: AnyFloats
) -> tuple[npt.NDArray[np.int64], dict[str, AnyFloats]]:
    """Compute each word's first piece and its shares, `[word]`, of source, `<s>` and before."""
    first = np.array(first_pieces(trace.target_pieces))
    count = np.diff([*first, len(trace.target_pieces)])
    source = len(trace.source_pieces)
    parts = {
        SOURCE: shares[:, :source].sum(1),
        START: shares[:, source],
        BEFORE: shares[:, source + 1 :].sum(1),
    }
    return first, {name: np.add.reduceat(part, first) / count for name, part in parts.items()}


def shares_chart(words: Sequence[str], shares: dict[str, AnyFloats], chosen: int) -> alt.Chart:
    """Draw the shares of each written word, `[word]` each, as stacked bars that sum to 1."""
    frame = long_form("from", "share", shares, place=range(len(words)), word=list(words))
    frame["order"] = frame["from"].map([*shares].index)
    bold = {"test": f"datum.value == {chosen}", "value": "bold"}
    x = axes.word_axis(words, labelFontWeight={"condition": bold, "value": "normal"})
    colour = axes.named_color(
        "from", dict(zip(shares, (axes.VIOLET, axes.GREY, axes.OCHRE), strict=True)), labelLimit=300
    )
    y = alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    bars, tooltip = alt.Chart(frame, height=240).mark_bar(), tips("word", "from", share=("", ".1%"))
    return bars.encode(x, y, colour, order=alt.Order("order:O"), tooltip=tooltip)


def _encoder_layers(bar: BarTranslation) -> None:
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    st.subheader("What if the decoder read an earlier encoder layer?", anchor=False)
    N = translator.model.config.N
    if not st.toggle(
        f"Translate {N + 1} times, from the embeddings to layer {N}",
        key=ENCODER_LAYERS,
        bind="query-params",
    ):
        return
    settings = bar.used.settings
    measure, title = ("decoder lens", settings), "Translating from each encoder layer"
    given: dict[str, Any] = {"budget": SearchBudget, **settings.arguments}
    try:
        readings: list[LayerReading] = jobs.compute_measure(
            translator, trace, measure, title,
            lambda model, report: read_layers(model, trace, progress=report, **given),
            at_once=16,
        )  # fmt: skip
    except HeadlightError as error:
        problems.say(error)
        return
    search = search_request.arguments(settings)
    list_result("readings", readings, read_layers, translator, trace, **search)
    names = {0: "Embeddings, before any layer", N: f"Layer {N}, which the model uses"}
    for reading in readings:
        pieces = counted(reading.length, "subword")
        if not reading.ended:
            pieces = f"cut off after {pieces}, without an end"
        log_p = f"log probability of the original translation {format_number(reading.log_prob)}"
        show_candidate(
            reading.translation.text,
            translation.text,
            f"{pieces} · {log_p}",
            title=names.get(reading.layer, f"Layer {reading.layer}"),
        )
    st.caption(
        f"{MARKS} The decoder learned to read only the last layer (DecoderLens, Langedijk et al. "
        "2023): you see what it can use from an earlier one, not all that the layer holds."
    )


_DEEPEST = 60  # per cent of the colour at probability 1, on which text is readable
_QUIET = "color:color-mix(in srgb,currentColor 70%,transparent)"
_CELL = "padding:.25rem .5rem;border:0;text-align:start;white-space:nowrap;line-height:1.3"


def first_stable_layers(rank: npt.NDArray[np.int64]) -> list[int | None]:
    """Find from which layer on each written piece has rank 0; None where it does not end so."""
    first = rank == 0
    stable = np.logical_and.accumulate(first[::-1])[::-1]  # [layer, target]
    return [int(steps.argmax()) if steps.any() else None for steps in stable.T]


def predictions_html(predictions: LayerPredictions, tokens: Sequence[str], step: int) -> str:
    """Format the table: layers down, steps across, the layer's most probable piece in each cell."""
    stable = first_stable_layers(predictions.rank)
    plain = f'<th scope="col" style="{_CELL};font-weight:400">'
    chosen = (
        f'<th scope="col" aria-current="true" style="{_CELL};'
        'box-shadow:inset 0 -2px currentColor;font-weight:600">'
    )

    def row(scope: str, name: str, style: str, cells: Iterable[str]) -> str:
        heading = f'<th scope="{scope}" style="{_CELL};{style}">{name}</th>'
        return f'<tr style="border:0">{heading}{"".join(cells)}</tr>'

    quiet = f"{_QUIET};font-weight:400"
    names = (
        f"{chosen if n == step else plain}<bdi>{escape(name)}</bdi></th>"
        for n, name in enumerate(display_tokens(tokens))
    )
    firsts = ("never" if layer is None else f"L{layer + 1}" for layer in stable)
    rows = [row("row", "first at", quiet, (f'<td style="{_CELL}">{text}</td>' for text in firsts))]
    for n in range(len(predictions.pieces)):
        cells = (_cell(predictions, n, at, layer == n) for at, layer in enumerate(stable))
        rows.append(row("row", f"L{n + 1}", "font-weight:600", cells))
    return (
        '<div role="region" tabindex="0" aria-label="What each layer would write" '
        'style="position:relative;overflow-x:auto;padding-block:2px">'  # holds the hidden text
        '<table style="border-collapse:separate;border-spacing:2px;border:0;margin:0;'
        f'width:auto;font-size:.875rem"><thead>{row("col", "written", quiet, names)}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def top_html(predictions: LayerPredictions, step: int) -> str:
    """Format the most probable pieces of each layer at one step, as on the Translate page."""
    items = []
    for layer, steps in enumerate(predictions.pieces):
        best = zip(steps[step], predictions.probabilities[layer, step], strict=True)
        lines = "".join(
            f"<small><bdi>{escape(shown_piece(piece))}</bdi> "
            f"<span>{escape(format_probability(float(value)))}</span></small>"
            for piece, value in best
        )
        items.append(f"<li><b>L{layer + 1}</b>{lines}</li>")
    return f'<ol class="headlight-choices" style="padding:0">{"".join(items)}</ol>'


def _cell(predictions: LayerPredictions, layer: int, step: int, stable: bool) -> str:
    pieces, values = predictions.pieces[layer][step], predictions.probabilities[layer, step]
    rank = int(predictions.rank[layer, step])
    depth = round(_DEEPEST * float(values[0]))
    style = f"{_CELL};background:color-mix(in srgb,{axes.VIOLET} {depth}%,transparent)"
    if stable:
        style += ";box-shadow:inset 0 0 0 2px currentColor"
    if rank == 0:
        style += ";font-weight:600"
    hover = "\n".join(
        f"{shown_piece(piece)} {format_probability(float(value))}"
        for piece, value in zip(pieces, values, strict=True)
    )
    quiet = _QUIET if rank else ""  # full ink on a deep colour
    below = escape(format_probability(float(values[0])) if rank == 0 else f"rank {rank + 1:,}")
    return (
        f'<td style="{style}" title="{escape(hover)}"><bdi>{escape(shown_piece(pieces[0]))}</bdi>'
        f'<br><span style="font-size:.75rem;font-weight:400;{quiet}">{below}</span></td>'
    )
