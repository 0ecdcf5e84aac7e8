"""Layer by layer: what each decoder layer would write, and the sum that makes the last logit."""

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
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.markdown import as_markdown
from viz.app.sentence import sentence_bar
from viz.draw.formatting import format_number
from viz.draw.labels import SCREEN_NAMES, decoder_rows, display_tokens, head_title, quoted
from viz.pages.roles.layer_by_layer.charts import parts_of, shares_chart, shares_of_words, sum_chart
from viz.pages.roles.layer_by_layer.table import predictions_html, stays_from, top_html
from viz.pages.roles.why_this_word.charts import heads_chart
from viz.pages.roles.written_piece import choices_of, least_certain_step, pick_written

SHARES = "shares"
"""Name in the URL: whether the shares of a long sentence are computed, too."""
AT_ONCE = 160
"""Pieces of both sides up to which they are: many more would keep the page waiting for seconds."""
TOP = 5
"""Pieces of each layer that a hover names."""


def show() -> None:
    """The view: the logit lens, the sum of one logit, and where each written word comes from."""
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    st.markdown(
        "Each decoder layer, read as if it were the last: the piece that it would write at each "
        "step of the translation."
    )
    step, no_step = pick_written(trace, least_certain_step(choices_of(translator, trace)))
    if no_step:
        st.text(no_step)
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
    """What each layer would write at one step, and what makes the logit of the written piece.

    Args:
        given: whether no search has written the piece: it was forced, or written by hand.
    """
    row = decoder_rows(trace.decoder_tokens, trace.target_tokens)[step]
    st.subheader(as_markdown(f"Step {step + 1} {row}"), anchor=False)
    stays = stays_from(layers.rank)[step]
    written = quoted(display_tokens(trace.target_tokens)[step])
    came = "this one was given" if given else "the search kept this one"
    st.text(
        f"{written} is the most probable piece from layer {stays + 1} on."
        if stays is not None
        else f"The last layer finds another piece more probable than {written}: {came}."
    )
    st.html(top_html(layers, step))
    logits = memo_per_trace(trace, "direct logits", lambda: direct_logits(translator.model, trace))
    total = float(logits.logits[step])
    parts = parts_of(logits, step)
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
    """The heads whose sums are parts of the logit, one by one."""
    st.subheader("Head by head", anchor=False)
    values = {kind: of[..., step] for kind, of in logits.heads.items()}
    most = max(float(np.abs(of).max()) for of in values.values())
    for kind, of in values.items():
        st.text(f"{SCREEN_NAMES[kind]} {format_number(float(of.sum()), sign=True)}")
        altair_chart(
            heads_chart(kind, of, most, "adds to the logit"),
            key=f"layers-heads-{kind}",
            alt=f"What each head of the kind {SCREEN_NAMES[kind]} adds to the logit.",
        )
    kind, at = max(
        ((kind, at) for kind, of in values.items() for at in np.ndindex(of.shape)),
        key=lambda one: float(values[one[0]][one[1]]),
    )
    st.caption(
        f"Purple adds to the logit, olive takes from it; the full colour is {most:.2f}. Most is "
        f"added by {head_title(kind, *at)}, "
        f"{format_number(float(values[kind][at]), sign=True)}."
    )


def _shares(translator: Translator, trace: AttentionTrace, step: int) -> None:
    """From where each written word comes, over the whole model."""
    st.subheader("From the source, or from what was written before", anchor=False)
    pieces = len(trace.source_pieces) + len(trace.target_pieces)
    if pieces > AT_ONCE and not st.toggle(
        f"Compute the shares of {pieces} pieces", key=SHARES, bind="query-params"
    ):
        st.text("The shares take some seconds on a sentence of this length.")
        return

    def compute() -> Array:
        with progress_bar("Sharing out each layer's output") as report:
            return whole_model(translator.model, trace, progress=report)

    first, shares = shares_of_words(trace, memo_per_trace(trace, "shares", compute))
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
