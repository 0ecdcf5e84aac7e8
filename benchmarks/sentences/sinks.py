"""Sentences on maps without sinks: what is left out, and the numbers of scaled rows."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.findings import Recomputation, token_shares
from benchmarks.sentences.facts import KINDS, Expected, Facts, is_punctuation, translate
from benchmarks.sentences.heads import heads
from transformer import AttentionTrace, Kind
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.lenses import lens_trace


class ScaledFacts(Facts):
    """A sentence with its weights scaled to what a row gives to words, row by row."""

    def __init__(self, facts: Facts) -> None:
        vars(self).update({name: value for name, value in vars(facts).items() if name != "trace"})
        self.whole = facts.trace

    @cached_property
    def trace(self) -> AttentionTrace:
        """Scaled weights of every head."""
        encoder_self, decoder_self, cross = map(self._scaled, KINDS.values())
        return replace(
            self.whole, encoder_self=encoder_self, decoder_self=decoder_self, cross=cross
        )

    def _scaled(self, kind: Kind) -> npt.NDArray[np.float32]:
        weights = self.whole.weights(kind).astype(np.float64)
        words = [n for n, token in enumerate(self.whole.labels(kind).keys) if not is_sink(token)]
        for place in np.ndindex(weights.shape[:3]):
            rest = math.fsum(weights[place][words])
            row = np.zeros(weights.shape[3])
            if rest > 0:
                row[words] = weights[place][words] / rest
            weights[place] = row
        return weights.astype(np.float32)

    def seen(self, kind: Kind, query: int) -> list[int]:
        """Keys that a row may look at."""
        tokens = self.whole.labels(kind).keys
        return [key for key in super().seen(kind, query) if not is_sink(tokens[key])]


def is_sink(token: str) -> bool:
    """Return whether a token stands for no text."""
    return token in ("<s>", "</s>") or is_punctuation(token)


def shares(facts: Facts, trace: AttentionTrace, kind: Kind, head: tuple[int, int]) -> list[str]:
    """Per cent on sinks, of all heads and of one, over the rows that see several keys."""
    sinks = [n for n, token in enumerate(trace.labels(kind).keys) if is_sink(token)]
    first = facts.first_row(kind)
    means = {}
    for place in np.ndindex(trace.weights(kind).shape[:2]):
        rows = trace.weights(kind)[place][first:].astype(np.float64)
        means[place] = float(np.mean([math.fsum(row[sinks]) / math.fsum(row) for row in rows]))
    every = math.fsum(means.values()) / len(means)
    return [f"{100 * share:.0f}\u00a0%" for share in (every, means[head])]


def left_out(facts: Facts, kind_name: str, head: tuple[int, int]) -> str:
    """The beginning of the line."""
    kind = KINDS[kind_name]
    every, own = shares(facts, facts.trace, kind, head)
    count = facts.config.N * facts.config.h
    return (
        f"…Left out: {every} of the weight of the {count} {kind_name} heads, {own} in "
        f"{kind_name} L{head[0] + 1} H{head[1] + 1}, on …"
    )


def scaled_heads(facts: Facts, kind_name: str, layer: int, head: int) -> Iterator[str]:
    """With one head open on Heads; layer and head count from 0."""
    norms = lens_trace("norm", facts.translator, facts.trace)
    every, own = shares(facts, norms, KINDS[kind_name], (layer, head))
    line = left_out(facts, kind_name, (layer, head))
    yield f"{line}By the length of their vectors: {every} and {own}.…"
    yield from heads(ScaledFacts(facts), kind_name, layer, head, None)


def scaled_map(facts: Facts) -> Iterator[Expected]:
    """The map of Translate."""
    settings = read_alignment(facts.translator)
    assert settings.head is not None  # of the bundled model
    yield left_out(facts, "cross-attention", (settings.layer, settings.head))
    yield from translate(facts)


def shares_of_source(facts: Facts) -> Iterator[Expected]:
    """The means under the bars of Translate: word by word, `</s>` left out."""
    again = Recomputation(facts.translator, facts.trace)
    sinks = [n for n, token in enumerate(facts.trace.source_tokens) if is_sink(token)]
    looked = np.mean([head[:, sinks].sum(1) for head in again.maps("cross")], axis=0)
    words = [n for n in dict.fromkeys(again.target_words) if n != again.target_words[-1]]
    share, on_sinks = (
        np.mean([values[np.array(again.target_words) == word].mean() for word in words])
        for values in (token_shares(again).sum(1), looked)
    )
    yield (
        f"…before ({100 * share:.0f}\u00a0% on average). Under each English word: its largest "
        f"share in any German word. Of cross-attention, {100 * on_sinks:.0f}\u00a0% goes to sinks…"
    )
    yield from translate(facts)
