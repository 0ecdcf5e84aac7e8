"""Source or prefix: how much of each written token comes from the sentence that is read.

The shares are those of ALTI+ through all layers (`lenses.alti.whole_model`; Ferrando et al. 2022,
"Towards Opening the Black Box of Neural Machine Translation"), with the weight that cross-attention
puts on sinks beside them. The shares miss much: HalOmi (Dale et al. 2023) finds omissions in whole
sentences no better than chance by them, and in single words far better.
"""

from dataclasses import dataclass

import numpy as np

from transformer.analysis.axes import first_pieces
from transformer.analysis.lenses.alti import whole_model
from transformer.analysis.sinks import are_sinks
from transformer.analysis.teacher_forcing import Progress
from transformer.arrays import Floats
from transformer.trace import AttentionTrace
from transformer.translator import Translator

HARDLY_USED = 0.06
"""Largest share in a written word up to which a source word is hardly used: about one caption in
fifteen has one."""


@dataclass(frozen=True, eq=False)
class SourceShares:
    """Shares of the source in what is written; a row and that of `prefix` sum to 1 together."""

    source: Floats  # `[target, source]`: share of each source token in each written one, 0 to 1
    prefix: Floats  # `[target]`: share of `<s>` and of what was written before, 0 to 1
    on_sinks: Floats  # `[target]`: cross-attention on sinks, mean over all heads, 0 to 1

    @property
    def from_source(self) -> Floats:
        """`[target]`: share of the whole source in each written token, 0 to 1."""
        return self.source.sum(1)

    @property
    def used(self) -> Floats:
        """`[source]`: the largest share of each source token in a written one, 0 to 1.

        The largest and not the sum: a word that is translated stands out at one step, while many
        small shares of a word that is left out add up with the length of the translation.
        """
        return self.source.max(0)


def source_shares(
    translator: Translator, trace: AttentionTrace, *, progress: Progress | None = None
) -> SourceShares:
    """Compute the shares of the source by tokens; row i is the step that writes token i."""
    shares = whole_model(translator.model, trace, progress=progress).astype(np.float64)
    keys = len(trace.source_pieces)
    sinks = are_sinks(trace.source_tokens, trace.special)
    on_sinks = trace.cross[..., sinks].sum(-1, dtype=np.float64).mean((0, 1))
    return SourceShares(shares[:, :keys], shares[:, keys:].sum(1), on_sinks)


def by_words(shares: SourceShares, trace: AttentionTrace) -> SourceShares:
    """Merge tokens to words: the sum over a source word's tokens, the mean over a written one's."""
    keys, queries = first_pieces(trace.source_pieces), first_pieces(trace.target_pieces)
    counts = np.diff([*queries, len(trace.target_pieces)])

    def means(values: Floats) -> Floats:
        return (np.add.reduceat(values, queries, axis=0).T / counts).T

    source = np.add.reduceat(shares.source, keys, axis=1)
    return SourceShares(means(source), means(shares.prefix), means(shares.on_sinks))
