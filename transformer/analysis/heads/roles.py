"""The role of each head, in a word or two, from its weights alone.

Where a head looked, never why the model decided (Jain & Wallace 2019, Wiegreffe & Pinter 2019).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.measures import Floats, entropy, first_counted_row
from transformer.kinds import Kind
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.text.words import PLACEHOLDER, has_letter, number_words

Cells: TypeAlias = npt.NDArray[np.bool_]

ROLE_THRESHOLDS: dict[str, float] = {
    "previous": 0.4,
    "next": 0.4,
    "itself": 0.4,
    "first": 0.4,
    "end token": 0.4,
    "punctuation": 0.4,
    "same word": 0.25,
    "aligns": 0.5,
}
"""Share of its weight that a head must put on a pattern's cells beyond chance for that role.

0 is what uniform attention puts there, 1 is all of the weight. The strongest pattern names the
head. "same word" asks for less, because most rows have no other piece of their word."""
SPREAD_THRESHOLD = 0.9
"""The share of the largest possible entropy from which a head is called "spread"."""
MONOTONE_THRESHOLD = 0.7
"""The share of pairs of links that must not cross where a head "aligns"."""


def head_roles(axes: LabelledWeights, kind: Kind) -> list[list[str]]:
    """Name the role of each head, `[layer][head]`; "" where nothing dominates or there is no head.

    Of `ROLE_THRESHOLDS`, "aligns" holds for cross-attention alone, and where a position looks at
    itself or a neighbour only for the other two kinds. "spread" is a head near its largest entropy.

    What a row lacks to 1 lies on tokens that are not shown, and counts against every role. Where
    all tokens are shown and rows may have another sum, pass them through `in_shares` first.
    """
    scores = {
        name: values / (SPREAD_THRESHOLD if name == "spread" else ROLE_THRESHOLDS[name])
        for name, values in role_scores(axes, kind).items()
    }
    scores[""] = np.ones(axes.weights.shape[:2])  # below 1 no pattern dominates
    strongest = np.stack([*scores.values()]).argmax(0)  # [layer, head]
    names = [*scores]
    return [
        [names[number] if there else "" for number, there in zip(*layer, strict=True)]
        for layer in zip(strongest, axes.has_head, strict=True)
    ]


def role_scores(axes: LabelledWeights, kind: Kind) -> dict[str, Floats]:
    """Score each head for each role, `[layer, head]` each.

    Of "spread" it is the share of the largest entropy; of the others the share of the weight on the
    pattern's cells beyond chance, as `ROLE_THRESHOLDS` has it.
    """
    causal = axes.is_causal(kind)
    first = first_counted_row(len(axes.labels.queries), causal=causal)
    seen = np.ones(axes.weights.shape[2:], dtype=bool)  # [query, key]
    if causal:
        seen = np.tril(seen)
    patterns = {name: (cells & seen)[first:] for name, cells in pattern_cells(axes, kind).items()}
    layers = [
        _layer_scores(layer[:, first:].astype(np.float64), kind, patterns, seen[first:])
        for layer in axes.weights
    ]
    return {name: np.stack([scores[name] for scores in layers]) for name in layers[0]}


def _layer_scores(
    weights: Floats, kind: Kind, patterns: dict[str, Cells], seen: Cells
) -> dict[str, Floats]:
    """Score the heads of one layer, `[head]` each."""
    scores = {name: _beyond_chance(weights, cells, seen) for name, cells in patterns.items()}
    if kind == "cross":
        scores["aligns"] = _alignment(weights)
    scores["spread"] = _evenness(weights, seen)
    return scores


def pattern_cells(axes: LabelledWeights, kind: Kind) -> dict[str, Cells]:
    """Mark the cells `[query, key]` of each pattern."""
    queries, keys = axes.labels
    shape = (len(queries), len(keys))
    distance = np.arange(shape[1]) - np.arange(shape[0])[:, None]
    special = _special(axes)
    end = [key in axes.special.ends for key in keys]
    points = [key not in special and not has_letter(key) for key in keys]
    patterns = {
        "first": np.broadcast_to(np.arange(shape[1]) == 0, shape),
        "end token": np.broadcast_to(end, shape),
        "punctuation": np.broadcast_to(points, shape),
        "same word": _same_word(axes, kind),
    }
    if kind != "cross":
        patterns |= {"previous": distance == -1, "next": distance == 1, "itself": distance == 0}
    return patterns


def _same_word(axes: LabelledWeights, kind: Kind) -> Cells:
    """Mark the same word or another piece of it; punctuation and a position itself do not count."""
    special = _special(axes)
    queries, keys = (_words(tokens, special) for tokens in axes.labels)
    same = np.array([[bool(query) and query == key for key in keys] for query in queries])
    if kind != "cross":
        np.fill_diagonal(same, False)
    return same


def _special(axes: LabelledWeights) -> frozenset[str]:
    return axes.special.tokens.union(SPECIAL.values())  # `<pad>` among them


def _words(tokens: tuple[str, ...], special: frozenset[str]) -> list[str]:
    """Spell the word of each token in lower case; empty where the token has no letter.

    Pieces of different words may have the same letters, such as the `ers` of two trades.
    """
    before = "" if any(token.startswith(WORD_START) for token in tokens) else " "  # whole words
    texts = [
        PLACEHOLDER if token in special else before + token.replace(WORD_START, " ")
        for token in tokens
    ]
    numbers = number_words(texts)
    words: dict[int, str] = defaultdict(str)
    for number, text in zip(numbers, texts, strict=True):
        words[number] += text.strip().casefold()
    return [
        words[number] if has_letter(text) else ""
        for number, text in zip(numbers, texts, strict=True)
    ]


def _beyond_chance(weights: Floats, cells: Cells, seen: Cells) -> Floats:
    """Average the share of a row's weight on these cells, less that of uniform attention."""
    share = np.einsum("hqk,qk->h", weights, cells) / weights.shape[1]  # [head]
    chance = (cells.sum(-1) / seen.sum(-1)).mean()
    beyond: Floats = (share - chance) / max(1 - chance, 1e-9)
    return beyond if chance < 1 else np.zeros_like(beyond)


def _alignment(weights: Floats) -> Floats:
    """Score as `_beyond_chance`, over the cells that are largest in both row and column.

    These are the links in which both directions agree, one to one. 0 where too many of them cross.
    """
    keys = weights.shape[-1]
    best_key = weights.argmax(-1)  # [head, query]
    best_query = weights.argmax(-2)  # [head, key]
    agreed = np.take_along_axis(best_query, best_key, -1) == np.arange(weights.shape[1])
    share = (weights.max(-1) * agreed).mean(-1)
    scores: Floats = (share - 1 / keys) / (1 - 1 / keys) if keys > 1 else np.zeros_like(share)
    for head in range(len(scores)):
        linked = best_key[head, agreed[head]]
        steps = np.sign(linked[None] - linked[:, None])[np.triu_indices(len(linked), 1)]
        if not len(steps) or (steps > 0).mean() < MONOTONE_THRESHOLD:
            scores[head] = 0
    return scores


def _evenness(weights: Floats, seen: Cells) -> Floats:
    """Divide the entropy by the largest possible one; weight on dropped tokens counts against it.

    Σ p log2(Σ p / p) of a row is the entropy of its shares times the weight that is shown.
    """
    max_entropy = np.log2(seen.sum(-1)).mean()
    total = weights.sum(-1, keepdims=True)
    mean: Floats = (entropy(weights) - entropy(total)).mean(-1)
    return mean / max_entropy if max_entropy > 0 else np.zeros_like(mean)
