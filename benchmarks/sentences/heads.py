"""What the Heads page says: the numbers of the open head, and what stands at the small maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.sentences.facts import KINDS, MAYBE, Facts, Floats, number, sentence
from benchmarks.sentences.translate import bar
from transformer import Kind
from transformer.text.words import has_letter

_ROUNDING = 1e-5


def heads(
    kind_name: str, layer: int, head: int, step: int | None
) -> Callable[[Facts], Iterator[str]]:
    """With one head open; the step counts from 0, and one that is not there is the first."""
    kind = KINDS[kind_name]

    def check(facts: Facts) -> Iterator[str]:
        yield from bar(facts)
        now = 0 if step is not None and step >= len(facts.target) else step
        every = {name: _crop(facts.trace.weights(name), name, now) for name in KINDS.values()}
        weights = every[kind][layer, head].astype(np.float64)
        first = 1 if kind == "decoder_self" and len(weights) > 1 else 0
        entropies, most, offsets, squares = [], [], [], []
        for q, row in enumerate(weights):
            if q < first:
                continue
            entropies.append(-sum(w * math.log2(w) for w in row if w > 0))
            most.append(math.log2(q + 1 if kind == "decoder_self" else len(row)))
            offsets.append(sum(w * (k - q) for k, w in enumerate(row)))
            squares.append(sum(w * (k - q) ** 2 for k, w in enumerate(row)))
        yield f"Entropy: {np.mean(entropies):.2f} bit"
        yield (
            f"Mean over the rows: 0 where each looks at one piece alone, {np.mean(most):.2f} where "
            "each looks at all pieces that it sees alike."
        )
        if kind != "cross":
            offset = float(np.mean(offsets))
            spread = math.sqrt(max(float(np.mean(squares)) - offset**2, 0))
            sign = number(offset, 1) if offset < 0 else f"+{offset:.1f}"
            yield f"Offset: {sign} ± {spread:.1f}"
        query, key = np.unravel_index(weights[first:].argmax(), weights[first:].shape)
        query += first
        yield f"Largest weight: {weights[query, key]:.2f}"
        keys = facts.sides["reads" if kind == "decoder_self" else "english"]
        yield sentence(f"{facts.rows(kind)[query]} looks at “{keys[key]}”")
        for name, part in every.items():
            yield from strongest_cells(name, part)
            yield from _roles(facts, name, part)
        rows = facts.rows(kind)[: len(weights)]
        if kind != "encoder_self":
            for n, row in enumerate(rows, start=1):
                yield f"attention_map row {n}: {row.removeprefix('the row that ')}"
                yield f"ribbons row {n}: {row.removeprefix('the row that ')}"
        if now is not None:
            yield f"Step {now + 1}: {facts.rows('cross')[now]}."
            yield f"…does most up to step {now + 1}.…"
        c = facts.config
        yield f"…One small map for each of the {c.N} × {c.h} heads of each kind,…"

    return check


def _crop(weights: npt.NDArray, kind: Kind, step: int | None) -> npt.NDArray:
    if step is None or kind == "encoder_self":
        return weights
    rows = weights[:, :, : step + 1]
    return rows[..., : step + 1] if kind == "decoder_self" else rows


def strongest_cells(kind: Kind, weights: npt.NDArray) -> Iterator[str]:
    """The strongest cell of each small map, of `[layer, head, query, key]`."""
    for layer, head in np.ndindex(weights.shape[:2]):
        one = weights[layer, head]
        query, key = np.unravel_index(one.argmax(), one.shape)
        where = f"{_grid_name(kind)} L{layer + 1} H{head + 1}"
        yield f"{where} looks most from {query + 1} to {key + 1}: {one[query, key]:.2f}"


def _roles(facts: Facts, kind: Kind, weights: npt.NDArray) -> Iterator[str]:
    """The roles that one number decides."""
    tokens = facts.trace.labels(kind).keys[: weights.shape[-1]]
    for layer, head in np.ndindex(weights.shape[:2]):
        one = weights[layer, head].astype(np.float64)
        role, score = role_of(one, kind, tokens, facts)
        if score > 1 - _ROUNDING:
            # a head that lies on the threshold has a name or none, as float32 rounds
            maybe = MAYBE if score < 1 + _ROUNDING else ""
            yield f"{maybe}{_grid_name(kind)} L{layer + 1} H{head + 1} role: {role}"


def _grid_name(kind: Kind) -> str:
    return f"head_grid {kind.removesuffix('_self')}"


def role_of(
    weights: Floats, kind: Kind, tokens: tuple[str, ...], facts: Facts
) -> tuple[str, float]:
    """The pattern with the most weight beyond chance, row by row, and that over its threshold."""
    queries = facts.trace.labels(kind).queries[: len(weights)]
    first = 1 if kind == "decoder_self" and len(weights) > 1 else 0
    source, target = (
        [piece.word for piece in pieces]
        for pieces in (facts.trace.source_pieces, facts.trace.target_pieces)
    )
    numbers = {
        "encoder_self": (source, source),
        "decoder_self": ([-1, *target], [-1, *target]),
        "cross": (target, source),
    }[kind]
    query_words, key_words = map(_words, (queries, tokens), numbers)
    patterns: dict[str, Callable[[int, int], bool]] = {
        "first": lambda _, k: k == 0,
        "end token": lambda _, k: tokens[k] == "</s>",
        "punctuation": lambda _, k: (
            tokens[k] not in ("<s>", "</s>", "<pad>") and not has_letter(tokens[k])
        ),
    }
    patterns["same word"] = lambda q, k: (
        bool(key_words[k]) and query_words[q] == key_words[k] and (kind == "cross" or q != k)
    )
    if kind != "cross":
        patterns["previous"] = lambda q, k: k == q - 1
        patterns["next"] = lambda q, k: k == q + 1
        patterns["itself"] = lambda q, k: k == q
    least = {"same word": 0.25}
    scores = dict.fromkeys(patterns, 0.0)
    rows = range(first, len(weights))
    seen = {q: range(q + 1 if kind == "decoder_self" else weights.shape[1]) for q in rows}
    for name, holds in patterns.items():
        share = np.mean([sum(weights[q, k] for k in seen[q] if holds(q, k)) for q in rows])
        chance = np.mean([sum(holds(q, k) for k in seen[q]) / len(seen[q]) for q in rows])
        if chance < 1:
            scores[name] = (share - chance) / (1 - chance) / least.get(name, 0.4)
    if kind == "cross":
        scores["aligns"] = _aligned(weights) / 0.5
    most = np.mean([math.log2(len(seen[q])) for q in rows])
    if most > 0:
        bits = np.mean([-sum(w * math.log2(w) for w in weights[q] if w > 0) for q in rows])
        scores["spread"] = bits / most / 0.9
    best = max(scores, key=scores.__getitem__)
    return best, scores[best]


def _words(tokens: tuple[str, ...], numbers: list[int]) -> list[str]:
    """The whole word at each piece, of letters alone; none at punctuation."""
    plain = [token.removeprefix("▁").casefold() for token in tokens]
    texts = [
        text if has_letter(text) and text not in ("<s>", "</s>", "<pad>") else "" for text in plain
    ]
    pieces = [*zip(numbers, texts, strict=False)]  # up to the step that is shown
    return [
        "".join(text for number, text in pieces if number == own) if letters else ""
        for own, letters in pieces
    ]


def _aligned(weights: Floats) -> float:
    queries, keys = weights.shape
    links = [
        (q, int(weights[q].argmax()))
        for q in range(queries)
        if int(weights[:, weights[q].argmax()].argmax()) == q
    ]
    pairs = [(a, b) for n, a in enumerate(links) for b in links[n + 1 :]]
    if not pairs or keys < 2 or np.mean([b[1] > a[1] for a, b in pairs]) < 0.7:
        return 0.0
    share = sum(weights[q, k] for q, k in links) / queries
    return float((share - 1 / keys) / (1 - 1 / keys))
