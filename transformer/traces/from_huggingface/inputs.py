"""The tokens and masks of one sentence of a batch: from texts, or from ids and a tokenizer."""

from collections.abc import Mapping
from itertools import compress
from typing import Any

import numpy as np

from transformer.arrays import Bools
from transformer.errors import InputError, quoted
from transformer.traces import external_tokens, from_arrays, vocabulary
from transformer.traces.from_huggingface.outputs import Outputs, rows_of

_IGNORED = -100  # the label that torch's cross-entropy leaves out


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
        """Return the index of the row: `generate` writes the sequences of a sentence in turn."""
        if rows == 0 or self.count % rows:
            raise InputError(
                f"There are {rows} rows of tokens or of a mask for a batch of {self.count}: give "
                f"those that the model was given."
            )
        return self.number * rows // self.count

    def texts(self, tokens: Any, side: str, mask: Bools | None = None) -> tuple[str, ...] | None:
        """Return the tokens of the sentence, given as texts or ids; None where none were given.

        Those that the mask hides are left out, unless they are left out already.
        """
        if tokens is None:
            return None
        row = self._row_of(tokens, f"tokens of the {side}")
        if mask is not None and len(row) != mask.sum():
            if len(row) != len(mask):
                raise InputError(
                    f"There are {len(row)} tokens of the {side} and {len(mask)} positions in its "
                    f"mask: give as many of both."
                )
            row = [*compress(row, mask)]
        if not row or not all(isinstance(token, int) for token in row):
            return external_tokens.checked_tokens(row, side)
        if side != "target" and _IGNORED in row:
            raise InputError(
                f"The tokens of the {side} hold {_IGNORED}, as labels do: give labels as "
                f"target_tokens, and here what the model read."
            )
        names = iter(self.vocabulary.texts([id_ for id_ in row if id_ != _IGNORED], side))
        return tuple(str(id_) if id_ == _IGNORED else next(names) for id_ in row)

    def labelled(self, mask: Bools | None) -> Bools | None:
        """Return the mask of what a pass writes, without the padding of labels at the end."""
        labels = self.options.target_tokens
        row = [] if labels is None else self._row_of(labels, "target_tokens")
        last = max((n for n, label in enumerate(row) if label != _IGNORED), default=-1)
        if last in (-1, len(row) - 1):
            return mask
        keep: Bools = np.arange(len(row)) <= last
        return keep if mask is None or len(mask) != len(keep) else mask & keep

    def _row_of(self, values: Any, name: str) -> list[Any]:
        rows = rows_of(values, name)
        return rows[self.row(len(rows))]

    def ids(self, prefix: str = "") -> Any:
        """Return the input of the encoder or the only stack, or with `decoder_` the decoder's."""
        tokens = getattr(self.options, f"{prefix}tokens")
        if _is_inputs(tokens):
            return _field_of(tokens, "input_ids")
        return _field_of(self.options.tokens, f"{prefix}input_ids") if tokens is None else tokens

    def mask(self, prefix: str = "") -> Bools | None:
        """Return which of these tokens are not padding; None without a mask."""
        name = f"{prefix}attention_mask"
        mask = getattr(self.options, name)
        if mask is None and (prefix or _field_of(self.options.tokens, "input_ids") is not None):
            mask = _field_of(self.options.tokens, name)  # that of sound counts other frames
        if mask is None:
            return None
        row = self._row_of(mask, name)
        if not all(isinstance(item, (int, float)) for item in row):
            raise InputError(
                f"The {name} is not a [batch, token] of 0 and 1: give the tokenizer's own."
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
            row = self._row_of(types, "token_type_ids")  # 0 for the first text, 1 for the second
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
