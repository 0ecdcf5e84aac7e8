"""The boxes of Figure 1: what each is called, computes, holds, and where it is explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from transformer import Kind, TransformerConfig
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES
from transformer.analysis.paper.positions import Stack
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.config import Activation
from transformer.embedding import Embedding, sinusoidal_positions
from transformer.layers import AddAndNorm, FeedForward
from transformer.model import Transformer
from transformer.text.languages import OURS, Languages, Side
from transformer.text.tokenizer import Tokenizer
from viz.draw.labels import capitalised
from viz.pages.architecture import box_words


@dataclass(frozen=True)
class Box:
    """One box of the drawing.

    Args:
        name: in the URL and in the drawing's plan; the stack comes first.
        title: on the box.
        heading: the title where it is open.
        value: name of what is drawn in it, as in `Flow.values`, with `{}` for the layer; "" where
            only tokens stand.
        module: dotted name of the module or parameter that learns; "" where nothing does.
        equation: as LaTeX.
        text: a sentence or two, in Markdown of our own.
        code: what computes it.
        pages: URL paths of the pages that explain it.
        kind: of the attention, which gives the colour.
        inside: further values that have a shape of interest, by what they are called.
    """

    name: str
    title: str
    heading: str
    value: str
    module: str
    equation: str
    text: str
    code: tuple[Callable[..., object], ...]
    pages: tuple[str, ...] = ()
    kind: Kind | None = None
    inside: tuple[tuple[str, str], ...] = ()

    @property
    def stack(self) -> Stack:
        """Whose tokens are its rows."""
        return "encoder" if self.name.startswith("encoder") else "decoder"

    @property
    def layered(self) -> bool:
        """Whether there is one in each layer."""
        return "{}" in self.value


def _foot(stack: Stack, title: str, read: str, config: TransformerConfig) -> list[Box]:
    embedding = f"{stack}.embedding"
    learned = config.positions == "learned"
    return [
        Box(
            name=f"{stack}.tokens",
            title=title,
            heading=f"What the {stack} reads",
            value="",
            module="",
            equation=r"\text{text} \to (x_1, \ldots, x_n)" if stack == "encoder"
            else r"(\texttt{<s>}, y_1, \ldots, y_{m-1})",
            text=read,
            code=(Tokenizer.encode,) if stack == "encoder" else (Transformer.decode,),
            pages=() if stack == "encoder" else ("masks",),
        ),
        Box(
            name=f"{stack}.embedding",
            title="Embedding",
            heading=f"Embedding of the {stack}",
            value=f"{embedding}.hook_tokens",
            module="shared_embedding",
            equation=r"E[x] \cdot \sqrt{d_\text{model}}",
            text=box_words.of_embedding(stack, config),
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
            text=box_words.of_positions(stack, config),
            code=(Embedding.__init__,) if learned else (sinusoidal_positions,),
            pages=("positions",),
        ),
        Box(
            name=f"{stack}.sum",
            title="Sum",
            heading=f"What the first layer of the {stack} reads",
            value=f"{embedding}.hook_sum",
            module="",
            equation=r"\text{Dropout}(E[x]\sqrt{d_\text{model}} + PE)",
            text="Token and position added; in training, dropout follows (§5.4).",
            code=(Embedding.forward,),
            pages=("positions",),
        ),
    ]  # fmt: skip


def _attention(
    config: TransformerConfig,
    stack: Stack,
    name: str,
    kind: Kind,
    title: str,
    text: str,
    *pages: str,
) -> Box:
    module = f"{stack}.layers.{{}}.{name}"
    return Box(
        name=f"{stack}.{name}",
        title=title,
        heading=f"{title} of the {stack}",
        value=f"{module}.hook_pattern",
        module=module,
        equation=r"\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        text=f"{text} {box_words.WITH_BIASES}" if config.attention_bias else text,
        code=(attention_scores, MultiHeadAttention.attend),
        pages=("heads", "inside", *pages),
        kind=kind,
        inside=tuple((one, f"{module}.hook_{one.lower()}") for one in ("Q", "K", "V")),
    )


def _norm(stack: Stack, name: str, after: str) -> Box:
    module = f"{stack}.layers.{{}}.{name}_norm"
    return Box(
        name=f"{stack}.{name}_norm",
        title="Add & norm",
        heading=f"Add & norm after {after} of the {stack}",
        value=f"{module}.hook_normalised",
        module=module,
        equation=r"\text{LayerNorm}(x + \text{Sublayer}(x))",
        text="What came in is added to what the sub-layer made of it, then each token is "
        "normalised by itself (§3.1): post-norm, as in the paper.",
        code=(AddAndNorm.forward,),
    )


def _feed_forward(stack: Stack, activation: Activation) -> Box:
    layer = f"{stack}.layers.{{}}"
    equation, between = box_words.ACTIVATIONS[activation]
    return Box(
        name=f"{stack}.feed_forward",
        title="Feed forward",
        heading=f"Feed forward of the {stack}",
        value=f"{layer}.feed_forward_norm.hook_sublayer",
        module=f"{layer}.feed_forward",
        equation=rf"{equation}\,W_2 + b_2",
        text=f"Two linear maps with {between}: the same for each position and each position by "
        "itself (§3.3, equation 2).",
        code=(FeedForward.forward,),
        inside=(("hidden", f"{layer}.feed_forward.hook_hidden"),),
    )


def boxes_of(config: TransformerConfig, languages: Languages) -> tuple[Box, ...]:
    """Encoder and then decoder, each from its foot up; names and headings are any model's."""
    source, target = (languages.name(side) for side in get_args(Side))
    heads = "one head" if config.h == 1 else f"{config.h} heads at once"
    return (
        *_foot(
            "encoder",
            capitalised(source),
            box_words.of_vocabulary(config),
            config,
        ),
        _attention(
            config,
            "encoder",
            "self_attention",
            "encoder_self",
            "Self-attention",
            f"Each {source} token looks at all {source} tokens (§3.2.3), in {heads} "
            "(§3.2.2); the small maps are the heads, in their order.",
        ),
        _norm("encoder", "self_attention", "self-attention"),
        _feed_forward("encoder", config.activation),
        _norm("encoder", "feed_forward", "feed forward"),
        *_foot(
            "decoder",
            f"{capitalised(target)}, shifted right",
            "The translation one step late: each position reads what was written before it and is "
            "to write the next piece (§3.1).",
            config,
        ),
        _attention(
            config,
            "decoder",
            "self_attention",
            "decoder_self",
            "Masked self-attention",
            f"Each {target} position looks at itself and at those before it; later ones are masked "
            "with −∞ before the softmax (§3.2.3).",
            "masks",
        ),
        _norm("decoder", "self_attention", "masked self-attention"),
        _attention(
            config,
            "decoder",
            "cross_attention",
            "cross",
            "Cross-attention",
            "Queries come from the decoder, keys and values from the encoder's last layer, so "
            f"every {target} position can look at all {source} tokens (§3.2.3).",
        ),
        _norm("decoder", "cross_attention", "cross-attention"),
        _feed_forward("decoder", config.activation),
        _norm("decoder", "feed_forward", "feed forward"),
        Box(
            name="decoder.linear",
            title="Linear",
            heading="Linear",
            value=LOGITS,
            module="shared_embedding",
            equation=r"xE^\top + b" if config.output_bias else r"xE^\top",
            text="A number for each piece of the vocabulary (§3.4); drawn are the columns of the "
            f"pieces that the translation is made of. {box_words.of_projection(config)}",
            code=(Transformer.logits,),
            pages=("training",),
        ),
        Box(
            name="decoder.softmax",
            title="Softmax",
            heading="Softmax",
            value=PROBABILITIES,
            module="",
            equation=r"\frac{e^{z_v}}{\sum_u e^{z_u}}",
            text="The probability of each piece to come next (§3.4); drawn are the columns of the "
            "pieces that the translation is made of.",
            code=(Transformer.logits,),
            pages=("translate",),
        ),
    )


BOXES = boxes_of(TransformerConfig.base(), OURS)
"""Of the paper's model, for names and headings."""

BY_NAME: dict[str, Box] = {box.name: box for box in BOXES}
BY_HEADING: dict[str, Box] = {box.heading: box for box in BOXES}
