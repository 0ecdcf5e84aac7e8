"""The steps of the search in the bar: the probability of each piece, and its alternatives."""

import math
from collections import defaultdict
from collections.abc import Sequence

from transformer.decoding.hypothesis import SearchTree
from transformer.text.tokenizer import Piece
from transformer.translation.score import Choice, Scored
from viz.app.cache import cached_results
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.player import SearchStep

OPTIONS = 5
"""Most probable next subwords that are drawn at each step."""


def scored(bar: BarTranslation) -> Scored:
    """Score the translation in the bar piece by piece, with the best alternatives of each step."""
    used = bar.used
    target = used.edited or tuple(piece.text for piece in bar.translation.best.pieces)
    return cached_results.score(bar.translator, used.text, target, used.alpha)


def search_steps(bar: BarTranslation, score: Scored, tree: SearchTree | None) -> list[SearchStep]:
    """Return what the search held at each step: the most probable pieces, and its beginnings."""
    steps = []
    tokenizer = bar.translator.target_tokenizer
    beams = defaultdict[int, list[str]](list)  # texts by step
    for index, node in enumerate(tree.nodes if tree else ()):
        if tree and node.state in ("kept", "finished"):
            beams[node.step].append(tokenizer.decode(tree.prefix(index)))
    parts = zip(score.pieces, score.log_probs, score.alternatives, strict=True)
    for number, (piece, log_prob, others) in enumerate(parts, start=1):
        options, taken = options_of(piece, log_prob, others)
        steps.append(SearchStep(options, taken, tuple(beams[number])))
    return steps


def options_of(
    piece: Piece, log_prob: float, others: Sequence[Choice]
) -> tuple[tuple[tuple[str, float], ...], int]:
    """Return the most probable pieces of a step, and the index of the one that was written."""
    written = (piece.text, math.exp(min(0.0, log_prob)))
    options = sorted(
        [written, *((other.piece, other.probability) for other in others)],
        key=lambda option: -option[1],
    )[:OPTIONS]
    if written not in options:  # what was forced or typed may be less probable than all others
        options[-1] = written
    return tuple(options), options.index(written)
