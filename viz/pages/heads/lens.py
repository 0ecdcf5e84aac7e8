"""The lens through which the Heads page sees a trace: its menu, its numbers, its explanation."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from transformer import AttentionTrace, Translator
from transformer.analysis.lenses import LensName
from transformer.analysis.lenses.alti import contributions
from transformer.analysis.lenses.gradient import gradient_times_attention
from transformer.analysis.lenses.lensed import lensed
from transformer.analysis.lenses.norm_lens import head_norms
from transformer.analysis.lenses.rollout import rollout
from transformer.analysis.lenses.value_zeroing import value_zeroing
from transformer.attention import MultiHeadAttention, attention_scores
from viz.app import sentence_bar
from viz.app.cancellation import end_if_unwanted
from viz.app.explanations import code_line
from viz.app.memory import memo
from viz.draw.lens_words import LENS_NAMES, LENSES_BY_NAME

LENS, SECOND_LENS = "lens", "lens2"
"""Names in the URL."""

SOON = 0.5
"""Seconds after which a computation shows how far it is."""

_HELP: dict[LensName, str] = {
    "weights": "what the softmax gives (§3.2.1)",
    "norm": "how long the vector is that a head brings from a token (Kobayashi et al. 2020)",
    "alti": "how much nearer a token brings a layer's output; all heads (Ferrando et al. 2022)",
    "rollout": "weights followed through all layers; all heads (Abnar and Zuidema 2020)",
    "gradient": "what log P of the translation would lose without a weight, to first order, "
    "without its sign (Hao et al. 2021)",
    "value_zeroing": "how much a layer's output turns without the value of a token; all heads "
    "(Mohebbi et al. 2023)",
}

_SAYS: dict[LensName, tuple[str, Callable[..., object]]] = {
    "norm": (
        r"$\lVert \alpha_{ij}\, x_j W^V W^O \rVert_2$, the length of what head and key bring to "
        r"the residual stream (Kobayashi et al. 2020, §3.2)",
        head_norms,
    ),
    "alti": (
        r"$\max(0, \lVert y_i \rVert_1 - \lVert y_i - T_{ij} \rVert_1)$: how much nearer to the "
        r"output $y_i$ comes what key $j$ brings through all heads of a layer, $T_{ij}$ (ALTI, "
        r"Ferrando et al. 2022, §3). The residual counts on the diagonal of self-attention; its "
        r"share in cross-attention is not drawn",
        contributions,
    ),
    "rollout": (
        r"$R_l = (\tfrac{1}{2} A_l + \tfrac{1}{2} I)\, R_{l-1}$, where $A_l$ is the mean of the "
        r"heads of layer $l$: weights alone, followed down to the input (Abnar and Zuidema 2020, "
        r"§3)",
        rollout,
    ),
    "gradient": (
        r"$|A \odot \partial \log P(y \mid x) / \partial A|$: what the log-probability of the "
        r"whole translation, later words included, would lose without this weight, to first "
        r"order, without its sign (Hao et al. 2021, equation 1)",
        gradient_times_attention,
    ),
    "value_zeroing": (
        r"$1 - \cos(y_i,\, y_i^{\,v_j = 0})$: how much the output $y_i$ of the whole layer turns "
        r"when the value of key $j$ is zero in all heads (Mohebbi et al. 2023, §3)",
        value_zeroing,
    ),
}


def pick_lens(name: str, label: str = "Lens", *, lens: LensName = "weights") -> LensName:
    """Draw the menu of the lenses.

    Args:
        name: in the URL.
        lens: chosen at first. A link that names none means this one.
    """
    names = list(LENSES_BY_NAME)
    chosen = st.selectbox(
        label,
        names,
        index=names.index(LENS_NAMES[lens]),
        key=name,
        bind="query-params",
        width=214,
        help="  \n".join(f"**{LENS_NAMES[lens]}**: {text}" for lens, text in _HELP.items()),
    )
    return LENSES_BY_NAME[chosen]


def through_lens(
    name: LensName, trace: AttentionTrace, translator: Translator | None = None
) -> AttentionTrace:
    """What `lensed` makes of a trace, with its progress where that takes long; or remember.

    Args:
        translator: the one that made the trace; that of the sentence bar unless given.

    Raises:
        InputError: if the trace does not fit the model.
        CheckpointError: if what is computed is not finite.
    """
    if name == "weights":
        return trace
    made_by = translator or translator_of_bar()
    pieces = tuple(piece.id for piece in (*trace.source_pieces, *trace.target_pieces))
    key = ("lens", name, made_by.checksum, trace.source, trace.target, pieces)
    return memo(key, lambda: _compute(name, made_by, trace))


def translator_of_bar() -> Translator:
    """The one that made the trace of this run."""
    found = sentence_bar.translated()
    assert found is not None  # there is a trace
    return found[0]


def _compute(name: LensName, translator: Translator, trace: AttentionTrace) -> AttentionTrace:
    begun, place = time.monotonic(), st.empty()

    def progress(done: int, of: int) -> None:
        end_if_unwanted()
        if time.monotonic() - begun > SOON:
            place.progress(done / of, f"Lens {LENS_NAMES[name]}: {done} of {of} sub-layers")

    found = lensed(name, translator, trace, progress=progress)
    place.empty()
    return found


def explanation(name: LensName) -> str:
    """What a square is under a lens, with its source and its line of code, in Markdown."""
    if name == "weights":
        return (
            f"A row is $\\mathrm{{softmax}}(QK^\\top/\\sqrt{{d_k}})$ of equation 1 in one of the "
            f"heads of §3.2.2: {code_line(attention_scores)}, "
            f"{code_line(MultiHeadAttention.attend)}."
        )
    says, function = _SAYS[name]
    return (
        f"A square is its share in its row of {says}: {code_line(function)}. It says where this "
        f"lens sees something, not why the model wrote what it wrote."
    )
