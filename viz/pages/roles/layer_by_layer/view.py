"""The view “Layer by layer”: predictions of each decoder layer, and the summands of a logit."""

from __future__ import annotations

import numpy as np
import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.axes import by_words
from transformer.analysis.lenses.alti import whole_model
from transformer.analysis.logits.direct_logits import DirectLogits, direct_logits
from transformer.analysis.logits.logit_lens import LayerPredictions, layer_predictions
from transformer.analysis.teacher_forcing import Array
from viz.app.cache.memory import memo_per_trace
from viz.app.cache.progress import progress_bar
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import as_markdown, code_line, explain
from viz.app.sentence import sentence_bar
from viz.draw.formatting import format_number
from viz.draw.labels import SCREEN_NAMES, decoder_rows, display_tokens, head_title, quoted
from viz.pages.roles.layer_by_layer.charts import logit_parts, shares_chart, sum_chart, word_shares
from viz.pages.roles.layer_by_layer.table import first_stable_layers, predictions_html, top_html
from viz.pages.roles.pieces import least_certain_step, pick_written, step_choices
from viz.pages.roles.why_this_word.charts import heads_chart

SHARES = "shares"
"""Name in the URL: whether the shares of a long sentence are computed."""
MOST_UNASKED = 160
"""Pieces of both sides up to which they are computed unasked; more take seconds."""
TOP = 5
"""Most probable pieces of each layer that a tooltip lists."""


def show() -> None:
    """Draw the view: the logit lens, the sum of one logit, and the shares of the source."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    st.markdown(
        "Each decoder layer, read as if it were the last: the piece that it would write at each "
        "step of the translation."
    )
    step, problem = pick_written(trace, least_certain_step(step_choices(translator, trace)))
    if problem:
        st.text(problem)
    layers = memo_per_trace(
        trace, ("layer predictions", TOP), lambda: layer_predictions(translator, trace, TOP)
    )
    st.html(predictions_html(layers, trace.target_tokens, step))
    st.caption(
        "Each cell has the layer's most probable piece, in a deeper colour where that is more "
        "probable; the five most probable are a hover away. Below it stands the probability of the "
        "written piece where it is the most probable one, else its rank. A frame marks the layer "
        "from which it stays so."
    )
    _step(translator, trace, layers, step, given=step < len(translation.prefix))
    _shares(translator, trace, step)
    _explain()


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
    origin = "this one was given" if given else "the search kept this one"
    st.text(
        f"{written} is the most probable piece from layer {stable_from + 1} on."
        if stable_from is not None
        else f"The last layer finds another piece more probable than {written}: {origin}."
    )
    st.html(top_html(layers, step))
    logits = memo_per_trace(trace, "direct logits", lambda: direct_logits(translator.model, trace))
    total = float(logits.logits[step])
    parts = logit_parts(logits, step)
    bars, heads = st.columns([7, 5], gap="large")
    with bars:
        st.subheader(f"What makes the logit {format_number(total)}", anchor=False)
        altair_chart(
            sum_chart(parts, total),
            key="layers-sum",
            alt="What each part of the decoder adds to the logit of the written piece.",
        )
        st.caption(
            f"The {len(parts)} parts add up to the logit. Each figure is rounded by itself, so the "
            f"printed ones may miss it by up to {(len(parts) + 1) * 0.005:.2f}."
        )
    with heads:
        _heads(logits, step)


def _heads(logits: DirectLogits, step: int) -> None:
    st.subheader("Head by head", anchor=False)
    values = {kind: heads[..., step] for kind, heads in logits.heads.items()}
    maximum = max(float(np.abs(heads).max()) for heads in values.values())
    for kind, heads in values.items():
        st.text(f"{SCREEN_NAMES[kind]} {format_number(float(heads.sum()), sign=True)}")
        altair_chart(
            heads_chart(kind, heads, maximum, "adds to the logit"),
            key=f"layers-heads-{kind}",
            alt=f"What each head of the kind {SCREEN_NAMES[kind]} adds to the logit.",
        )
    kind, place = max(
        ((kind, place) for kind, heads in values.items() for place in np.ndindex(heads.shape)),
        key=lambda head: float(values[head[0]][head[1]]),
    )
    st.caption(
        f"Purple adds to the logit, olive takes from it; the full colour is {maximum:.2f}. Most is "
        f"added by {head_title(kind, *place)}, "
        f"{format_number(float(values[kind][place]), sign=True)}."
    )


def _shares(translator: Translator, trace: AttentionTrace, step: int) -> None:
    st.subheader("From the source, or from what was written before", anchor=False)
    pieces = len(trace.source_pieces) + len(trace.target_pieces)
    if pieces > MOST_UNASKED and not st.toggle(
        f"Compute the shares of {pieces} pieces", key=SHARES, bind="query-params"
    ):
        st.text("The shares take some seconds on a sentence of this length.")
        return

    def compute() -> Array:
        with progress_bar("Sharing out each layer's output") as report:
            return whole_model(translator.model, trace, progress=report)

    first, shares = word_shares(trace, memo_per_trace(trace, "shares", compute))
    words = by_words(trace, "cross").labels.queries
    altair_chart(
        shares_chart(words, shares, int(np.searchsorted(first, step, side="right")) - 1),
        key="layers-shares",
        alt="The share of the source, of the start token and of what was written before in each "
        "written word.",
    )


def _explain() -> None:
    explain(
        f"The logit lens multiplies the output of each decoder layer by the vocabulary's matrix, "
        f"as §3.4 does with the last: {code_line(layer_predictions)}. A layer below the last was "
        f"never trained to be read so: it may hold in another form what the next layers use. The "
        f"sum follows the residual stream with each norm (§3.1) held as it is on this sentence, "
        f"{code_line(direct_logits)}; each norm divides what came before it by the deviation of "
        f"the sum, so the last layers of a trained post-norm model mostly add most, and earlier "
        f"heads act through what later layers read. "
        f"The shares are ALTI+ (Ferrando et al. 2022), {code_line(whole_model)}: how much nearer "
        f"each token brings a layer's output to what it is, through all layers."
    )
