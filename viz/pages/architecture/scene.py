"""The tensors of Figure 1 for one sentence, box by box."""

from collections.abc import Mapping
from typing import NamedTuple

from transformer import AttentionTrace, Transformer
from transformer.analysis.paper.flow import LOGITS, PROBABILITIES, Floats, Flow
from viz.pages.architecture.boxes import Box

OVER_VOCABULARY = (LOGITS, PROBABILITIES)
"""Values with a column for each piece of the translation."""


class Scene(NamedTuple):
    """Tensors of a sentence and its translation, at one layer of each stack."""

    model: Transformer
    trace: AttentionTrace
    tensors: Flow
    layers: Mapping[str, int]

    def layer(self, box: Box) -> int:
        """Return the layer at which a box is drawn, from 0."""
        return self.layers[box.stack]

    def values(self, box: Box) -> Floats | None:
        """Return the output of a box; None for tokens."""
        return self.tensors.values.get(box.value.format(self.layer(box)))

    def rows(self, box: Box) -> tuple[str, ...]:
        """Return the tokens of a box's rows: those read, in the last two boxes those written."""
        if box.stack == "encoder":
            return self.trace.source_tokens
        written = box.value in OVER_VOCABULARY
        return self.trace.target_tokens if written else self.trace.decoder_tokens

    def shape(self, box: Box) -> str:
        """Format the shape of a box's output, as `12 × 256`."""
        if (values := self.values(box)) is None:
            return f"{len(self.rows(box))} tokens"
        if box.value in OVER_VOCABULARY:
            return f"{len(values)} × {self.tensors.vocab_size:,}"
        return times(values.shape)

    def named(self, name: str, box: Box) -> str:
        """Return a name of a box with its layer."""
        return f"{name}, layer {self.layer(box) + 1}" if box.layered else name


def times(shape: tuple[int, ...]) -> str:
    """Format a shape, as `12 × 256`."""
    return " × ".join(f"{size:,}" for size in shape)
