"""Views of the Positions page on the sentence in the bar: the first layer's input, and edits."""

from collections.abc import Mapping, Sequence
from html import escape

import altair as alt
import numpy as np
import plotly.graph_objects as go
import streamlit as st

from transformer import Translation, Translator, embedding
from transformer.analysis.edited import edited_translation
from transformer.analysis.teacher_forcing import log_probs
from transformer.arrays import AnyFloats
from transformer.decoding.settings import SearchSettings
from transformer.paper.positions import (
    Edit,
    edit_hooks,
    embedding_parts,
    root_mean_squares,
    shuffled_order,
)
from transformer.text.languages import Languages
from viz.app.cache import cached_results
from viz.app.chrome import charts, explanations, fields
from viz.app.sentence import (
    search_request,
    sentence_bar,
    translation_line,
)
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import compute, list_result, view
from viz.draw.formatting import format_number, listing
from viz.draw.labels import capitalised, display_tokens, quoted
from viz.figures import axes, forms, positions
from viz.pages.positions.tables import PICTURE, pick_stack


@view("Your sentence", needs="trace")
def embeddings(bar: BarTranslation) -> None:
    """Draw token embeddings, positions and their sum for the sentence in the bar."""
    stack = pick_stack()
    translator, trace = bar.translator, bar.trace
    parts = compute("parts", embedding_parts, translator.model, trace, stack)
    rms = compute("rms", root_mean_squares, parts)
    tokens = trace.source_tokens if stack == "encoder" else trace.decoder_tokens
    titled = dict(zip(("token", "+ position", "= sum"), parts, strict=True))
    # the scale fits the positions, which are smaller than the tokens
    maximum = 2 * float(np.abs(parts.positions).max())
    with st.container(key=PICTURE):
        charts.plotly_chart(
            input_figure(tokens, titled, maximum),
            key=f"embeddings-and-positions-{stack}",
            alt="Token embeddings, positions and their sum, tokens down and dimensions across.",
        )
    numbers, explanation = st.columns([1, 2], gap="large")
    with numbers, st.container(horizontal=True, gap="medium"):
        for label, value in zip(("RMS, tokens", "RMS, positions", "RMS, sum"), rms, strict=True):
            st.metric(label, f"{value:.4f}", width="content")
    with explanation:
        config = translator.model.config
        learned = ". The positions of this model are learned."
        if config.positions == "sinusoidal":
            learned = ": 1/√2 = 0.7071 for positions, as sin² + cos² = 1."
        times = "times √d_model " if config.scale_embedding else ""
        explanations.explain(
            f"The first layer reads the embedding {times}plus the position. RMS is the root of the "
            f"mean square over all tokens and dimensions{learned} Purple is above 0, olive below; "
            "colours saturate at the ends of the scale."
            + explanations.sources("§3.4, §3.5", embedding.Embedding.forward)
        )


@view("Remove positions", needs="trace")
def remove_positions(bar: BarTranslation) -> None:
    """Draw the translation with positions removed or shuffled."""
    with fields.controls_row("positions-controls"):
        seed = fields.whole_number("Seed of the shuffle", "pe_seed", 0, 9_999, 0, width=290)
    translator, translation, trace = bar.translator, bar.translation, bar.trace
    edits = {
        "no encoder positions": Edit("removed", ("encoder",)),
        "shuffled encoder positions": Edit("shuffled", ("encoder",), seed),
        "no decoder positions": Edit("removed", ("decoder",)),
        "no positions": Edit("removed", ("encoder", "decoder")),
    }
    hooks = {name: compute(_variable(name), edit_hooks, edit) for name, edit in edits.items()}
    piece_log_p = {
        name: compute(f"log_p_{_variable(name)}", log_probs, translator.model, trace, hooks[name])
        for name in edits
    }
    languages = trace.languages
    picture, candidates = st.columns([2, 1], gap="large")
    with picture, st.container(key=PICTURE):
        curves = {"unchanged": trace.log_probs, **piece_log_p}
        charts.altair_chart(
            pieces_chart(trace.target_tokens, curves, languages),
            key="pe_without",
            alt="Log probability of each subword of the translation under each edit.",
        )
        order = shuffled_order(len(trace.source_tokens), seed)
        read_order = [display_tokens(trace.source_tokens)[token] for token in np.argsort(order)]
        with st.container(gap=None):
            st.text("Shuffled, the encoder reads:")
            st.text(" ".join(read_order))
        explanations.explain(
            f"Attention alone knows no order: without positions, the encoder cannot tell apart two "
            f"sentences of the same subwords. Its mask still tells the decoder which subwords came "
            f"before. The curves show the log probability of each subword of the original "
            f"translation. {translation_line.MARKS}"
            + explanations.sources("§3.2.3, §3.5", embedding.Embedding.forward)
        )
    with candidates:
        unedited = cached_results.search(translator, translation.source, bar.used.settings)
        new = {
            name: _edited(translator, translation.source, edit, bar.used.settings)
            for name, edit in edits.items()
        }
        search = search_request.arguments(bar.used.settings)
        for name in edits:
            result = new[name].text, new[name].log_prob
            variable = f"with_{_variable(name)}"
            list_result(
                variable, result, edited_translation, translator, trace, hooks[name], **search
            )
        changed = [name for name in edits if new[name].text != unedited.text]
        names = f": {listing(changed)}" if changed else ""
        change = "changes" if len(changed) == 1 else "change"
        st.text(f"Here {len(changed)} of {len(edits)} edits {change} the translation{names}.")
        for name in edits:
            _candidate(name, bar, new[name], float(piece_log_p[name].sum()))
        if languages.source == PAIR_LANGUAGE:
            with st.container(key="word-order"):
                show_pair(bar)


