"""The steps of one head's arithmetic: equation, shape and line of code of each (§3.2)."""

from transformer import Kind, TransformerConfig, attention, layers
from transformer.paper.scaling import Scale, factor
from viz.app.chrome.explanations import source_line
from viz.draw.inside_head import WalkStep
from viz.draw.labels import shown_scale

_ATTEND = attention.MultiHeadAttention.attend
_SCORES = attention.attention_scores

_SCALED: dict[Scale, str] = {
    "÷ √d_k": r"\frac{%s}{\sqrt{d_k}}",
    "none": "%s",
    "× √d_k": r"%s · \sqrt{d_k}",
}
"""A product by its scale, in LaTeX."""
_READS: dict[Kind, str] = {
    "encoder_self": "self.self_attention(x, x, mask)",
    "decoder_self": "self.self_attention.attend(",
    "cross": "self.cross_attention.attend(",
}
"""Beginning of the line that calls a kind of attention."""


def walk_steps(
    config: TransformerConfig, kind: Kind, row_name: str, keys: int, scale: Scale
) -> list[WalkStep]:
    """Describe the whole computation of one row over `keys` tokens, and then its nine steps."""
    whole = WalkStep(
        "All",
        rf"softmax ( {_SCALED[scale] % 'Q K^T'} ) V",
        f"{keys} keys of width {config.d_k}; the result is {config.d_model} numbers, added to the "
        "residual stream",
        "One row of attention, from the residual stream through the head and back.",
        _ATTEND.__qualname__,
    )
    layer = layers.EncoderLayer if kind == "encoder_self" else layers.DecoderLayer
    x = WalkStep(
        "x",
        rf"x ∈ ℝ^{config.d_model}",
        f"x: {config.d_model}",
        f"The residual stream at {row_name}: the embedding plus what every sub-layer before added.",
        source_line(layer.forward, _READS[kind]),
    )
    weights = _weights(config, kind, keys, scale)
    return [whole, x, _projections(config, kind, keys), *weights, *_outputs(config, keys)]


def _projections(config: TransformerConfig, kind: Kind, keys: int) -> WalkStep:
    m, key_source = "x", "the same stream"
    if kind == "cross":
        m, key_source = "m", "the encoder’s output m, the memory (z in §3)"
    q, k, v = (f"W^{name}{_bias(config, name)}" for name in "QKV")
    biases = "with a bias each" if config.attention_bias else "without bias"
    return WalkStep(
        "q, k, v",
        f"q = x {q} , ~ k_j = {m}_j {k} , ~ v_j = {m}_j {v}",
        f"q: {config.d_k}; k: {keys} × {config.d_k}; v: {keys} × {config.d_v}",
        f"Three projections {biases}; keys and values come from {key_source}.",
        source_line(_ATTEND, "self.W_Q(x)"),
    )


def _weights(config: TransformerConfig, kind: Kind, keys: int, scale: Scale) -> list[WalkStep]:
    """Describe the steps from q and k to the weights."""
    scaled = "This is neither the paper's scale nor the one this model was trained with."
    if scale == "÷ √d_k":
        scaled = "As in the paper, the sum of many products is divided by the root of their number."
    hidden = "Only padding is hidden, and a single sentence has none."
    if kind == "decoder_self":
        hidden = "A decoder position sees no later one (§3.2.3)."
    return [
        WalkStep(
            "q · k",
            "q · k_j = ∑_c q_c k_{j c}",
            f"{keys} × {config.d_k} products, {keys} sums",
            "Multiply component by component, then sum. This compatibility function is large where "
            "query and key point the same way.",
            source_line(_SCORES, "k.transpose"),
        ),
        WalkStep(
            "scale",
            f"s_j = {_SCALED[scale] % 'q · k_j'}",
            f"{keys} numbers, times {factor(scale, config.d_k):.4g}",
            scaled,
            source_line(_SCORES, "math.sqrt"),
        ),
        WalkStep(
            "mask",
            r"s_j = − ∞ \text{ where hidden}",
            f"{keys} values, True or False",
            hidden,
            source_line(_SCORES, "masked_fill"),
        ),
        WalkStep(
            "softmax",
            r"α_j = \frac{exp s_j}{∑_i exp s_i}",
            f"{keys} weights, which sum to 1",
            "The scores become weights from 0 to 1. A hidden token gets exactly 0.",
            source_line(_ATTEND, "scores.softmax"),
        ),
    ]


def _outputs(config: TransformerConfig, keys: int) -> list[WalkStep]:
    """Describe the steps from the weights back into the residual stream."""
    d_model, d_v, h = config.d_model, config.d_v, config.h
    bias = " The bias of Wᴼ belongs to no head; here it counts with the other heads."
    return [
        WalkStep(
            "Σ α v",
            "z = ∑_j α_j v_j",
            f"{keys} × {d_v} to {d_v}",
            "Each value vector is multiplied by its weight; their sum is the head's output.",
            source_line(_ATTEND, "pattern.to(v.dtype) @ v"),
        ),
        WalkStep(
            "Wᴼ",
            "Concat ( z_1 , … , z_h ) W^O = ∑_i z_i W_i^O",
            f"{h} × {d_v} numbers side by side, times a {h * d_v} × {d_model} matrix",
            "The outputs of all heads are joined and multiplied by Wᴼ, which gives one vector per "
            "head. The bars show their lengths.",
            source_line(_ATTEND, "self.W_O(z"),
        ),
        WalkStep(
            "+ x",
            f"LayerNorm ( x + ∑_i z_i W_i^O{_bias(config, 'O')} )",
            f"{d_model} numbers, rescaled by LayerNorm",
            "The output is added to x and normalised. The next sub-layer reads the result."
            + bias * config.attention_bias,
            source_line(layers.AddAndNorm.forward, "self.hook_sum("),
        ),
    ]


def _bias(config: TransformerConfig, projection: str) -> str:
    return f" + b^{projection}" if config.attention_bias else ""


def scale_text(scale: Scale) -> str:
    """Format the scale over a column, such as `÷ √d_k`."""
    return "× 1" if scale == "none" else shown_scale(scale)
