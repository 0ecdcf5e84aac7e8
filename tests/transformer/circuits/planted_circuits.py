"""A model whose weights are set by hand, each head for one thing: what pages say of it is known.

The stream has a part for each thing: what token is there, where it stands, what stood before, and
one feature. It translates letter by letter: `TRANSLATES` looks at the source at its own place and
writes the token of the dictionary there. Everything that is not planted is noise, a hundred times
smaller.
"""

from typing import Any

import torch

from tests.transformer.analysis.lens_cases import Case, case_of
from transformer import Transformer, TransformerConfig
from transformer.analysis.heads.head import Head
from transformer.config import EOS
from transformer.kinds import KINDS, attention_name

TOKENS, PLACES, WIDTH = 20, 10, 52
TOKEN, PLACE, BEFORE = slice(0, 20), slice(20, 30), slice(30, 50)
FEATURE, CONSTANT = slice(50, 51), slice(51, 52)
CONFIG = TransformerConfig(
    vocab_size=37, N=2, d_model=WIDTH, d_ff=4, h=4, d_k=TOKENS, d_v=TOKENS, positions="learned",
    max_length=PLACES, attention_bias=True, own_projection=True,
)  # fmt: skip
DICTIONARY = {EOS: EOS, **{12 + n: 4 + (n + 1) % 8 for n in range(8)}}
MARKED = 14
"""The token of the source that biases and a feed-forward network meet."""

BY_PLACE = Head("encoder_self", 0, 0)
"""Looks one place back, whatever the tokens are."""
BY_BIAS = Head("encoder_self", 0, 1)
"""Looks at `MARKED`: the bias of its query meets the token."""
BY_PLACE_AND_CONSTANT = Head("encoder_self", 0, 2)
"""Looks one place back, and adds 40 to the score of every key."""
BY_FEATURE = Head("encoder_self", 1, 0)
"""Looks where the first feed-forward network wrote its feature, which is at `MARKED`."""
WRITES_BEFORE, INDUCTION = Head("decoder_self", 0, 0), Head("decoder_self", 1, 0)
"""The first writes into each place which token stood before it. The second looks for the place
whose token before is the one that it reads, and copies the token there."""
BY_QUERY = Head("decoder_self", 1, 1)
"""Looks for the token that stood before its own, which `WRITES_BEFORE` wrote into its query, with a
saturated softmax, and copies it."""
TRANSLATES, ALIGNS = Head("cross", 1, 1), Head("cross", 0, 1)
"""Both look at their own place of the source; the second less sharply, and it writes nothing."""
EMPTY = tuple(Head(kind, 0, 3) for kind in KINDS)
"""Heads of zeros."""
SHARP, SOFT, DECIDED, SATURATED = 3.0, 1.0, 0.9, 5.0
"""Sizes of W_Q and W_K: a sharp softmax has a small gradient, and a saturated one has none."""


def planted_model() -> Transformer:
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(3)
        model = Transformer(CONFIG).double().eval()
        for name, parameter in model.named_parameters():
            if "norm.weight" not in name:
                parameter.copy_(torch.randn_like(parameter) * 0.003)
        model.shared_embedding[:TOKENS, TOKEN] += torch.eye(TOKENS) / WIDTH**0.5
        model.projection[:TOKENS, TOKEN] += torch.eye(TOKENS)
        for stack in (model.encoder, model.decoder):
            stack.embedding.positions[:, PLACE] += torch.eye(PLACES)
        tokens, places = torch.eye(TOKENS), torch.eye(PLACES)
        back = places.roll(-1, 1)  # a place asks for the one before
        back[0] = 0
        pairs = torch.zeros(TOKENS, TOKENS)
        for source, target in DICTIONARY.items():
            pairs[source, target] = 1
        for head in (BY_PLACE, BY_PLACE_AND_CONSTANT):
            set_head(model, head, q=(PLACE, back), k=(PLACE, places), size=SHARP)
        set_head(
            model, WRITES_BEFORE, q=(PLACE, back), k=(PLACE, places), size=SHARP, writes=BEFORE
        )
        set_head(model, INDUCTION, q=(TOKEN, tokens), k=(BEFORE, tokens), size=SOFT, writes=TOKEN)
        set_head(
            model, BY_QUERY, q=(BEFORE, tokens), k=(TOKEN, tokens), size=SATURATED, writes=TOKEN
        )
        set_head(
            model, TRANSLATES, q=(PLACE, places), k=(PLACE, places), size=SHARP,
            writes=TOKEN, copied=pairs,
        )  # fmt: skip
        set_head(model, ALIGNS, q=(PLACE, places), k=(PLACE, places), size=DECIDED)
        set_head(
            model, BY_FEATURE, q=(PLACE, torch.ones(PLACES, 1)), k=(FEATURE, torch.ones(1, 1)),
            size=SOFT,
        )  # fmt: skip
        rows, attention = _rows(model, BY_BIAS)
        attention.W_Q.bias[rows.start] += 3
        attention.W_K.weight[rows.start, MARKED] += 4
        rows, attention = _rows(model, BY_PLACE_AND_CONSTANT)
        for projection in (attention.W_Q, attention.W_K):
            projection.bias[rows.stop - 1] += (40 * TOKENS**0.5) ** 0.5
        network: Any = model.encoder.layers[0].feed_forward
        network.W_1.weight[0, MARKED] += 1
        network.W_2.weight[FEATURE, 0] += 2
        for head in EMPTY:
            rows, attention = _rows(model, head)
            for projection in (attention.W_Q, attention.W_K, attention.W_V):
                projection.weight[rows] = projection.bias[rows] = 0
            attention.W_O.weight[:, rows] = 0
    return model


def _rows(model, head):
    """The rows of the projections that are a head's, and its attention."""
    return (
        slice(TOKENS * head.head, TOKENS * (head.head + 1)),
        model.get_submodule(attention_name(head.kind, head.layer)),
    )


def set_head(model, head, *, q, k, size, writes=None, copied=None):
    """Let a head look where what it asks for is there, and write the token that it sees."""
    rows, attention = _rows(model, head)
    for projection, (part, matrix) in ((attention.W_Q, q), (attention.W_K, k)):
        projection.weight[rows][: matrix.size(1), part] += size * matrix.T
    if writes is not None:
        attention.W_V.weight[rows, TOKEN] += torch.eye(TOKENS)
        attention.W_O.weight[writes, rows] += 3 * (
            torch.eye(TOKENS) if copied is None else copied.T
        )


def planted_case(source=(12, 13, 14, 15, 18), target=(4, 9, 7, 4, 9)) -> Case:
    """The decoder reads `<s> 4 9 7 4` and is to go on with 9, as after the first 4."""
    return case_of(planted_model(), [*source], [*target])
