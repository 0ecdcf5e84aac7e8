"""The boxes of Figure 1: name, title, equation, shapes, parameters, code and pages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from transformer import Kind, TransformerConfig, attention, kinds, layers, model
from transformer.config import Activation
from transformer.embedding import Embedding, sinusoidal_positions
from transformer.paper import flow, positions
from transformer.text.languages import Languages, Side
from transformer.text.tokenizer import Tokenizer
from viz.draw import labels

ACTIVATIONS: dict[Activation, tuple[str, str]] = {
    "relu": (r"\max(0,\, xW_1 + b_1)", "a ReLU between them"),
    "swish": (
        r"\text{swish}(xW_1 + b_1)",
        "swish, z · σ(z), between them (the paper: ReLU)",
    ),
    "gelu": (
        r"\text{GELU}(xW_1 + b_1)",
        "GELU, z · Φ(z), between them (the paper: ReLU)",
    ),
}
"""The first linear map in LaTeX, and a description of the activation."""


@dataclass(frozen=True)
class Box:
    """One box of the drawing."""

    name: str  # name in the URL and in the drawing's plan; begins with the stack
    title: str  # text on the box
    heading: str  # title where it is open
    equation: str  # equation in LaTeX
    text: str  # description in Markdown, one or two sentences
    code: tuple[Callable[..., object], ...]  # functions that compute it
    paper: str = ""  # sections of the paper that describe it; "" for none
    # name of the drawn value in `Flow.values`, with `{}` for the layer; "" for tokens
    value: str = ""
    module: str = ""  # dotted name of the module or parameter; "" without parameters
    pages: tuple[str, ...] = ()  # URL paths of the pages that explain it
    kind: Kind | None = None  # kind of attention, which gives the colour
    # further values with a displayed shape: title and name in `Flow.values`
    inside: tuple[tuple[str, str], ...] = ()

    @property
    def stack(self) -> positions.Stack:
        """Stack whose tokens are its rows."""
        return "encoder" if self.name.startswith("encoder") else "decoder"

    @property
    def layered(self) -> bool:
        """True if each layer has such a box."""
        return "{}" in self.value


def matrices(config: TransformerConfig) -> str:
    """Say which of the embeddings and the projection share a matrix, as all do in the paper."""
    if config.own_projection:
        return (
            "Here source, target and the projection before the softmax have a matrix each; in the "
            "paper, all share one."
        )
    if config.source_vocab_size is not None:
        return (
            "Here the source has its own matrix, and the projection before the softmax shares that "
            "of the target; in the paper, all share one."
        )
    return "Both embeddings and the projection before the softmax share one matrix."


def _foot(stack: positions.Stack, title: str, text: str, config: TransformerConfig) -> list[Box]:
    embedding = f"{stack}.embedding"
    scaled = config.scale_embedding
    root = r"\sqrt{d_\text{model}}" if scaled else ""
    times = ", times √d_model." if scaled else "; the paper multiplies it by √d_model."
    learned, encoding = config.positions == "learned", "waves of different length"
    if learned:
        encoding = "a learned row for each position, as in row (E) of Table 3"
    effect = "the order of the tokens is unknown"
    if stack == "decoder":
        effect = "only the mask tells something about the order of the tokens"
    return [
        Box(
            name=f"{stack}.tokens",
            title=title,
            heading=f"What the {stack} reads",
            equation=r"\text{text} \to (x_1, \ldots, x_n)" if stack == "encoder"
            else r"(\text{start}, y_1, \ldots, y_{m-1})",
            text=text,
            paper="§5.1" if stack == "encoder" else "§3.1",
            code=(Tokenizer.encode,) if stack == "encoder" else (model.Transformer.decode,),
            pages=() if stack == "encoder" else ("masks",),
        ),
        Box(
            name=f"{stack}.embedding",
            title="Embedding",
            heading=f"Embedding of the {stack}",
            value=f"{embedding}.hook_tokens",
            module="shared_embedding",
            equation=r"E[x] \cdot \sqrt{d_\text{model}}" if scaled else "E[x]",
            text=f"Each token takes its row of a table{times} {matrices(config)}",
            paper="§3.4",
            code=(Embedding.forward,),
        ),
        Box(
            name=f"{stack}.positions",
            title="Positions",
            heading=f"Positions of the {stack}",
            value=f"{embedding}.hook_positions",
            module=f"{embedding}.positions",
            equation="P[pos]" if learned
            else r"\sin\!\left(pos / 10000^{2i/d_\text{model}}\right),\quad \cos(\ldots)",
            text=f"The place of each token: {encoding}. Without positions, {effect}.",
            paper="§3.5",
            code=(Embedding.__init__,) if learned else (sinusoidal_positions,),
            pages=("positions",),
        ),
        Box(
            name=f"{stack}.sum",
            title="Sum",
            heading=f"What the first layer of the {stack} reads",
            value=f"{embedding}.hook_sum",
            equation=rf"\text{{Dropout}}(E[x]{root} + PE)",
            text="The sum of token and position; in training, dropout follows.",
            paper="§3.5, §5.4",
            code=(Embedding.forward,),
            pages=("positions",),
        ),
    ]  # fmt: skip


def _attention(kind: Kind, title: str, text: str, config: TransformerConfig, *pages: str) -> Box:
    module = kinds.attention_name(kind, 0).replace(".0.", ".{}.")
    stack, _, _, name = module.split(".")
    if config.attention_bias:
        text += " Here the projections to Q, K and V and after the heads have biases; "
        text += "the paper has none."
    return Box(
        name=f"{stack}.{name}",
        title=title,
        heading=f"{title} of the {stack}",
        value=f"{module}.hook_pattern",
        module=module,
        equation=r"\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        text=text,
        paper="§3.2.2, §3.2.3",
        code=(attention.attention_scores, attention.MultiHeadAttention.attend),
        pages=("heads", "inside", *pages),
        kind=kind,
        inside=tuple((x, f"{module}.hook_{x.lower()}") for x in ("Q", "K", "V")),
    )


def _norm(stack: positions.Stack, name: str, after: str) -> Box:
    module, memory = f"{stack}.layers.{{}}.{name}_norm", ""
    if (stack, name) == ("encoder", "feed_forward"):
        memory = (
            " After the last layer, this is the memory z = (z₁, …, zₙ), which the decoder reads."
        )
    return Box(
        name=f"{stack}.{name}_norm",
        title="Add & norm",
        heading=f"Add & norm after {after} of the {stack}",
        value=f"{module}.hook_normalised",
        module=module,
        equation=r"\begin{aligned} &\text{LayerNorm}(r), \quad r = x + \text{Sublayer}(x) \\ "
        r"&= \gamma \odot \frac{r - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta \end{aligned}",
        text="Adds the input of the sub-layer to its output: easy, as all sub-layers give d_model "
        "numbers. Then normalises each token separately (post-norm): μ and σ² are the mean and the "
        "variance (÷ d_model) of its own numbers." + memory,
        paper="§3.1",
        code=(layers.AddAndNorm.forward,),
    )


def _feed_forward(stack: positions.Stack, activation: Activation) -> Box:
    layer = f"{stack}.layers.{{}}"
    equation, between = ACTIVATIONS[activation]
    return Box(
        name=f"{stack}.feed_forward",
        title="Feed forward",
        heading=f"Feed forward of the {stack}",
        value=f"{layer}.feed_forward_norm.hook_sublayer",
        module=f"{layer}.feed_forward",
        equation=rf"{equation}\,W_2 + b_2",
        text=f"Two linear maps with {between}: the same for each position, with other weights in "
        "each layer. They are two convolutions with kernel size 1.",
        paper="§3.3, equation 2",
        code=(layers.FeedForward.forward,),
        inside=(("hidden", f"{layer}.feed_forward.hook_hidden"),),
    )


def model_boxes(config: TransformerConfig, languages: Languages) -> tuple[Box, ...]:
    """List the boxes of a model: encoder, then decoder, each from bottom to top."""
    source, target = (languages.name(side) for side in get_args(Side))
    heads = "one head" if config.h == 1 else f"{config.h} heads at once"
    joint = config.source_vocab_size is None
    pieces = "the joint vocabulary" if joint else "the source's own vocabulary"
    table = "W" if config.own_projection else "E"
    bias = " Here each subword also has a bias; the paper has none." if config.output_bias else ""
    return (
        *_foot(
            "encoder",
            labels.capitalised(source),
            f"The sentence as subwords of {pieces}, with *end* after them.",
            config,
        ),
        _attention(
            "encoder_self",
            "Self-attention",
            f"Each {source} token looks at all {source} tokens, in {heads}; each small map is one "
            "head, in order.",
            config,
        ),
        _norm("encoder", "self_attention", "self-attention"),
        _feed_forward("encoder", config.activation),
        _norm("encoder", "feed_forward", "feed forward"),
        *_foot(
            "decoder",
            f"{labels.capitalised(target)}, shifted right",
            "The translation one step late: each position reads what was written before and "
            "predicts the next subword.",
            config,
        ),
        _attention(
            "decoder_self",
            "Masked self-attention",
            f"Each {target} position looks at itself and at earlier ones; a mask hides later ones.",
            config,
            "masks",
        ),
        _norm("decoder", "self_attention", "masked self-attention"),
        _attention(
            "cross",
            "Cross-attention",
            f"Each {target} position looks at all {source} tokens: queries come from the decoder, "
            "keys and values from the encoder's output, the memory z.",
            config,
        ),
        _norm("decoder", "cross_attention", "cross-attention"),
        _feed_forward("decoder", config.activation),
        _norm("decoder", "feed_forward", "feed forward"),
        Box(
            name="decoder.linear",
            title="Linear",
            heading="Linear",
            value=flow.LOGITS,
            module="own_projection" if config.own_projection else "shared_embedding",
            equation=rf"x{table}^\top" + (" + b" if config.output_bias else ""),
            text="A number for each subword of the vocabulary; you see those of this translation. "
            f"{matrices(config)}{bias}",
            paper="§3.4",
            code=(model.Transformer.logits,),
            pages=("training",),
        ),
        Box(
            name="decoder.softmax",
            title="Softmax",
            heading="Softmax",
            value=flow.PROBABILITIES,
            equation=r"\frac{e^{z_v}}{\sum_u e^{z_u}}",
            text="The probability that each subword comes next; you see those of this translation.",
            paper="§3.4",
            code=(model.Transformer.logits,),
            pages=("translate",),
        ),
    )
