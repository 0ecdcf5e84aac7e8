"""What the bar and the Translate page say."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.sentences.facts import Expected, Facts, Marked, number
from transformer.config import UNK
from transformer.decoding import NEVER_WRITTEN
from transformer.translation.result import Translation
from viz.draw.labels import display_tokens


def bar(facts: Facts) -> Iterator[str]:
    """The two lines over every page."""
    best = facts.found.best
    count = len(facts.target)
    log_p = number(facts.score(facts.target))
    yield f"log p {log_p} · {count} {'piece' if count == 1 else 'pieces'} · 0 ms"
    yield best.text
    unknown = [p.text.strip("▁") for p in facts.trace.source_pieces if p.id == UNK]
    if unknown:
        names = ", ".join(f"“{text}”" for text in dict.fromkeys(unknown))
        yield (
            f"The vocabulary has no {names}: the model reads <unk> there, as for every unknown "
            "character."
        )
    yield from unsure(facts, facts.score(facts.target) / count)


def noticed(facts: Facts, other: Translation) -> Iterator[str]:
    """What stands below a second translation."""
    tokens, complete = other.best.hypothesis.tokens, other.best.hypothesis.complete
    if not complete:
        yield (
            f"The model did not end the sentence within {len(tokens)} pieces, its limit for this "
            "text."
        )
    yield from unsure(facts, other.log_prob / len(tokens))


def unsure(facts: Facts, mean: float) -> Iterator[str]:
    """The notice of a translation whose log P per piece is below that of text the model knows."""
    domain = facts.translator.domain
    if domain is not None and mean < domain.least_log_prob:
        yield (
            f"The model is unsure of this translation: log p is {number(mean)} per piece, and "
            f"above {number(domain.least_log_prob)} on text that it knows. It is made for "
            f"{domain.made_for}."
        )


def translate(facts: Facts) -> Iterator[Expected]:
    """The map, the alternatives and the other sentences."""
    yield from bar(facts)
    for n, name in enumerate(facts.rows("cross"), start=1):
        yield f"attention_map row {n}: {name.removeprefix('the row that ')}"
    log_p = facts.log_p(facts.target)
    pieces: list[str] = []
    probabilities: list[float] = []
    for step, written in enumerate(facts.target):
        row = log_p[step].copy()
        row[[*NEVER_WRITTEN, written]] = -np.inf
        ids = [written, *np.argsort(-row)[:4].tolist()]
        names = [piece.text for piece in facts.translator.tokenizer.pieces_of(ids)]
        pieces += [facts.trace.target_tokens[step], *names[1:]]
        probabilities += [math.exp(log_p[step, piece]) for piece in ids]
    # marked alike at all steps
    for token, p in zip(display_tokens(pieces), probabilities, strict=True):
        yield f"step_bars {token} {p:.2f}"
    best = facts.found.best
    for candidate in facts.found.candidates:
        tokens = list(candidate.hypothesis.tokens)
        total = facts.score(tokens)
        figures = f"score {number(total / ((5 + len(tokens)) / 6) ** 0.6)} · log p {number(total)}"
        if candidate is best:
            yield f"…That one has {figures}.…"
        else:
            yield figures + " · the same words, in other pieces" * (candidate.text == best.text)
            yield Marked(candidate.text, best.text)
