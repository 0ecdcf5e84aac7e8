"""DecoderLens: what the decoder writes where it reads an earlier layer of the encoder.

The decoder's cross-attention sees the output of encoder layer ℓ in the place of the last one's
(Langedijk et al. 2023, arXiv 2310.03686). Every layer of a post-norm model ends in a norm, so that
its output needs no other one; the embeddings, ℓ = 0, are read as the first layer reads them.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Unpack

from torch import Tensor

from transformer import errors
from transformer.analysis.teacher_forcing import Progress, forced_pair, no_progress
from transformer.decoding import settings
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translation import result, score
from transformer.translator import Translator


@dataclass(frozen=True)
class LayerReading:
    """A sentence as the decoder reads it from one encoder layer."""

    layer: int  # encoder layers that the source went through: 0 is the embeddings, N the model
    translation: result.Translation  # what the search writes
    log_prob: float  # log P of the traced translation, in nats

    @property
    def length(self) -> int:
        """The number of pieces that the search wrote, `</s>` included."""
        return len(self.translation.best.pieces)

    @property
    def ended(self) -> bool:
        """True if the translation has its end, `</s>`."""
        return self.translation.best.hypothesis.complete


def decoder_lens(
    translator: Translator,
    trace: AttentionTrace,
    layer: int,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    **search: Unpack[settings.SearchArguments],
) -> LayerReading:
    """Translate a sentence, and score its traced translation, after 0 to N encoder layers."""
    forced_pair(translator.model, trace)  # refuses a trace that does not fit the model
    written = [piece.id for piece in trace.target_pieces]
    with reading_layer(translator.model, layer):
        translation = translator.translate(trace.source, should_stop=should_stop, **search)
        log_p = score.forced_log_probs(
            translator.model, [piece.id for piece in trace.source_pieces], written
        )
    log_probs = log_p[range(len(written)), written].tolist()
    translator.require_finite(log_probs)
    return LayerReading(layer, translation, sum(log_probs))


def read_layers(
    translator: Translator,
    trace: AttentionTrace,
    *,
    budget: Callable[[], Callable[[], bool]] = lambda: lambda: False,
    progress: Progress = no_progress,
    **search: Unpack[settings.SearchArguments],
) -> list[LayerReading]:
    """Do as `decoder_lens` for every layer; each search stops by a new `budget`."""
    readings, count = list[LayerReading](), translator.model.config.N + 1
    for layer in range(count):
        progress(layer, count)
        readings.append(decoder_lens(translator, trace, layer, should_stop=budget(), **search))
    return readings


def reading_layer(model: Transformer, layer: int) -> AbstractContextManager[None]:
    """Let the decoder read one encoder layer, 0 to N, inside the `with` block."""
    settings.require_whole(layer, "encoder layer")
    N = model.config.N
    if not 0 <= layer <= N:
        raise errors.InputError(
            f"There is no encoder layer {layer}: choose from 0, the embeddings, to {N}, the last."
        )
    if layer == N:
        return model.hooks({})  # as it is, on the search's fast path
    outputs = [f"encoder.layers.{n}.feed_forward_norm.hook_normalised" for n in range(N)]
    values: list[Tensor] = []

    def keep(value: Tensor, _name: str) -> None:
        values[:] = [value]

    def replace(_value: Tensor, _name: str) -> Tensor:
        return values.pop()

    read = ["encoder.embedding.hook_sum", *outputs][layer]
    return model.hooks({read: keep, outputs[-1]: replace})
