"""The attention of each layer to special tokens, punctuation, function and content words."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from transformer.analysis import axes, sinks
from transformer.analysis.teacher_forcing import Progress, no_progress
from transformer.arrays import Floats
from transformer.config import BOS
from transformer.corpus import measured, measuring, resampling
from transformer.kinds import KINDS, Kind
from transformer.text.special_tokens import looks_special
from transformer.text.tokenizer import SPECIAL, WORD_START
from transformer.text.words import has_letter, is_punctuation
from transformer.translator import Translator

CLASSES = ("special", "punctuation", "function word", "content word")
LEAST_COUNT, LEAST_SHARE = 5, 0.0025
RULE = (
    f"A function word is a subword that begins a word and makes up at least {LEAST_SHARE:.2%} of "
    f"the words' subwords in the lines and their translations, {LEAST_COUNT} times or more; all "
    f"that is neither special nor punctuation nor that frequent is a content word."
)
EVEN = "even"
"""In place of a layer: what each class would get if every row gave all its keys the same weight."""


class ClassWeights(NamedTuple):
    """Weights by class of the key, over measured lines."""

    # columns `kind`, `layer` (from 1, or `EVEN`), `class`, `share` (0 to 1) with the bounds `low`
    # and `high` of its 95 % interval over the lines
    table: pd.DataFrame
    function_words: list[str]  # the most frequent first


def class_weights(
    translator: Translator,
    lines: measured.MeasuredLines,
    *,
    progress: Progress = no_progress,
) -> ClassWeights:
    """Average the weight on each class of key over the heads of a layer and all rows."""
    classes = token_classes(measuring.piece_counts(translator, lines.pairs))
    shares: dict[Kind, list[Floats]] = {kind: [] for kind in KINDS}
    rows: dict[Kind, list[int]] = {kind: [] for kind in KINDS}
    for number, pair in enumerate(lines.pairs, start=1):
        trace = measuring.trace_of(translator, pair)
        for kind in KINDS:
            weights = axes.by_pieces(trace, kind)
            seen = sinks.seen_cells(weights, kind)
            even = (seen / seen.sum(-1, keepdims=True))[None]
            layers = np.concatenate([even, axes.mean_of_heads(weights)])
            layers = layers[:, sinks.first_row(weights, kind) :]
            one_hot = np.eye(len(CLASSES))[[classes[key] for key in weights.labels.keys]]
            shares[kind].append((layers @ one_hot).mean(1))  # [even + layer, class]
            rows[kind].append(layers.shape[1])
        progress(number, len(lines))
    resampled = resampling.resampled_weights(len(lines), measured.SEED)
    tables = []
    for kind in KINDS:
        counts = np.array(rows[kind], dtype=np.float64)
        interval = resampling.mean_interval(np.array(shares[kind]), resampled, counts)
        names = [EVEN, *(str(n) for n in range(1, len(interval.value)))]
        table = pd.MultiIndex.from_product(
            [[kind], names, CLASSES], names=["kind", "layer", "class"]
        )
        values = zip(("share", "low", "high"), map(np.ravel, interval), strict=True)
        tables.append(pd.DataFrame(dict(values), index=table).reset_index())
    words = [text for text, name in classes.items() if name == CLASSES.index("function word")]
    return ClassWeights(pd.concat(tables, ignore_index=True), words)


def token_classes(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the class of each subword by `RULE`, its place in `CLASSES`, the frequent first."""
    words = {t: n for t, n in counts.items() if not (looks_special(t) or is_punctuation(t))}
    least = max(LEAST_COUNT, LEAST_SHARE * sum(words.values()))
    special, punctuation, function, content = range(len(CLASSES))
    result = {SPECIAL[BOS]: special}
    for text, count in sorted(counts.items(), key=lambda item: -item[1]):
        if text in words:
            begins = text[0] == WORD_START and has_letter(text[1:])
            result[text] = function if begins and count >= least else content
        else:
            result[text] = special if looks_special(text) else punctuation
    return result
