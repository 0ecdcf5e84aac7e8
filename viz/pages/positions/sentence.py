"""The views of the positions page on the sentence in the bar: the sum at the foot, and edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer import AttentionTrace, Translation, Translator
from transformer.analysis.paper.positions import (
    Edit,
    Stack,
    embedding_parts,
    log_probs,
    moved_log_probs,
    rotation,
    shuffled_order,
)
from transformer.embedding import Embedding
from viz.app.cache import cached_results
from viz.app.cache.memory import memo_per_trace
from viz.app.chrome.charts import altair_chart
from viz.app.chrome.explanations import code_line, explain
from viz.app.chrome.fields import choose_one, whole_number
from viz.app.sentence import sentence_bar
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.draw.formatting import format_number, listing
from viz.draw.labels import display_tokens
from viz.pages.positions.sentence_charts import foot_figure, moved_chart, pieces_chart
from viz.pages.positions.word_order import PAIR_LANGUAGE, show_pair

STACK = "pe_stack"
"""Name in the URL of the stack that is looked at; the learned positions share it."""

STEPS = (0, *(2**n for n in range(15)))
"""By how many positions a sentence is moved on: to a few, and far beyond any sentence."""

MOVED: dict[str, tuple[Stack, ...]] = {
    "both stacks moved": ("encoder", "decoder"),
    "encoder alone moved": ("encoder",),
}
AS_IT_IS = "as they are"


def pick_stack() -> Stack:
    """Draw the choice between the two stacks."""
    return choose_one("Stack", get_args(Stack), STACK, labelled=True)


def sentence() -> None:
    """Embedding, position, and their sum, of the user's sentence."""
    stack = pick_stack()
    if (bar := sentence_bar.traced()) is None:
        return
    translator, _, trace = bar
    at_foot = memo_per_trace(
        trace, ("foot", stack), lambda: embedding_parts(translator.model, trace, stack)
    )
    tokens = trace.source_tokens if stack == "encoder" else trace.decoder_tokens
    titles = ("token", "+ position", "= sum")
    st.plotly_chart(
        # scaled for the positions, which are smaller than the tokens
        foot_figure(
            tokens,
            dict(zip(titles, at_foot, strict=True)),
            2 * float(np.abs(at_foot.positions).max()),
        ),
        key="pe_foot",
        alt="Token embeddings, positions and their sum, tokens down and dimensions across.",
    )
    numbers, words = st.columns([1, 2], gap="large")
    with numbers, st.container(horizontal=True, gap="medium"):
        for label, values in zip(("RMS token", "position", "sum"), at_foot, strict=True):
            st.metric(label, f"{_rms(values):.4f}", width="content")
    with words:
        waves = translator.model.config.positions == "sinusoidal"
        explain(
            f"The first layer reads the embedding times √d_model (§3.4) plus the position (§3.5): "
            f"{code_line(Embedding.forward)}. RMS is the root of the mean square over all numbers "
            "of a map"
            + (
                ": a position has 1/√2 = 0.7071, as sin² + cos² = 1 in each pair. "
                if waves
                else ". The positions of this model are learnt. "
            )
            + "Purple is above 0, olive below, on one scale for all three; its ends hold what is "
            "larger, too."
        )


def beyond() -> None:
    """The sentence at places of the encoding where the model has never seen one."""
    with st.container(width=560):
        k = st.select_slider(
            "Positions shifted by k", STEPS, 16, key="pe_moved", bind="query-params"
        )
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    config = translator.model.config
    if config.positions != "sinusoidal":
        st.text(
            f"The positions of this model are learnt: its table has {config.max_length} rows, "
            "and nothing says what would stand beyond. Choose a model with sinusoidal positions."
        )
        return
    found = {
        name: _moved(translator, trace, stacks).sum(-1)  # [step]
        for name, stacks in MOVED.items()
    }
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        altair_chart(
            moved_chart(STEPS, found, k),
            key="pe_beyond",
            alt="The probability of the translation over the distance that its positions moved.",
        )
        explain(
            f"The rotation of §3.5 puts the sentence k positions later: {code_line(rotation)}. All "
            f"distances within it stay what they were, and yet the model has only learnt the "
            f"places where its training sentences stood, of which its files do not tell the "
            f"length; it takes up to {config.max_length:,} pieces. The curves are log p of the "
            f"translation in the bar; beside them stands what the model now writes. {MARKS}"
        )
    with beside:
        for name, stacks in MOVED.items():
            edit, of_old = Edit("moved", stacks, k), found[name][STEPS.index(k)]
            _candidate(f"{name} by {k:,}", translator, translation, edit, of_old)


