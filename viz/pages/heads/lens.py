"""The lens of the Heads page: its menu, its weights and its explanation."""

from collections.abc import Callable

import streamlit as st

from transformer import AttentionTrace, Translator, attention
from transformer.analysis.lenses import AnyLens, alti, decomposition, gradient, lens_trace
from transformer.analysis.lenses.rollout import rollout
from transformer.analysis.lenses.value_zeroing import value_zeroing
from viz.app.cache.cached_results import identity, progress_bar, trace_identity
from viz.app.cache.memory import memo
from viz.app.chrome.explanations import sources
from viz.app.chrome.fields import choose_first_of_link
from viz.app.sentence import sentence_bar
from viz.draw.caption import LENS_NAMES, LENSES_BY_NAME, NORMS_BY_NAME

LENS, SECOND_LENS = "lens", "lens2"
"""Names in the URL."""

_HELP: dict[AnyLens, str] = {
    "weights": "what attention computes: each row sums to 1",
    "norm": "length of the vector that a head contributes from a token (Kobayashi et al. 2020)",
    "norm_layer_norm": "length of that vector after Add & norm (Kobayashi et al. 2021)",
    "norm_residual": "length of the sum of all heads' vectors and the residual, after LayerNorm "
    "(Kobayashi et al. 2021)",
    "alti": "how much closer a token brings a layer to its output; all heads (Ferrando et al. "
    "2022)",
    "rollout": "weights traced through all layers; all heads (Abnar and Zuidema 2020)",
    "gradient": "roughly how much the log probability of the translation depends on a weight "
    "(after Hao et al. 2021)",
    "value_zeroing": "how much a layer's output turns without the value of a token; all heads "
    "(Mohebbi et al. 2023)",
}

_DEFINITIONS: dict[AnyLens, tuple[str, Callable[..., object]]] = {
    "norm": (
        r"$\lVert \alpha_{ij}\, f(x_j) \rVert_2$ with $f(x) = (x W^V + b^V) W^O$, the length of "
        r"what head and key bring to the residual stream (Kobayashi et al. 2020, §3.2)",
        decomposition.norms_of_heads,
    ),
    "norm_layer_norm": (
        r"$\lVert \alpha_{ij}\, \mathrm{LN}(f(x_j)) \rVert_2$ with $f(x) = (x W^V + b^V) W^O$, "
        r"the length of what head and key bring to the output of Add & norm, whose mean and "
        r"deviation are held fixed (Kobayashi et al. 2021, §3)",
        decomposition.norms_of_heads_after_layer_norm,
    ),
    "norm_residual": (
        r"$\lVert \mathrm{LN}(\textstyle\sum_h \alpha_{ij}\, f(x_j) + [i = j]\, x_i) \rVert_2$ "
        r"with $f(x) = (x W^V + b^V) W^O$, the length of what a key brings through all heads to "
        r"the output of Add & norm, whose mean and deviation are held fixed, with the residual on "
        r"the diagonal of self-attention; in cross-attention it is not drawn (Kobayashi et al. "
        r"2021, §3)",
        decomposition.norms_of_layer_with_residual,
    ),
    "alti": (
        r"$\max(0, \lVert y_i \rVert_1 - \lVert y_i - T_{ij} \rVert_1)$: how much nearer to the "
        r"output $y_i$ comes what key $j$ brings through all heads of a layer, $T_{ij}$ (ALTI, "
        r"Ferrando et al. 2022, §3). The residual counts on the diagonal of self-attention; its "
        r"share in cross-attention is not drawn",
        alti.contributions,
    ),
    "rollout": (
        r"$R_l = (\tfrac{1}{2} A_l + \tfrac{1}{2} I)\, R_{l-1}$, where $A_l$ is the mean of the "
        r"heads of layer $l$: weights alone, followed down to the input (Abnar and Zuidema 2020, "
        r"§3). Into cross-attention it is continued here by $S_l = \tfrac{1}{2} C_l R + "
        r"\tfrac{1}{2} \hat{A}_l S_{l-1}$, with the mean $C_l$ of the layer's cross heads, the "
        r"encoder's whole rollout $R$, and $\hat{A}_l = \tfrac{1}{2} A_l + \tfrac{1}{2} I$ of the "
        r"decoder's self-attention",
        rollout,
    ),
    "gradient": (
        r"$|A \odot \partial \log P(y \mid x) / \partial A|$: what the log-probability of the "
        r"whole translation, later words included, would lose without this weight, to first "
        r"order, without its sign; Hao et al. (2021) integrate it over weights scaled from 0 to "
        r"1, here it is taken at the weights themselves",
        gradient.gradient_times_attention,
    ),
    "value_zeroing": (
        r"$1 - \cos(y_i,\, y_i^{\,v_j = 0})$: how much the output $y_i$ of the whole layer turns "
        r"when the value of key $j$ is zero in all heads (Mohebbi et al. 2023, §3)",
        value_zeroing,
    ),
}


def pick_lens(name: str, label: str = "Lens", *, lens: AnyLens = "weights") -> AnyLens:
    """Draw the menu of lenses, and for norms the menu of what is measured."""
    names = list(LENSES_BY_NAME)
    choose_first_of_link(name, LENS_NAMES[lens])
    choice = st.selectbox(
        label,
        names,
        index=names.index(LENS_NAMES[lens]),
        key=name,
        bind="query-params",
        width=160,
        help="  \n".join(
            f"**{LENS_NAMES[option]}**: {description}" for option, description in _HELP.items()
        ),
    )
    if LENSES_BY_NAME[choice] != "norm":
        return LENSES_BY_NAME[choice]
    measured = st.selectbox(
        "Norms",
        list(NORMS_BY_NAME),
        key=f"{name}_norms",
        bind="query-params",
        width=140,
        label_visibility="collapsed",  # the two menus read as one phrase
    )
    return NORMS_BY_NAME[measured]


def through_lens(
    name: AnyLens, trace: AttentionTrace, translator: Translator | None = None
) -> AttentionTrace:
    """Compute a trace through a lens, cached, by its own model or that of the sentence bar."""
    if name == "weights":
        return trace
    model = translator or sentence_bar.drawn_from().translator
    key = "lens", name, identity(model), trace_identity(trace)

    def compute() -> AttentionTrace:
        with progress_bar(f"Lens {LENS_NAMES[name]}") as progress:
            return lens_trace(name, model, trace, progress=progress)

    return memo(key, compute)


def explanation(name: AnyLens) -> str:
    """Describe a square of the map under a lens, with source and line of code, in Markdown."""
    if name == "weights":
        return r"A row is $\mathrm{softmax}(QK^\top/\sqrt{d_k})$ of equation 1." + sources(
            "§3.2.1, §3.2.2", attention.attention_scores, attention.MultiHeadAttention.attend
        )
    definition, function = _DEFINITIONS[name]
    return (
        f"A square is its share in its row of {definition}. It says where this lens sees "
        f"something, not why the model wrote what it wrote." + sources("", function)
    )
