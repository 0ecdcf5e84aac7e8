"""Tiny models with opinions, and the search once more as simply as it can be said."""

import functools
import itertools

import torch

from transformer import Transformer, TransformerConfig
from transformer.config import BOS, EOS, PAD, UNK

SOURCES = [[5, 6, 7, 4, EOS], [6, EOS], [4, 4, 7, EOS], [7, 5, 6, 6, 4, 5, EOS]]


def build(vocab_size=8, ending=1.0, seed=0, **changes):
    """A tiny model with opinions; the larger `ending`, the sooner its sentences end."""
    shape = {"N": 2, "d_model": 16, "d_ff": 24, "h": 2, "max_length": 64}
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(vocab_size=vocab_size, **(shape | changes))).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("attention.W_Q.bias", "W_K.bias", "W_V.bias", "W_O.bias", "t_bias")):
                parameter.normal_()  # in the models that have them
        model.shared_embedding.mul_(2)
        end = model.shared_embedding[EOS]
        last = f"decoder.layers.{model.config.N - 1}.feed_forward_norm.norm.bias"
        model.get_parameter(last).add_(ending * end / end.square().sum())
    return model


def batch(sources):
    width = max(map(len, sources))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in sources])


# the search once more, as simply as it can be said: no cache, no tensors


def next_log_probs(model, source, written):
    """{piece: log P} for all that may be written next, from the whole model."""
    read = (BOS, *written)
    return _after_each(model, tuple(source), read[:-1])[read[-1]]


@functools.lru_cache(maxsize=2_000)  # one beginning belongs to many searches
@torch.no_grad()
def _after_each(model, source, before):
    """For each last piece; a search asks for most of them, and all take little more than one."""
    pieces = range(model.config.vocab_size)
    targets = torch.tensor([[*before, piece] for piece in pieces])
    logits = model(torch.tensor([source]).expand(len(targets), -1), targets)[:, -1]
    return [
        {piece: p for piece, p in enumerate(log_p) if piece not in (PAD, UNK, BOS)}
        for log_p in logits.log_softmax(-1).tolist()
    ]


Beginning = tuple[tuple[int, ...], float]  # what was written, and its log P


def plain_beam_search(model, source, K, alpha, limit):
    """[(tokens, score)], best first; a sentence ends when it is among the K best beginnings.

    What the limit cut short stands behind what the model ended itself.
    """
    alive: list[Beginning] = [((), 0.0)]
    finished: list[Beginning] = []
    while alive and len(finished) < K:
        grown = [
            ((*tokens, piece), total + p)
            for tokens, total in alive
            for piece, p in next_log_probs(model, source, tokens).items()
        ]
        grown.sort(key=lambda g: -g[1])
        finished += [g for g in grown[:K] if g[0][-1] == EOS]
        alive = [g for g in grown if g[0][-1] != EOS][:K]
        if alive and len(alive[0][0]) == limit:
            finished += alive
            alive = []
    scored = [(t, total / ((5 + len(t)) / 6) ** alpha) for t, total in finished]
    return sorted(scored, key=lambda s: (s[0][-1] != EOS, -s[1]))[:K]


def all_sequences(model, source, limit, alpha):
    """{tokens: score} of everything that can be written at all."""
    scores = {}
    words = range(4, model.config.vocab_size)
    for length in range(limit + 1):
        for beginning in itertools.product(words, repeat=length):
            ends = [()] if length == limit else [(EOS,)]
            for end in ends:
                tokens = (*beginning, *end)
                total = sum(
                    next_log_probs(model, source, tokens[:i])[piece]
                    for i, piece in enumerate(tokens)
                )
                scores[tokens] = total / ((5 + len(tokens)) / 6) ** alpha
    return scores
