"""Several sentences and their translations as one padded batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from transformer.config import BOS, PAD
from transformer.errors import InputError
from transformer.masks import pad_sequences
from transformer.text.tokenizer import SPECIAL
from transformer.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class TraceBatch:
    """Sentence pairs of different lengths, padded on the right.

    Args:
        source: `[sentence, source]` token ids that the encoder reads.
        target: `[sentence, target]` token ids that the decoder reads: `<s>`, then what was
            written before (§3.1, "shifted right").
        written: `[sentence, target]` token ids that the decoder is to write.
        source_tokens: the tokens of `source`, row by row, `<pad>` included.
        decoder_tokens: the tokens of `target`, likewise.
        target_tokens: the tokens of `written`, likewise.
    """

    source: Tensor
    target: Tensor
    written: Tensor
    source_tokens: tuple[tuple[str, ...], ...]
    decoder_tokens: tuple[tuple[str, ...], ...]
    target_tokens: tuple[tuple[str, ...], ...]


def batch_traces(traces: Sequence[AttentionTrace]) -> TraceBatch:
    """Pad the sentences of several traces to one batch.

    Raises:
        InputError: if there is no sentence.
    """
    if not traces:
        raise InputError("There is no sentence to put into a batch: type one.")
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
    return tuple((*row, *[SPECIAL[PAD]] * (longest - len(row))) for row in rows)
