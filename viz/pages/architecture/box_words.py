"""What the boxes of Figure 1 say of a model that is in some point not the paper's."""

from __future__ import annotations

from transformer import TransformerConfig
from transformer.analysis.paper.positions import Stack
from transformer.config import Activation

WITH_BIASES = (
    "The projections to Q, K and V and the one after the heads have biases here; the paper's "
    "(§3.2.2) have none."
)

ACTIVATIONS: dict[Activation, tuple[str, str]] = {
    "relu": (r"\max(0,\, xW_1 + b_1)", "a ReLU between them"),
    "swish": (
        r"\text{swish}(xW_1 + b_1)",
        "swish, z · σ(z), between them, where the paper has a ReLU",
    ),
    "gelu": (
        r"\text{GELU}(xW_1 + b_1)",
        "GELU, z · Φ(z), between them, where the paper has a ReLU",
    ),
}
"""The first linear map as LaTeX, and what stands between the two, in words."""


def of_vocabulary(config: TransformerConfig) -> str:
    """Of what the sentence is made."""
    joint = config.source_vocab_size is None
    pieces = "the joint vocabulary (§5.1)" if joint else "the source's own vocabulary"
    return f"The sentence as pieces of {pieces}, with `</s>` at its end."


def of_embedding(stack: Stack, config: TransformerConfig) -> str:
    """What other uses the table of a stack has."""
    row = "A row of the table for each token, times √d_model (§3.4)."
    if config.source_vocab_size is None:
        return (
            f"{row} Both embeddings and the projection before the softmax are one and the same "
            f"matrix."
        )
    if stack == "encoder":
        return f"{row} The source has a table of its own here; in the paper, both languages share."
    return (
        f"{row} The projection before the softmax is the same matrix. The source has another one "
        f"here; in the paper, both languages share."
    )


def of_positions(stack: Stack, config: TransformerConfig) -> str:
    """What tells the places apart."""
    what = "waves of different length"
    if config.positions == "learned":
        what = "a learnt row for each place, as in row (E) of Table 3"
    without = "the order of the tokens would be unknown"
    if stack == "decoder":
        without = "the mask alone would tell something of the order of the tokens"
    return f"Where each token stands (§3.5): {what}; without them {without}."


def of_projection(config: TransformerConfig) -> str:
    """What other uses the last matrix has, and whether a bias is added."""
    joint = config.source_vocab_size is None
    said = f"The matrix is that of the {'embeddings' if joint else 'decoder’s embedding'}."
    if config.output_bias:
        said += " Each piece has a bias here, too; the paper's have none."
    return said
