"""Translations that the decoder writes where it reads an earlier encoder layer (DecoderLens)."""

import streamlit as st

from transformer import AttentionTrace, HeadlightError, Translation, Translator
from transformer.analysis.logits.decoder_lens import LayerReading, decoder_lens
from viz.app.cache.cached_results import SearchBudget
from viz.app.cache.memory import memo_per_trace
from viz.app.cache.progress import progress_bar
from viz.app.chrome.problems import say
from viz.app.sentence import sentence_bar
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.draw.formatting import format_number

ENCODER_LAYERS = "encoder_layers"
"""Name in the URL."""


def show(translator: Translator, translation: Translation, trace: AttentionTrace) -> None:
    """Draw the translation from each encoder layer, once they are asked for."""
    st.subheader("What if the decoder read an earlier encoder layer?", anchor=False)
    N = translator.model.config.N
    if not st.toggle(
        f"Translate {N + 1} times, from the embeddings to layer {N}",
        key=ENCODER_LAYERS,
        bind="query-params",
    ):
        return
    try:
        with progress_bar("Translating from each encoder layer") as report:
            readings = []
            for layer in range(N + 1):
                report(layer, N + 1)
                readings.append(_reading(translator, trace, layer))
    except HeadlightError as error:
        say(error)
        return
    for reading in readings:
        show_candidate(
            reading.translation.text, translation.text, caption(reading), title=title(reading, N)
        )
    st.caption(
        f"{MARKS} The decoder learned to read only the last layer (DecoderLens, Langedijk et al. "
        "2023): you see what it can use from an earlier one, not all that the layer holds."
    )


def _reading(translator: Translator, trace: AttentionTrace, layer: int) -> LayerReading:
    """Compute the translation from one layer, once for all users."""
    settings = sentence_bar.settings()
    return memo_per_trace(
        trace,
        ("decoder lens", settings, layer),
        lambda: decoder_lens(
            translator, trace, layer, should_stop=SearchBudget(), **settings.arguments
        ),
    )


def title(reading: LayerReading, N: int) -> str:
    """Name the layer of a reading, one of 0 to N."""
    names = {0: "Embeddings, before any layer", N: f"Layer {N}, which the model uses"}
    return names.get(reading.layer, f"Layer {reading.layer}")


def caption(reading: LayerReading) -> str:
    """Return the figures of a reading."""
    pieces = f"{reading.length} subword{'' if reading.length == 1 else 's'}"
    if not reading.ended:
        pieces = f"stopped without an end after {pieces}"
    return (
        f"{pieces} · log probability of the original translation {format_number(reading.log_prob)}"
    )
