"""A model of one layer that copies its source, with heads whose work is known."""

from typing import Any

import torch

from transformer import Kind, Transformer, TransformerConfig
from transformer.analysis.heads.head import Head

LENGTH, WIDTH = 32, 32  # positions, and dimensions of a head
COPIES = Head("cross", 0, 1)
LOOKS_BACK = Head("encoder_self", 0, 2)
NOISE = Head("decoder_self", 0, 0)


def planted_model(vocab_size):
    """Positions stand in the first 32 dimensions, tokens in the next, a constant in the last.

    `COPIES` looks at its own position of the source and writes the token there; `LOOKS_BACK` looks
    one position back; `NOISE` looks anywhere; all other heads look at the first position. Nothing
    but `COPIES` writes anything.
    """
    config = TransformerConfig(
        vocab_size=vocab_size, N=1, d_model=3 * WIDTH, d_ff=4, h=3, max_length=LENGTH,
        positions="learned",
    )  # fmt: skip
    model = Transformer(config)
    generator = torch.Generator().manual_seed(3)
    own, back = torch.eye(WIDTH), torch.eye(WIDTH).roll(1, 0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.zero_()
        tokens = torch.randn(vocab_size, WIDTH, generator=generator)
        model.shared_embedding[:, WIDTH : 2 * WIDTH] = 4 * tokens / tokens.norm(dim=1)[:, None]
        encoder: Any = model.encoder
        decoder: Any = model.decoder
        for stack in (encoder, decoder):
            stack.embedding.positions[:, :LENGTH] = 40 * own
            stack.embedding.positions[:, -1] = 10
        attentions: tuple[tuple[Kind, Any], ...] = (
            ("encoder_self", encoder.layers[0].self_attention),
            ("decoder_self", decoder.layers[0].self_attention),
            ("cross", decoder.layers[0].cross_attention),
        )
        for kind, attention in attentions:
            for head in range(config.h):
                rows = slice(head * WIDTH, (head + 1) * WIDTH)
                q, k = (matrix.weight[rows] for matrix in (attention.W_Q, attention.W_K))
                place = Head(kind, 0, head)
                if place == NOISE:
                    q[:, WIDTH : 2 * WIDTH] = torch.randn(WIDTH, WIDTH, generator=generator) / 20
                    k[:, WIDTH : 2 * WIDTH] = torch.randn(WIDTH, WIDTH, generator=generator) / 20
                elif place in (COPIES, LOOKS_BACK):
                    q[:, :WIDTH] = 4 * own
                    k[:, :WIDTH] = back if place == LOOKS_BACK else own
                else:
                    q[0, -1], k[0, 0] = 20, 20
                if place == COPIES:
                    attention.W_V.weight[rows, WIDTH : 2 * WIDTH] = own
                    attention.W_O.weight[WIDTH : 2 * WIDTH, rows] = 5 * own
    return model.eval()
