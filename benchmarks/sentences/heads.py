"""Sentences on heads: their numbers, roles, neighbours, and the translation without some."""

import json
import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from benchmarks.sentences.facts import (
    KINDS,
    MAYBE,
    ROUNDING,
    Expected,
    Facts,
    Floats,
    Marked,
    extremes,
    head_title,
    is_punctuation,
    number,
    sentence,
    signed,
    unsure,
)
from transformer import Kind, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.hooks import Hook
from transformer.kinds import KIND_TITLES, attention_name
from viz.pages.roles.corpus_map import ROLE_TEXTS
from viz.pages.roles.corpus_roles import SHOWN


def heads(facts: Facts, kind_name: str, layer: int, head: int, step: int | None) -> Iterator[str]:
    """With one head open; the step counts from 0, and one that is not there is the last."""
    kind = KINDS[kind_name]
    now = None if step is None else min(step, len(facts.target) - 1)
    every = {name: _crop(facts.trace.weights(name), name, now) for name in KINDS.values()}
    weights = every[kind][layer, head].astype(np.float64)
    first = min(facts.first_row(kind), len(weights) - 1)
    entropies, most, offsets, squares = [], [], [], []
    for q, row in enumerate(weights):
        if q < first or not row.any():
            continue
        entropies.append(-sum(w * math.log2(w) for w in row if w > 0))
        most.append(math.log2(len(facts.seen(kind, q))))
        offsets.append(sum(w * (k - q) for k, w in enumerate(row)))
        squares.append(sum(w * (k - q) ** 2 for k, w in enumerate(row)))
    yield f"Entropy: {np.mean(entropies):.2f} bits"
    yield (
        "How evenly a row is spread. 0 bits: each row looks at one subword; "
        f"{np.mean(most):.2f}: evenly all."
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
            yield f"attention_map row {n}: {row.removeprefix('the step that ')}"
            yield f"ribbons row {n}: {row.removeprefix('the step that ')}"
    if now is not None:
        yield f"Step {now + 1}: {facts.rows('cross')[now].removeprefix('the step that ')}."
        names = ". " if now > 1 else "; a single row names nothing, "
        yield f"…does most up to step {now + 1}{names}…"
    c = facts.config
    yield f"…One small map for each of the {c.N} × {c.h} heads of each kind,…"


def _crop(weights: npt.NDArray, kind: Kind, step: int | None) -> npt.NDArray:
    if step is None or kind == "encoder_self":
        return weights
    rows = weights[:, :, : step + 1]
    return rows[..., : step + 1] if kind == "decoder_self" else rows


def strongest_cells(kind: Kind, weights: npt.NDArray) -> Iterator[str]:
    """The strongest cell of each small map, of `[layer, head, query, key]`."""
    for layer, head in np.ndindex(weights.shape[:2]):
        head_weights = weights[layer, head]
        query, key = np.unravel_index(head_weights.argmax(), head_weights.shape)
        where = f"{_grid_name(kind)} L{layer + 1} H{head + 1}"
        yield f"{where} looks most from {query + 1} to {key + 1}: {head_weights[query, key]:.2f}"


def _roles(facts: Facts, kind: Kind, weights: npt.NDArray) -> Iterator[str]:
    """The roles that one number decides."""
    tokens = facts.trace.labels(kind).keys[: weights.shape[-1]]
    if weights.shape[2] - min(facts.first_row(kind), weights.shape[2] - 1) < 2:
        return  # a single row names nothing
    for layer, head in np.ndindex(weights.shape[:2]):
        head_weights = weights[layer, head].astype(np.float64)
        role, score = role_of(head_weights, kind, tokens, facts)
        if score > 1 - ROUNDING:
            # a head that lies on the threshold has a name or none, as float32 rounds
            maybe = MAYBE if score < 1 + ROUNDING else ""
            name = _screen_role(role, kind)
            yield f"{maybe}{_grid_name(kind)} L{layer + 1} H{head + 1} role: {name}"


def _screen_role(role: str, kind: Kind) -> str:
    """Name a role as the screen does."""
    first = "start" if kind == "decoder_self" else "first word"
    return {"end token": "end", "first": first}.get(role, role)


def _grid_name(kind: Kind) -> str:
    name = KIND_TITLES[kind].removesuffix(" self-attention")
    return f"head_grid {name}"


def role_of(
    weights: Floats, kind: Kind, tokens: tuple[str, ...], facts: Facts
) -> tuple[str, float]:
    """The pattern with the most weight beyond chance, row by row, and that over its threshold."""
    queries = facts.trace.labels(kind).queries[: len(weights)]
    first = min(facts.first_row(kind), len(weights) - 1)
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
            tokens[k] not in ("<s>", "</s>", "<pad>") and is_punctuation(tokens[k])
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
    seen = {q: facts.seen(kind, q) for q in rows}
    for name, holds in patterns.items():
        share = np.mean([sum(weights[q, k] for k in seen[q] if holds(q, k)) for q in rows])
        chance = np.mean([sum(holds(q, k) for k in seen[q]) / max(len(seen[q]), 1) for q in rows])
        if chance < 1:
            scores[name] = (share - chance) / (1 - chance) / least.get(name, 0.4)
    if kind == "cross":
        scores["one-to-one"] = _one_to_one(weights, len(seen[0])) / 0.5
    most = np.mean([math.log2(max(len(seen[q]), 1)) for q in rows])
    if most > 0:
        bits = np.mean([-sum(w * math.log2(w) for w in weights[q] if w > 0) for q in rows])
        scores["spread"] = bits / most / 0.9
    best = max(scores, key=scores.__getitem__)
    return best, scores[best]


def _words(tokens: tuple[str, ...], numbers: list[int]) -> list[str]:
    """The whole word at each piece, without punctuation; none at punctuation."""
    plain = [token.removeprefix("▁").casefold() for token in tokens]
    texts = [
        "" if is_punctuation(text) or text in ("<s>", "</s>", "<pad>") else text for text in plain
    ]
    pieces = [*zip(numbers, texts, strict=False)]  # up to the step that is shown
    return [
        "".join(text for number, text in pieces if number == own) if letters else ""
        for own, letters in pieces
    ]


def _linked(weights: Floats) -> tuple[list[tuple[int, int]], float]:
    """The cells that are largest in row and column, and which share of their pairs is in order."""
    links = [
        (q, int(row.argmax()))
        for q, row in enumerate(weights)
        if int(weights[:, row.argmax()].argmax()) == q
    ]
    pairs = [(a, b) for n, a in enumerate(links) for b in links[n + 1 :]]
    return links, float(np.mean([b[1] > a[1] for a, b in pairs])) if pairs else 0.0


def _one_to_one(weights: Floats, keys: int) -> float:
    links, in_order = _linked(weights)
    if keys < 2 or in_order < 0.7:
        return 0.0
    share = sum(weights[q, k] for q, k in links) / len(weights)
    return float((share - 1 / keys) / (1 - 1 / keys))


_IMPORTANCE = {"gradient", "loss without", "BLEU without"}
_LEAST = {"same word": 0.25, "one-to-one": 0.5, "spread": 0.9}
"""From which a role is given; from 0.4 where none is named."""


def measured(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """The card of one head; layer and head count from 0."""
    kind = KINDS[kind_name]
    weights = facts.trace.weights(kind)[layer, head].astype(np.float64)
    role, strength = role_of(weights, kind, facts.trace.labels(kind).keys, facts)
    unit = "100 = perfectly even" if role == "spread" else "0 = even attention, 100 = all weight"
    score = f"{100 * strength * _LEAST.get(role, 0.4):.0f}\u00a0% ({unit})"
    if strength < 1:
        yield f"In this sentence it is mixed. Closest role: {_screen_role(role, kind)}, {score}."
    else:
        looks = ROLE_TEXTS[role]
        if role == "one-to-one":
            share = f"{100 * _linked(weights)[1]:.0f}\u00a0%"
            score += f"; {share} of the pairs of links do not cross"
        yield f"In this sentence it {looks[0].lower()}{looks[1:]}: {score}."
    figures = _stored_head(facts, kind, layer, head)
    roles = figures["role"], role if strength >= 1 else ""
    corpus, here = (_screen_role(role, kind) or "mixed" for role in roles)
    report = json.loads((facts.translator.folder / "heads.json").read_text())
    name = head_title(kind_name, layer, head)
    where = f"over {report['sentences']:,} sentences"
    yield f"{name} · {where}: {corpus} · in this sentence: {here}"
    if kind == "cross":
        yield from _measured_links(facts, layer, head)
    yield from _nearest(facts, kind_name, layer, head)
    yield from _nearest_by_corpus(facts, kind_name, layer, head)


def _stored_head(facts: Facts, kind: Kind, layer: int, head: int) -> dict[str, Any]:
    """The figures of a head in the stored report."""
    heads = json.loads((facts.translator.folder / "heads.json").read_text())["heads"]
    figures: dict[str, Any] = next(e for e in heads if e["head"] == [kind, layer, head])
    return figures


def _measured_links(facts: Facts, layer: int, head: int) -> Iterator[str]:
    """The links that a head has, by its weights, of those that were measured on gold."""
    settings = json.loads((facts.translator.folder / "alignment.json").read_text())
    gold = settings["gold"]
    error = f"{gold['aer']:.0f} % alignment error on {gold['sentences']} hand-aligned sentences"
    place = settings["layer"], settings["head"]
    if (layer, head) == place:
        yield f"Translate draws its word links from this head ({error}; expect more elsewhere)."
        return
    own, measured = word_links(facts, layer, head), word_links(facts, *place)
    named = f"L{place[0] + 1} H{place[1] + 1}"
    count = f"{len(own)} word pair{'s' * (len(own) != 1)}"
    yield (
        f"In this sentence it links {count}, {len(own & measured)} of them among the "
        f"{len(measured)} that Translate draws from cross-attention {named} ({error})."
    )


def word_links(facts: Facts, layer: int, head: int) -> set[tuple[int, int]]:
    """The mutual links between words, read from the rows that read the words."""
    weights = facts.trace.cross[layer, head].astype(np.float64)
    source, target = (
        [(n, piece.word) for n, piece in enumerate(pieces) if piece.text != "</s>"]
        for pieces in (facts.trace.source_pieces, facts.trace.target_pieces)
    )
    shares: dict[tuple[int, int], float] = {}
    for query, written in target:
        rows = sum(word == written for _, word in target)
        for key, read in source:
            weight = weights[query + 1, key] / rows if query + 1 < len(weights) else 0.0
            shares[read, written] = shares.get((read, written), 0.0) + weight
    return {
        (read, written)
        for (read, written), share in shares.items()
        if share == max(s for (_, word), s in shares.items() if word == written)
        and share == max(s for (word, _), s in shares.items() if word == read)
        and share > 0
    }


def _nearest(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """The heads of this kind that look most alike: half of what lies elsewhere in a row."""
    kind = KINDS[kind_name]
    counted = facts.trace.weights(kind)[:, :, kind == "decoder_self" :].astype(np.float64)
    apart = {
        head_title(kind_name, *at): float(
            np.mean([np.abs(a - b).sum() / 2 for a, b in zip(own, other, strict=True)])
        )
        for at in np.ndindex(counted.shape[:2])
        for own, other in ((counted[layer, head], counted[at]),)
        if at != (layer, head)
    }
    yield from _least(apart)


def _nearest_by_corpus(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """The heads whose stored measures differ least, each in standard deviations over all heads."""
    heads = json.loads((facts.translator.folder / "heads.json").read_text())["heads"]
    common = set.intersection(*(set(entry["measures"]) for entry in heads)) - _IMPORTANCE
    squares = dict.fromkeys(range(len(heads)), 0.0)
    open_head = [entry["head"] for entry in heads].index([KINDS[kind_name], layer, head])
    for name in common:
        values = [entry["measures"][name][0] for entry in heads]
        spread = statistics.pstdev(values)
        for n, value in enumerate(values):
            squares[n] += ((value - values[open_head]) / spread) ** 2 / len(common)
    del squares[open_head]
    names = {kind: name for name, kind in KINDS.items()}
    apart = {}
    for n, square in squares.items():
        kind, other_layer, other_head = heads[n]["head"]
        apart[head_title(names[kind], other_layer, other_head)] = math.sqrt(square)
    yield from _least(apart)


def _least(apart: dict[str, float]) -> Iterator[str]:
    """Name the heads that are nearest."""
    for maybe, name, distance in extremes(((-d, name) for name, d in apart.items()), SHOWN):
        yield f"{maybe}{name} {-distance:.2f}"


def uniform(facts: Facts, kind_name: str) -> Iterator[str]:
    """Uniform weights in all heads of a kind."""
    kind = KINDS[kind_name]

    def even(weights: Tensor, _name: str) -> Tensor:
        rows = torch.ones_like(weights)
        if kind == "decoder_self":
            rows = rows.tril()
        return rows / rows.sum(-1, keepdim=True)

    edits: dict[str, Hook] = {
        f"{attention_name(kind, layer)}.hook_pattern": even for layer in range(facts.config.N)
    }
    change = facts.score(facts.target, edits) - facts.score(facts.target)
    total, per_piece = signed(change), signed(change / len(facts.target))
    yield (
        f"With uniform attention in all heads of {KIND_TITLES[kind]}, all layers, the log "
        f"probability of the translation changes by {total}, {per_piece} per subword."
    )


_NAMED = 8


def off(translator: Translator) -> tuple[tuple[Kind, int, int], ...]:
    """The heads with z = 0: the one by which words are aligned, or one beside it, and another."""
    aligns = read_alignment(translator)
    return ("cross", aligns.layer, aligns.head or 0), ("encoder_self", 0, 5)


def link(translator: Translator) -> str:
    """These heads as the address has them."""
    return ",".join(f"{kind[0]}{layer}.{head}" for kind, layer, head in off(translator))


def taken_away(facts: Facts) -> Iterator[Expected]:
    """The new translation, log P, the small maps, and which heads look elsewhere."""
    heads = off(facts.translator)
    edits = {f"{attention_name(kind, layer)}.hook_z": _zero(head) for kind, layer, head in heads}
    new = facts.translated(edits)
    total = len(KINDS) * facts.config.N * facts.config.h
    yield f"…Without {len(heads)} of {total} heads. {_difference(facts.translation.text, new.text)}"
    yield Marked(new.text, facts.translation.text)
    pieces = list(new.best.hypothesis.tokens)
    written = facts.score(pieces, edits)
    before, now = facts.score(facts.target), facts.score(facts.target, edits)
    change = f"{number(before)} → {number(now)}"
    if new.text == facts.translation.text:
        yield f"log probability {change}"
    else:
        yield (
            f"log probability: new translation {number(written)}; original, scored with this "
            f"change: {change}"
        )
    yield from unsure(facts, written / len(pieces), edited=True)
    maps, plain = _maps(facts, edits), _maps(facts, {})
    for kind, weights in maps.items():
        yield from strongest_cells(kind, weights)
    yield from facts.drawn_rows()
    yield from _changed(maps, plain)


def _difference(old: str, new: str) -> str:
    """Name the words that are new."""
    if old.split() == new.split():
        return "Same translation: other heads make up for it."
    added = [word for word in new.split() if word not in old.split()]
    return "It …" + "".join(f"{word}…" for word in added)


def _zero(head: int) -> Hook:
    def edit(z: Tensor, _name: str) -> Tensor:
        part = torch.arange(z.size(1))[:, None, None] == head
        return z.masked_fill(part, 0)

    return edit


def _maps(facts: Facts, edits: dict[str, Hook]) -> dict[Kind, Floats]:
    """The weights of every head on the translation in the bar, `[layer, head, query, key]`."""
    model = facts.model
    with torch.inference_mode(), model.hooks(edits):
        _, seen = model.run_with_cache(
            *facts.inputs, names=lambda name: name.endswith("hook_pattern")
        )
    layers = range(facts.config.N)
    return {
        kind: np.stack([seen[f"{attention_name(kind, n)}.hook_pattern"][0].numpy() for n in layers])
        for kind in KINDS.values()
    }


def _changed(maps: dict[Kind, Floats], plain: dict[Kind, Floats]) -> Iterator[str]:
    """The heads whose rows lie farthest from before: half the sum of what moved, row by row."""
    moved = []
    for name, kind in KINDS.items():
        # the decoder's first row sees one key alone, in every head
        change = np.abs(maps[kind] - plain[kind])[:, :, kind == "decoder_self" :]
        for layer, head in np.ndindex(change.shape[:2]):
            distance = float(change[layer, head].sum(-1).mean()) / 2
            moved.append((distance, head_title(name, layer, head)))
    for maybe, name, distance in extremes(moved, _NAMED, 0.005):
        yield f"{maybe}{name} {distance:.2f}"
