"""Heads that are planted to look at one thing."""

import numpy as np

from transformer import Kind, trace
from transformer.analysis import axes

ENGLISH = ("▁The", "▁fris", "bee", ",", "▁the", "▁dog", "▁runs", "</s>")
GERMAN = ("▁Der", "▁Hund", ",", "▁die", "▁Schei", "be", "▁rennt", "</s>")
READ = ("<s>", *GERMAN[:-1])
LABELS: dict[Kind, trace.Labels] = {
    "encoder_self": trace.Labels(ENGLISH, ENGLISH),
    "decoder_self": trace.Labels(READ, READ),
    "cross": trace.Labels(GERMAN, ENGLISH),
}
COUNT = len(ENGLISH)


def looking_at(*keys, amount=0.9):
    """A head whose row i has `amount` on keys[i] and the rest spread over all."""
    weights = np.full((len(keys), COUNT), (1 - amount) / COUNT)
    weights[np.arange(len(keys)), keys] += amount
    return weights


def axes_of(kind, *heads):
    weights = np.stack(heads)[None]
    if kind == "decoder_self":
        weights = np.tril(weights)
        weights /= weights.sum(-1, keepdims=True)
    return axes.LabelledWeights(weights.astype(np.float32), LABELS[kind], None)


ROWS = np.arange(COUNT)
BACK, ON = np.maximum(ROWS - 1, 0), np.minimum(ROWS + 1, COUNT - 1)
UNIFORM = np.full((COUNT, COUNT), 1 / COUNT)
