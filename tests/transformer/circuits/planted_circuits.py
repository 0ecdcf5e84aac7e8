"""A model whose weights are set by hand: an induction circuit, and a dictionary in a cross head.

The stream has a part for each thing: what token is there, where it stands, and what stood before.
Decoder L1 H1 writes into each place which token stood before it; L2 H1 looks for the place whose
token before is the one that it reads, and copies the token there: the text goes on as it did
before. Cross-attention L2 H2 looks at the source at its own place and writes the token of the
dictionary. Everything else is noise, a hundred times smaller.
"""

import torch

from tests.transformer.analysis.lens_cases import Case, case_of
from transformer import Transformer, TransformerConfig

TOKENS, PLACES = 14, 10
TOKEN, PLACE, BEFORE = slice(0, 14), slice(14, 24), slice(24, 38)
CONFIG = TransformerConfig(
    vocab_size=TOKENS, N=2, d_model=40, d_ff=4, h=2, d_k=14, d_v=14, positions="learned",
    max_length=PLACES,
)  # fmt: skip
DICTIONARY = {4: 9, 5: 8, 6: 11, 7: 10, 8: 13, 9: 12}
SHARP, SOFT = 3.0, 1.1
"""Sizes of W_Q and W_K: a sharp softmax has no gradient, by which edges are attributed."""


def planted_model() -> Transformer:
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(3)
        model = Transformer(CONFIG).double().eval()
        for name, parameter in model.named_parameters():
            if "norm.weight" not in name:
                parameter.copy_(torch.randn_like(parameter) * 0.003)
        model.shared_embedding[:, TOKEN] += torch.eye(TOKENS) / 40**0.5
        for stack in (model.encoder, model.decoder):
            stack.embedding.positions[:, PLACE] += torch.eye(PLACES)
        first, second = (layer.self_attention for layer in model.decoder.layers)
        shifted = torch.eye(PLACES).roll(-1, 1)  # a place asks for the one before
        shifted[0] = 0
        set_head(
            first, 0, q=(PLACE, shifted), k=(PLACE, torch.eye(PLACES)), writes=BEFORE, size=SHARP
        )
        set_head(
            second, 0, q=(TOKEN, torch.eye(14)), k=(BEFORE, torch.eye(14)), writes=TOKEN, size=SOFT
        )
        cross = model.decoder.layers[1].cross_attention
        pairs = torch.zeros(TOKENS, TOKENS)
        for source, target in DICTIONARY.items():
            pairs[source, target] = 1
        set_head(
            cross, 1, q=(PLACE, torch.eye(PLACES)), k=(PLACE, torch.eye(PLACES)),
            writes=TOKEN, size=SHARP, copied=pairs,
        )  # fmt: skip
    return model


def set_head(attention, head, *, q, k, writes, size, copied=None):
    """Let a head look where what it asks for is there, and write the token that it sees."""
    rows = slice(14 * head, 14 * head + 14)
    for projection, (part, matrix) in ((attention.W_Q, q), (attention.W_K, k)):
        projection.weight[rows][: matrix.size(1), part] += size * matrix.T
    attention.W_V.weight[rows][:, TOKEN] += torch.eye(14)
    matrix = torch.eye(TOKENS) if copied is None else copied
    attention.W_O.weight[writes, rows] += 3 * matrix.T


def planted_case() -> Case:
    """The decoder reads `<s> 4 9 7 4` and is to go on with 9, as after the first 4."""
    return case_of(planted_model(), [4, 5, 6, 7, 8], [4, 9, 7, 4, 9])