def _variable(name: str) -> str:
    return name.replace(" ", "_")


def _candidate(name: str, bar: BarTranslation, new: Translation, bar_log_p: float) -> None:
    log_p, before, after = map(format_number, (new.log_prob, bar.translation.log_prob, bar_log_p))
    figures = f"log probability {log_p} · original translation: {before} → {after}"
    translation_line.show_candidate(new.text, bar.translation.text, figures, title=name)
    sentence_bar.show_notices_of(bar, new)


def _edited(translator: Translator, text: str, edit: Edit, settings: SearchSettings) -> Translation:
    return cached_results.translate_edited(translator, text, settings, edit.hooks(), repr(edit))


PAIR = ("The dog bites the man.", "The man bites the dog.")  # two sentences of the same pieces
PAIR_LANGUAGE = "English"  # source language that a model must have for them
_REMOVED = Edit("removed", ("encoder",))


def show_pair(bar: BarTranslation) -> None:
    """Translate both sentences with and without the encoder's positions, and draw the results."""
    st.subheader("Same words, another order", anchor=False)
    settings, without = SearchSettings(beam_size=bar.requested.beam_size), []
    for text in PAIR:
        plain = quoted(bar.translate(text).text)
        without.append(_edited(bar.translator, text, _REMOVED, settings).text)
        texts = (
            f"{quoted(text)} becomes {plain}",
            f"without encoder positions {quoted(without[-1])}.",
        )
        st.text(", ".join(texts))
    same = "both are the same sentence to the encoder."
    two = "this model still finds two different translations."
    st.text(f"Without positions, {same if len(set(without)) == 1 else two}")
    with st.container(horizontal=True, gap="small"):
        for text in PAIR:
            st.button(f"Use “{text}”", on_click=search_request.put_text, args=(text,))


_ROW, _LEAST = 22, 12  # CSS pixels of a token, and of the smallest readable label
_TALLEST = 900
_ALL_LABELS = 40  # pieces up to which each has a label on the axis


def input_figure(
    tokens: Sequence[str], parts: Mapping[str, AnyFloats], maximum: float
) -> "go.Figure":
    """Draw the parts of a stack's first input, `[position, d_model]` each, side by side."""
    shown = [escape(token) for token in display_tokens(tokens)]
    names = [f"{position}: {token}" for position, token in enumerate(shown)]
    drawn = positions.drawn_dimensions(next(iter(parts.values())).shape[1])
    dimensions = [f"dimension {dimension}" for dimension in drawn]
    hover = "position %{y}<br>%{x}<br>%{z:.4f}"
    height = min(110 + _ROW * len(tokens), _TALLEST)
    # a long sentence has a label for every few rows; the tooltip has all of them
    interval = -(-len(tokens) * _LEAST // (height - 110))
    labelled = list(range(0, len(tokens), interval))
    places = [positions.axis_place(n, len(tokens)) for n in labelled]
    texts = [shown[n] for n in labelled]
    return positions.maps(
        {
            name: positions.signed_map(part[:, drawn], maximum, hover=hover, x=dimensions, y=names)
            for name, part in parts.items()
        },
        across=positions.dimension_axis(drawn, most=4),
        down={"tickmode": "array", "tickvals": places, "ticktext": texts},
        height=height,
        # one title of all three, which fits a phone
    ).for_each_xaxis(lambda axis: axis.plotly_name == "xaxis2" or axis.update(title=None))


def pieces_chart(
    pieces: Sequence[str], curves: Mapping[str, AnyFloats], languages: Languages
) -> alt.Chart:
    """Draw log p of each piece of one translation, `[piece]` in nats, under each edit."""
    words = display_tokens(pieces)
    title = f"{capitalised(languages.name('target'))}: the subword being written"
    colors = axes.GREY, *axes.CURVE_COLORS[:3], *axes.CURVE_COLORS[4:]
    return forms.curves(
        forms.long_form("positions", "log_p", curves, place=range(len(pieces)), piece=words),
        axes.word_axis(words, title=title, labelLimit=180, labelOverlap=len(pieces) > _ALL_LABELS),
        alt.Y("log_p:Q", title="log probability of the subword", scale=alt.Scale(zero=True)),
        axes.curve_color("positions", list(curves), colors, labelLimit=320),
        width=1.5,
        dots=40,
        height=336 + 24 * len(curves),
        tooltip=forms.tips("positions", "piece", log_p=("", ".3f")),
    )
