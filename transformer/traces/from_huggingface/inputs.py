"""The tokens and masks of one sentence of a batch: from texts, or from ids and a tokenizer."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from transformer.errors import InputError, quoted
from transformer.traces import external_tokens, from_arrays, vocabulary
from transformer.traces.from_huggingface.outputs import Keep, Outputs, rows_of


class ModelInputs:
    """The tokens and masks of the sentence that is read, also of inputs that several have."""

    def __init__(self, options: from_arrays.TraceOptions, outputs: Outputs) -> None:
        self.options = options
        self.vocabulary = vocabulary.Vocabulary(options.tokenizer)
        self.count = outputs.batch_size
        rows = (
            "sentences in this batch" if outputs.sequences is None else "sequences in these outputs"
        )
        if options.index is None and self.count > 1:
            raise InputError(f"There are {self.count} {rows}: choose one with index=, from 0.")
        number = 0 if options.index is None else options.index
        if not isinstance(number, (int, np.integer)) or not 0 <= number < self.count:
            raise InputError(
                f"There is no index {quoted(options.index)} among the {self.count} {rows}: choose "
                f"one from 0 to {self.count - 1}."
            )
        self.number = int(number)

    def row(self, rows: int) -> int:
        """Return the row among so many: `generate` writes sequences of one sentence in turn."""
        if rows == 0 or self.count % rows:
            raise InputError(
                f"There are {rows} rows of tokens or of a mask for a batch of {self.count}: give "
                f"those that the model was given."
            )
        return self.number * rows // self.count

    def texts(self, tokens: Any, side: str) -> tuple[str, ...] | None:
        """Return the tokens of the sentence, given as texts or ids; None where none were given."""
        if tokens is None:
            return None
        rows = rows_of(tokens, f"tokens of the {side}")
        row = rows[self.row(len(rows))]
        if row and all(isinstance(token, int) for token in row):
            return self.vocabulary.texts(row, side)
        return external_tokens.checked_tokens(row, side)

    def ids(self, prefix: str = "") -> Any:
        """Return the input of the encoder or the only stack, or with `decoder_` the decoder's."""
        tokens = getattr(self.options, f"{prefix}tokens")
        if _is_inputs(tokens):
            return _field_of(tokens, "input_ids")
        return _field_of(self.options.tokens, f"{prefix}input_ids") if tokens is None else tokens

    def mask(self, prefix: str = "") -> Keep | None:
        """Return which of these tokens are no padding; None without a mask."""
        name = f"{prefix}attention_mask"
        mask = getattr(self.options, name)
        if mask is None and (prefix or _field_of(self.options.tokens, "input_ids") is not None):
            mask = _field_of(self.options.tokens, name)  # that of sound counts other frames
        if mask is None:
            return None
        rows = rows_of(mask, name)
        row = rows[self.row(len(rows))]
        if not all(isinstance(item, (int, float)) for item in row):
            raise InputError(
                f"The {name} is no [batch, token] of 0 and 1: give the tokenizer's own."
            )
        if not any(row):
            raise InputError(
                f"The {name} hides every token of this sentence: it has 1 for a token and 0 for "
                f"padding, so give ~mask of a key_padding_mask, or choose another index."
            )
        return np.array(row, dtype=bool)

    def second_start(self, encodes: bool) -> Any:
        """Count the tokens of an encoder, padding aside, before the second text of a pair."""
        start = self.options.second_start
        types = _field_of(self.options.tokens, "token_type_ids") if encodes else None
        if start is None and types is not None:
            rows = rows_of(types, "token_type_ids")  # 0 for the first text and 1 for the second
            row = rows[self.row(len(rows))]
            start = row.index(1) or None if 1 in row else None
        whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
        mask = self.mask()
        if mask is None or not whole or not 0 <= start < len(mask):
            return start  # another value is refused where the tokens are counted
        return int(mask[:start].sum())


def _field_of(tokens: Any, name: str) -> Any:
    """Return an input by its name, if they were given as a mapping, as a tokenizer returns them."""
    if not _is_inputs(tokens):
        return None
    return tokens[name] if name in tokens else None  # noqa: SIM401  a BatchEncoding's get differs


def _is_inputs(tokens: Any) -> bool:
    """Return whether these are a model's inputs by name, and no tokens."""
    return isinstance(tokens, Mapping) or hasattr(tokens, "keys")
