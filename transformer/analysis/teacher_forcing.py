"""Teacher-forced passes over the pieces of traces, which are compared with the model before."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor

from transformer import choices, errors
from transformer.arrays import AnyFloats
from transformer.config import BOS, PAD
from transformer.hooks import Hook
from transformer.kinds import KINDS, Kind
from transformer.masks import pad_sequences
from transformer.model import Transformer
from transformer.text import tokenizer
from transformer.trace import AttentionTrace


class Progress(Protocol):
    """Callback of the work done, its total and a text on it; an exception in it ends the work."""

    def __call__(self, done: int, total: int, now: str = "", /) -> None: ...


def no_progress(_done: int, _total: int, _now: str = "", /) -> None:
    """Report nothing."""


Cache: TypeAlias = Mapping[str, Tensor]
"""The values at hook points in one pass, by the names of the points."""

MAX_TENSOR_SIZE = 2**22
"""Elements of what is computed at once where every query meets every key: 16 MiB in float32."""


class ForcedPair(NamedTuple):
    """The token ids of one sentence pair, on the device of the model."""

    source: Tensor  # `[1, source]`, what the encoder reads
    target: Tensor  # `[1, target]`, what the decoder reads: `<s>`, then what was written before
    written: Tensor  # `[target]`, what the decoder is to write


def forced_pair(model: Transformer, trace: AttentionTrace) -> ForcedPair:
    """Convert a trace to the token ids that the model reads."""
    model.require_no_dropout()
    config = model.config
    source_size = config.source_vocab_size or config.vocab_size
    _require_fitting(trace.source_pieces, "sentence", source_size)
    _require_fitting(trace.target_pieces, "translation", config.vocab_size)
    pair = batch_traces([trace])
    return ForcedPair(
        pair.source.to(model.device), pair.target.to(model.device), pair.written[0].to(model.device)
    )


def require_piece(model: Transformer, id_: int) -> None:
    """Raise InputError unless the vocabulary has a piece of this id."""
    if not 0 <= id_ < model.config.vocab_size:
        raise errors.InputError(
            f"There is no piece {id_}: the vocabulary has {model.config.vocab_size:,}, counted "
            f"from 0."
        )


def values_at(
    model: Transformer, pair: ForcedPair, names: Collection[str]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Run the model once: the logits `[target, vocab]`, and the values at these hook points."""
    logits, cache = model.run_with_cache(pair.source, pair.target, names=names.__contains__)
    return logits[0], cache


@torch.inference_mode()
def log_probs(model: Transformer, trace: AttentionTrace, hooks: Mapping[str, Hook]) -> AnyFloats:
    """Compute log P of each piece, written or given without these hooks, under them, `[target]`."""
    source, target, written = forced_pair(model, trace)
    with model.hooks(hooks):
        logits = model(source, target)[0]  # [target, vocab]
    log_p = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    return to_array(log_p.gather(-1, written[:, None])[:, 0])


def patterns(model: Transformer, cache: Cache, kind: Kind) -> list[Tensor]:
    """Return the weights of each layer, `[head, query, key]` (§3.2.1)."""
    return [cache[name][0] for name in model.attention_points(kind, "pattern")]


class LayerMeasure(NamedTuple):
    """A measure that is computed layer by layer from the values of one pass."""

    points: Callable[[Transformer, Kind], Collection[str]]  # names of the hook points that are read
    layers: Callable[[Transformer, Cache, Kind], Iterable[Tensor]]  # the values of each layer


@choices.check_choices
@torch.inference_mode()
def measure_layers(
    measure: LayerMeasure,
    model: Transformer,
    trace: AttentionTrace,
    kinds: Sequence[Kind] = KINDS,
    progress: Progress | None = None,
) -> dict[Kind, AnyFloats]:
    """Compute a measure of these kinds of attention from one pass, `[layer, ...]` each."""
    step = count_steps(progress, sum(model.config.stack(kind).N for kind in kinds))
    names = {name for kind in kinds for name in measure.points(model, kind)}
    _, cache = values_at(model, forced_pair(model, trace), names)
    return {kind: stack_layers(measure.layers(model, cache, kind), step) for kind in kinds}


def stack_layers(layers: Iterable[Tensor], step: Callable[[], None]) -> AnyFloats:
    """Stack the values of each layer, and count each as it comes."""
    values = []
    for layer in layers:
        values.append(layer)
        step()
    return to_array(torch.stack(values))


def count_steps(progress: Progress | None, steps: int) -> Callable[[], None]:
    """Return a function that reports one more of `steps` steps as done."""
    done = count(1)
    return lambda: progress(next(done), steps) if progress else None


def to_array(tensor: Tensor) -> AnyFloats:
    """Convert to NumPy: float64 stays float64, all else becomes float32."""
    tensor = tensor.detach().cpu()
    return (tensor if tensor.dtype == torch.float64 else tensor.float()).numpy()


def _require_fitting(pieces: tuple[tokenizer.Piece, ...], side: str, vocab_size: int) -> None:
    if not pieces:
        raise errors.InputError(f"The {side} of this trace has no pieces: trace a sentence.")
    for position, piece in enumerate(pieces, start=1):
        if not 0 <= piece.id < vocab_size or piece.id == PAD:
            raise errors.InputError(
                f"Piece {position} of the {side} of this trace has the id {piece.id}, which is not "
                f"a piece of this model: trace the sentence with this model."
            )


@dataclass(frozen=True, eq=False)
class TraceBatch:
    """Sentence pairs of different lengths, padded on the right."""

    source: Tensor  # `[sentence, source]` token ids that the encoder reads
    target: Tensor  # `[sentence, target]` token ids that the decoder reads, `<s>` first
    written: Tensor  # `[sentence, target]` token ids that the decoder is to write
    source_tokens: tuple[tuple[str, ...], ...]  # tokens of `source`, `<pad>` included
    decoder_tokens: tuple[tuple[str, ...], ...]  # tokens of `target`, likewise
    target_tokens: tuple[tuple[str, ...], ...]  # tokens of `written`, likewise


def batch_traces(traces: Sequence[AttentionTrace]) -> TraceBatch:
    """Pad the sentences of several traces to one batch."""
    if not traces:
        raise errors.InputError("There is no sentence to put into a batch: type one.")
    written = [[piece.id for piece in trace.target_pieces] for trace in traces]
    return TraceBatch(
        source=pad_sequences([[piece.id for piece in trace.source_pieces] for trace in traces]),
        target=pad_sequences([[BOS, *row[:-1]] for row in written]),
        written=pad_sequences(written),
        source_tokens=_padded_tokens([trace.source_tokens for trace in traces]),
        decoder_tokens=_padded_tokens([trace.decoder_tokens for trace in traces]),
        target_tokens=_padded_tokens([trace.target_tokens for trace in traces]),
    )


def _padded_tokens(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    longest = max(map(len, rows))
    return tuple((*row, *[tokenizer.SPECIAL[PAD]] * (longest - len(row))) for row in rows)
