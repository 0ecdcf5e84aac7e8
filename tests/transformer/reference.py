"""The paper's formulas in plain NumPy and float64, and nothing from the package under test."""

import math
import re

import numpy as np


def softmax(x):
    """Along the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention_weights(q, k, mask=None):
    """softmax(QKᵀ / √d_k), equation 1."""
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf))


def feed_forward(x, W_1, b_1, W_2, b_2):
    """max(0, x W_1 + b_1) W_2 + b_2, equation 2."""
    return np.maximum(0, x @ W_1 + b_1) @ W_2 + b_2


def layer_norm(x, gain, bias, eps=1e-5):
    """Biased variance, eps inside the root (Ba et al. 2016)."""
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + eps) + bias


def positions(length, d_model):
    """§3.5, one element at a time."""
    table = np.empty((length, d_model))
    for pos in range(length):
        for i in range(d_model // 2):
            table[pos, 2 * i] = math.sin(pos / 10000 ** (2 * i / d_model))
            table[pos, 2 * i + 1] = math.cos(pos / 10000 ** (2 * i / d_model))
    return table


def is_one_sentence(text):
    """One line, a full stop at its end, and no other sentence before it."""
    return text.endswith(".") and "\n" not in text and not re.search(r"[.!?] +[A-Z]", text)
