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
    kept_positions,
    start_of_second,
    texts_of,
)

Texts = tuple[str, ...]


class Row:
    """The row of the batch that is read, also of inputs with one row for several sequences.

    Raises:
        InputError: if there are several and none is chosen, or there is no such row.
    """

    def __init__(self, outputs: Outputs, index: Any) -> None:
        self.count = outputs.batch_size
        rows = (
            "sentences in this batch" if outputs.sequences is None else "sequences in these outputs"
        )
        if index is None and self.count > 1:
            raise InputError(f"There are {self.count} {rows}: choose one with index=, from 0.")
        number = 0 if index is None else index
        if not isinstance(number, (int, np.integer)) or not 0 <= number < self.count:
            raise InputError(
                f"There is no index {quoted(index)} among the {self.count} {rows}: choose one from "
                f"0 to {self.count - 1}."
            )
        self.number = int(number)

    def among(self, rows: int) -> int:
        """Return the row among so many: `generate` writes sequences of one sentence in turn.

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
    """The tokens, masks and settings that came with the outputs."""

    vocabulary: Vocabulary
    row: Row
    tokens: Any
    decoder_tokens: Any
    target_tokens: Any
    attention_mask: Any
    decoder_attention_mask: Any
    asked_start: Any = None

    def texts(self, tokens: Any, side: str) -> Texts | None:
        """Return the tokens of the sentence that is read, from texts or ids of all."""
        return texts_of(tokens, self.row.among, self.vocabulary, side)

    @property
    def ids(self) -> Any:
        """The input of the encoder, or of the only stack; None for frames of sound."""
        return field_of(self.tokens, "input_ids") if is_inputs(self.tokens) else self.tokens

    @property
    def decoder_ids(self) -> Any:
        """The input of the decoder of an encoder-decoder, if it was given."""
        if self.decoder_tokens is None:
            return field_of(self.tokens, "decoder_input_ids")
        if is_inputs(self.decoder_tokens):
            return field_of(self.decoder_tokens, "input_ids")
        return self.decoder_tokens

    @property
    def mask(self) -> Keep | None:
        """The mask of the tokens that are no padding."""
        mask = self.attention_mask
        if mask is None and field_of(self.tokens, "input_ids") is not None:
            mask = field_of(self.tokens, "attention_mask")  # that of sound is of other frames
        return kept_positions(mask, self.row.among, "attention_mask")

    def second_start(self, encodes: bool) -> Any:
        """Count the tokens, padding aside, before the second text of a pair.

        Args:
            encodes: whether the tokens are read by an encoder; others have types of other uses.
        """
        start = self.asked_start
        if start is None and encodes:
            start = start_of_second(field_of(self.tokens, "token_type_ids"), self.row.among)
        whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
        if self.mask is None or not whole or not 0 <= start < len(self.mask):
            return start  # what is no position is refused where the tokens are counted
        return int(self.mask[:start].sum())

    @property
    def decoder_mask(self) -> Keep | None:
        """The mask of the decoder's tokens that are no padding."""
        mask = self.decoder_attention_mask
        if mask is None:
            mask = field_of(self.tokens, "decoder_attention_mask")
        return kept_positions(mask, self.row.among, "decoder_attention_mask")
