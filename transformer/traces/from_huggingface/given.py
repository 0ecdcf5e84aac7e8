"""The row of a batch that is read, with its tokens and masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer.errors import InputError, quoted
from transformer.traces.from_huggingface.outputs import Outputs
from transformer.traces.from_huggingface.tokens import (
    Keep,
    Vocabulary,
    field_of,
    is_inputs,
    kept,
    start_of_second,
    texts_of,
)

Texts = tuple[str, ...]


class Row:
    """Which row of the batch is read, also of what has one row for several sequences.

    Raises:
        InputError: if there are several and none is chosen, or there is no such row.
    """

    def __init__(self, found: Outputs, index: Any) -> None:
        self.count = found.batch_size
        what = (
            "sentences in this batch" if found.sequences is None else "sequences in these outputs"
        )
        if index is None and self.count > 1:
            raise InputError(f"There are {self.count} {what}: choose one with index=, from 0.")
        number = 0 if index is None else index
        if not isinstance(number, (int, np.integer)) or not 0 <= number < self.count:
            raise InputError(
                f"There is no index {quoted(index)} among the {self.count} {what}: choose one from "
                f"0 to {self.count - 1}."
            )
        self.number = int(number)

    def of(self, rows: int) -> int:
        """The row among so many: `generate` writes several sequences for one sentence in turn.

        Raises:
            InputError: if so many cannot be of this batch.
        """
        if rows == 0 or self.count % rows:
            raise InputError(
                f"There are {rows} rows of tokens or of a mask for a batch of {self.count}: give "
                f"those that the model was given."
            )
        return self.number * rows // self.count


@dataclass
class GivenTokens:
    """What a person gave beside the outputs."""

    vocabulary: Vocabulary
    row: Row
    tokens: Any
    decoder_tokens: Any
    target_tokens: Any
    attention_mask: Any
    decoder_attention_mask: Any
    asked_start: Any = None

    def texts(self, tokens: Any, of: str) -> Texts | None:
        """The tokens of the sentence that is read, from texts or ids of all."""
        return texts_of(tokens, self.row.of, self.vocabulary, of)

    @property
    def ids(self) -> Any:
        """What the encoder, or the only stack, reads; None for frames of sound."""
        return field_of(self.tokens, "input_ids") if is_inputs(self.tokens) else self.tokens

    @property
    def decoder_ids(self) -> Any:
        """What the decoder of an encoder-decoder reads, if it was given."""
        if self.decoder_tokens is None:
            return field_of(self.tokens, "decoder_input_ids")
        if is_inputs(self.decoder_tokens):
            return field_of(self.decoder_tokens, "input_ids")
        return self.decoder_tokens

    @property
    def mask(self) -> Keep | None:
        """Which of the tokens are no padding."""
        mask = self.attention_mask
        if mask is None and field_of(self.tokens, "input_ids") is not None:
            mask = field_of(self.tokens, "attention_mask")  # that of sound is of other frames
        return kept(mask, self.row.of, "attention_mask")

    def second_start(self, encodes: bool) -> Any:
        """Where the second text of a pair begins among the tokens that are no padding.

        Args:
            encodes: whether the tokens are read by an encoder; others have types of other uses.
        """
        start = self.asked_start
        if start is None and encodes:
            start = start_of_second(field_of(self.tokens, "token_type_ids"), self.row.of)
        whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
        if self.mask is None or not whole or not 0 <= start < len(self.mask):
            return start  # what is no position is refused where the tokens are counted
        return int(self.mask[:start].sum())

    @property
    def decoder_mask(self) -> Keep | None:
        """Which of the decoder's tokens are no padding."""
        mask = self.decoder_attention_mask
        if mask is None:
            mask = field_of(self.tokens, "decoder_attention_mask")
        return kept(mask, self.row.of, "decoder_attention_mask")