def without() -> None:
    """The translation with positions removed or shuffled."""
    seed = whole_number("Seed of the shuffle", "pe_seed", 0, 9_999, 0)
    if (bar := sentence_bar.traced()) is None:
        return
    translator, translation, trace = bar
    edits = {
        "encoder removed": Edit("removed", ("encoder",)),
        "encoder shuffled": Edit("shuffled", ("encoder",), seed),
        "decoder removed": Edit("removed", ("decoder",)),
        "both removed": Edit("removed", ("encoder", "decoder")),
    }
    found = {name: _log_p(translator, trace, edit) for name, edit in edits.items()}
    languages = trace.languages
    picture, beside = st.columns([2, 1], gap="large")
    with picture:
        altair_chart(
            pieces_chart(trace.target_tokens, {AS_IT_IS: trace.log_probs, **found}, languages),
            key="pe_without",
            alt="The probability of each piece of the translation under each edit.",
        )
        order = shuffled_order(len(trace.source_tokens), seed)
        read = [display_tokens(trace.source_tokens)[token] for token in np.argsort(order)]
        with st.container(gap=None):
            st.text("With the positions shuffled, the encoder reads the pieces in this order:")
            st.text(" ".join(read))
        explain(
            f"Attention alone knows no order (§3.5): without what the positions add, the encoder "
            f"cannot tell two sentences of the same pieces apart, {code_line(Embedding.forward)}. "
            f"The decoder can still guess where it is, because its mask shows each piece the ones "
            f"before it (§3.2.3), and which of its guesses is {languages.sentence('target')}. "
            f"The curves are log p of each piece of the translation in the bar; beside them stands "
            f"what the model writes instead. {MARKS}"
        )
    with beside:
        of_old = {name: float(log_p.sum()) for name, log_p in found.items()}
        st.text(_measured(translator, translation, edits, of_old))
        for name, edit in edits.items():
            _candidate(name, translator, translation, edit, of_old[name])
        if languages.source == PAIR_LANGUAGE:
            show_pair(translator)


def _measured(
    translator: Translator,
    translation: Translation,
    edits: Mapping[str, Edit],
    of_old: Mapping[str, float],
) -> str:
    """What the edits did to this sentence; the translation in the bar may be written by hand."""
    own = cached_results.search(translator, translation.source, sentence_bar.settings())
    changed = [
        name
        for name, edit in edits.items()
        if _edited(translator, translation, edit).text != own.text
    ]
    which = f", {listing(changed)}" if changed else ""
    change = "changes" if len(changed) == 1 else "change"
    log_p = translation.log_prob
    most = max(of_old, key=lambda name: abs(of_old[name] - log_p))
    return (
        f"On this sentence {len(changed)} of {len(edits)} edits {change} what the model "
        f"writes{which}. The log p of the translation in the bar is {format_number(log_p)} as the "
        f"model is, and changes most, to {format_number(of_old[most])}, with {most}."
    )


def _candidate(
    name: str, translator: Translator, translation: Translation, edit: Edit, of_old: float
) -> None:
    """What the model writes under an edit, in the form of the translate page's candidates."""
    new = _edited(translator, translation, edit)
    log_prob, log_prob_of_old = format_number(new.log_prob), format_number(of_old)
    show_candidate(
        new.text,
        translation.text,
        f"log p {log_prob} · of the translation in the bar {log_prob_of_old}",
        title=name,
    )
    sentence_bar.show_notices_of(new)


def _edited(translator: Translator, translation: Translation, edit: Edit) -> Translation:
    return cached_results.translate_edited(
        translator, translation.source, sentence_bar.settings(), edit.hooks(), repr(edit)
    )


def _log_p(translator: Translator, trace: AttentionTrace, edit: Edit) -> npt.NDArray[np.float32]:
    return memo_per_trace(
        trace, ("log_probs", edit), lambda: log_probs(translator.model, trace, edit)
    )


def _moved(
    translator: Translator, trace: AttentionTrace, stacks: tuple[Stack, ...]
) -> npt.NDArray[np.float32]:
    return memo_per_trace(
        trace, ("moved", stacks), lambda: moved_log_probs(translator.model, trace, stacks, STEPS)
    )


def _rms(values: npt.NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(values.astype(np.float64) ** 2)))
