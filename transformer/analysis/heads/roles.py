"""The role of each head, in a word or two, from its weights alone."""

from collections import defaultdict

import numpy as np

from transformer import choices, kinds
from transformer.analysis.axes import LabelledWeights
from transformer.analysis.heads.measures import entropy
from transformer.analysis.sinks import first_row, seen_cells
from transformer.arrays import Bools, Floats, Ints
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.text.words import PLACEHOLDER, is_punctuation, number_words

ONE_TO_ONE = "one-to-one"
"""The role of a head of cross-attention whose rows and tokens choose each other."""
ROLE_THRESHOLDS: dict[str, float] = {
    "previous": 0.4,
    "next": 0.4,
    "itself": 0.4,
    "first": 0.4,
    "end token": 0.4,
    "punctuation": 0.4,
    "same word": 0.25,
    ONE_TO_ONE: 0.5,
}
"""Share of its weight that a head must put on a pattern's cells beyond chance for that role.

0 is what uniform attention puts there, 1 is all of the weight. The strongest pattern names the
head. "same word" asks for less, because most rows have no other piece of their word."""
SPREAD_THRESHOLD = 0.9
"""The share of the largest possible entropy from which a head is called "spread"."""
MONOTONE_THRESHOLD = 0.7
"""The share of pairs of links that must not cross where a head is "one-to-one"."""
LEAST_ROWS = 2
"""A head gets no role from fewer rows: from one, everything that it looks at is a pattern."""


@choices.check_choices
def head_roles(axes: LabelledWeights, kind: kinds.Kind) -> list[list[str]]:
    """Name the role of each head, `[layer][head]`; "" where nothing dominates or there is no head.

    Of `ROLE_THRESHOLDS`, "one-to-one" holds for cross-attention alone, and where a position looks
    at itself or a neighbour only for the other two kinds. "spread" is a head near its largest
    entropy. Fewer rows than `LEAST_ROWS` name nothing.

    What a row lacks to 1 lies on tokens that are not shown, and counts against every role. Where
    all tokens are shown and rows may have another sum, pass them through `in_shares` first.
    """
    if len(axes.labels.queries) - first_row(axes, kind) < LEAST_ROWS:
        return [[""] * axes.weights.shape[1] for _ in axes.weights]
    scores = {
        name: values / (SPREAD_THRESHOLD if name == "spread" else ROLE_THRESHOLDS[name])
        for name, values in role_scores(axes, kind).items()
    }
    scores[""] = np.ones(axes.weights.shape[:2])  # below 1 no pattern dominates
    strongest = np.stack([*scores.values()]).argmax(0)  # [layer, head]
    names = [*scores]
    return [
        [names[number] if there else "" for number, there in zip(*layer, strict=True)]
        for layer in zip(strongest, axes.existing_heads, strict=True)
    ]


@choices.check_choices
def role_scores(axes: LabelledWeights, kind: kinds.Kind) -> dict[str, Floats]:
    """Score each head for each role, `[layer, head]` each, by `ROLE_THRESHOLDS` and its entropy."""
    first = first_row(axes, kind)
    seen = seen_cells(axes, kind)
    patterns = {name: (cells & seen)[first:] for name, cells in pattern_cells(axes, kind).items()}
    seen = seen[first:]
    scores: dict[str, list[Floats]] = defaultdict(list)  # `[head]` of each layer
    for layer in axes.weights:
        weights = layer[:, first:].astype(np.float64)
        for name, cells in patterns.items():
            scores[name].append(_beyond_chance(weights, cells, seen))
        if kind == "cross":
            scores[ONE_TO_ONE].append(_one_to_one(weights, int(seen.any(0).sum())))
        scores["spread"].append(_evenness(weights, seen))
    return {name: np.stack(layers) for name, layers in scores.items()}


@choices.check_choices
def pattern_cells(axes: LabelledWeights, kind: kinds.Kind) -> dict[str, Bools]:
    """Mark the cells `[query, key]` of each pattern."""
    queries, keys = axes.labels
    shape = (len(queries), len(keys))
    distance = np.arange(shape[1]) - np.arange(shape[0])[:, None]
    special = axes.special.tokens.union(SPECIAL.values())  # `<pad>` among them
    end = [key in axes.special.ends for key in keys]
    points = [key not in special and is_punctuation(key) for key in keys]
    words = [_words(tokens, special) for tokens in axes.labels]  # punctuation is not a word
    same = np.array([[bool(query) and query == key for key in words[1]] for query in words[0]])
    if kind != "cross":
        np.fill_diagonal(same, False)  # a position itself
    patterns = {
        "first": np.broadcast_to(np.arange(shape[1]) == 0, shape),
        "end token": np.broadcast_to(end, shape),
        "punctuation": np.broadcast_to(points, shape),
        "same word": same,
    }
    if kind != "cross":
        patterns |= {"previous": distance == -1, "next": distance == 1, "itself": distance == 0}
    return patterns


def _words(tokens: tuple[str, ...], special: frozenset[str]) -> list[str]:
    """Spell the word of each token in lower case; empty where it is punctuation."""
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
        "" if is_punctuation(text) else words[number]
        for number, text in zip(numbers, texts, strict=True)
    ]


def _beyond_chance(weights: Floats, cells: Bools, seen: Bools) -> Floats:
    """Average the share of a row's weight on these cells, less that of uniform attention."""
    share = np.einsum("hqk,qk->h", weights, cells) / weights.shape[1]  # [head]
    chance = (cells.sum(-1) / _seen_keys(seen)).mean()
    beyond: Floats = (share - chance) / max(1 - chance, 1e-9)
    return beyond if chance < 1 else np.zeros_like(beyond)


def _seen_keys(seen: Bools) -> Ints:
    """Count the keys of each row, `[query]`; a row without any counts as one of a single key."""
    return np.maximum(seen.sum(-1), 1)


def one_to_one_keys(weights: Floats) -> Ints:
    """Find the keys of the cells that are largest in row and column of `[query, key]`, by row."""
    best_key = weights.argmax(-1)  # [query]
    mutual = weights.argmax(0)[best_key] == np.arange(len(weights))
    return best_key[mutual]


def share_in_order(keys: Ints) -> float:
    """Compute the share of the pairs of links that do not cross; 0 where there is no pair."""
    first, second = np.triu_indices(len(keys), 1)
    return float((keys[second] > keys[first]).mean()) if len(first) else 0.0


def _one_to_one(weights: Floats, keys: int) -> Floats:
    """Score as `_beyond_chance`, over the cells that are largest in both row and column.

    These are the links in which both directions agree, whether right or wrong. 0 where too many of
    them cross.
    """
    rows = weights.shape[1]
    scores = np.zeros(len(weights))
    for head, head_weights in enumerate(weights):
        linked = one_to_one_keys(head_weights)
        if keys > 1 and share_in_order(linked) >= MONOTONE_THRESHOLD:
            # a key is the largest of one of these rows, and of no other
            share = head_weights[:, linked].max(0).sum() / rows
            scores[head] = (share - 1 / keys) / (1 - 1 / keys)
    return scores


def _evenness(weights: Floats, seen: Bools) -> Floats:
    """Divide the entropy by the largest possible one; weight on dropped tokens counts against it.

    Σ p log2(Σ p / p) of a row is the entropy of its shares times the weight that is shown.
    """
    max_entropy = np.log2(_seen_keys(seen)).mean()
    total = weights.sum(-1, keepdims=True)
    mean: Floats = (entropy(weights) - entropy(total)).mean(-1)
    return mean / max_entropy if max_entropy > 0 else np.zeros_like(mean)
