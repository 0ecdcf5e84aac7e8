"""The steps of one head's arithmetic: equation, shape and line of code of each (§3.2)."""

from transformer import Kind, TransformerConfig, attention, layers
from transformer.paper.scaling import Scale, factor
from viz.app.chrome.explanations import source_line
from viz.draw.inside_head import (
    Node,
    WalkStep,
    fraction,
    root,
    row,
    sub,
    sub_sup,
    sum_over,
    sup,
)
from viz.draw.labels import shown_scale

_D_K = sub("d", "k")
_ATTEND = attention.MultiHeadAttention.attend


def walk_steps(
    config: TransformerConfig,
    kind: Kind,
    row_name: str,
    keys: int,
    scale: Scale,
) -> list[WalkStep]:
    """Describe the whole computation of one row over `keys` tokens, and then its nine steps."""
    d_model, d_k, d_v, h = config.d_model, config.d_k, config.d_v, config.h
    m, key_source = "x", "the same stream"
    if kind == "cross":
        m, key_source = "m", "the encoder’s output m, the memory (z in §3)"
    layer = layers.EncoderLayer if kind == "encoder_self" else layers.DecoderLayer
    source_text = {
        "encoder_self": "self.self_attention(x, x, mask)",
        "decoder_self": "self.self_attention.attend(",
        "cross": "self.cross_attention.attend(",
    }[kind]
    q, k, v, alpha, s = "q", sub("k", "j"), sub("v", "j"), sub("α", "j"), sub("s", "j")

    def bias(projection: str) -> "tuple[Node | str, ...]":
        return ("+", sup("b", projection)) if config.attention_bias else ()

    with_bias, and_bias = "without bias", ""
    if config.attention_bias:
        with_bias = "with a bias each"
        and_bias = " The bias of Wᴼ belongs to no head; here it counts with the other heads."
    return [
        WalkStep(
            "All",
            row("softmax", "(", _scaled(row("Q", sup("K", "T")), scale), ")", "V"),
            f"{keys} keys of width {d_k}; the result is {d_model} numbers, added to the residual "
            "stream",
            "One row of attention, from the residual stream through the head and back.",
            _ATTEND.__qualname__,
        ),
        WalkStep(
            "x",
            row("x", "∈", sup("ℝ", str(d_model))),
            f"x: {d_model}",
            f"The residual stream at {row_name}: the embedding plus what every sub-layer before "
            "added.",
            source_line(layer.forward, source_text),
        ),
        WalkStep(
            "q, k, v",
            row(
                q, "=", "x", sup("W", "Q"), *bias("Q"), ",", " ",
                k, "=", sub(m, "j"), sup("W", "K"), *bias("K"), ",", " ",
                v, "=", sub(m, "j"), sup("W", "V"), *bias("V"),
            ),
            f"q: {d_k}; k: {keys} × {d_k}; v: {keys} × {d_v}",
            f"Three projections {with_bias}; keys and values come from {key_source}.",
            source_line(_ATTEND, "self.W_Q(x)"),
        ),
        WalkStep(
            "q · k",
            row(q, "·", k, "=", sum_over("c"), sub("q", "c"), sub("k", row("j", "c"))),
            f"{keys} × {d_k} products, {keys} sums",
            "Multiply component by component, then sum. This compatibility function is large where "
            "query and key point the same way.",
            source_line(attention.attention_scores, "k.transpose"),
        ),
        WalkStep(
            "scale",
            row(s, "=", _scaled(row(q, "·", k), scale)),
            f"{keys} numbers, times {factor(scale, d_k):.4g}",
            "As in the paper, the sum of many products is divided by the root of their number."
            if scale == "÷ √d_k"
            else "This is neither the paper's scale nor the one this model was trained with.",
            source_line(attention.attention_scores, "math.sqrt"),
        ),
        WalkStep(
            "mask",
            row(s, "=", "−", "∞", ("mtext", " where hidden")),
            f"{keys} values, True or False",
            "A decoder position sees no later one (§3.2.3)."
            if kind == "decoder_self"
            else "Only padding is hidden, and a single sentence has none.",
            source_line(attention.attention_scores, "masked_fill"),
        ),
        WalkStep(
            "softmax",
            row(
                alpha, "=",
                fraction(row("exp", s), row(sum_over("i"), "exp", sub("s", "i"))),
            ),
            f"{keys} weights, which sum to 1",
            "The scores become weights from 0 to 1. A hidden token gets exactly 0.",
            source_line(_ATTEND, "scores.softmax"),
        ),
        WalkStep(
            "Σ α v",
            row("z", "=", sum_over("j"), alpha, v),
            f"{keys} × {d_v} to {d_v}",
            "Each value vector is multiplied by its weight; their sum is the head's output.",
            source_line(_ATTEND, "pattern.to(v.dtype) @ v"),
        ),
        WalkStep(
            "Wᴼ",
            row(
                "Concat", "(", sub("z", "1"), ",", "…", ",", sub("z", "h"), ")", sup("W", "O"), "=",
                sum_over("i"), sub("z", "i"), sub_sup("W", "i", "O"),
            ),
            f"{h} × {d_v} numbers side by side, times a {h * d_v} × {d_model} matrix",
            "The outputs of all heads are joined and multiplied by Wᴼ, which gives one vector per "
            "head. The bars show their lengths.",
            source_line(_ATTEND, "self.W_O(z"),
        ),
        WalkStep(
            "+ x",
            row(
                "LayerNorm", "(", "x", "+", sum_over("i"), sub("z", "i"), sub_sup("W", "i", "O"),
                *bias("O"), ")",
            ),
            f"{d_model} numbers, rescaled by LayerNorm",
            "The output is added to x and normalised. The next sub-layer reads the result."
            + and_bias,
            source_line(layers.AddAndNorm.forward, "self.hook_sum("),
        ),
    ]  # fmt: skip


def scale_text(scale: Scale) -> str:
    """Format the scale over a column, such as `÷ √d_k`."""
    return "× 1" if scale == "none" else shown_scale(scale)


def _scaled(dot: Node, scale: Scale) -> Node:
    by_scale: dict[Scale, Node] = {
        "÷ √d_k": fraction(dot, root(_D_K)),
        "none": dot,
        "× √d_k": row(dot, "·", root(_D_K)),
    }
    return by_scale[scale]
