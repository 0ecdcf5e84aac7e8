"""The tokens and masks of one sentence of a batch: from texts, or from ids and a tokenizer."""

from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError, quoted
from transformer.traces.external_tokens import checked_tokens
from transformer.traces.from_arrays import TraceOptions
from transformer.traces.from_huggingface.outputs import Keep, Outputs, first_layer, rows_of_ids
from transformer.traces.vocabulary import Vocabulary

_IGNORED = -100
"""Label that torch's cross-entropy leaves out: padding in the labels that a model is trained on."""


INVERTED = (
    "No row looks at the tokens that the attention_mask keeps: it has 1 for a token and 0 for "
    "padding, so give ~mask where True is padding, as in torch's key_padding_mask."
)


def field_of(tokens: Any, name: str) -> Any:
    """Return an input by its name, if they were given as a mapping, as a tokenizer returns them."""
    if not is_inputs(tokens):
        return None
    return tokens[name] if name in tokens else None  # noqa: SIM401  a BatchEncoding's get differs


def is_inputs(tokens: Any) -> bool:
    """Return whether these are a model's inputs by name, and no tokens."""
    return isinstance(tokens, Mapping) or hasattr(tokens, "keys")


class ModelInputs:
    """The tokens and masks of the sentence that is read, also of inputs that several have."""

    def __init__(self, options: TraceOptions, outputs: Outputs) -> None:
        self.options = options
        self.vocabulary = Vocabulary(options.tokenizer)
        self.count = outputs.batch_size
        stack = outputs.decoder or outputs.cross
        self.positions = getattr(first_layer(stack[0]), "shape", [0] * 3)[2] if stack else 0
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

    def texts(self, tokens: Any, side: str, mask: Keep | None = None) -> tuple[str, ...] | None:
        """Return the tokens of the sentence; None where none were given.

        The tokens are texts or ids, of one sentence or of each of a batch; `side` names the text in
        an error message. Ids that the mask hides need no name, and get that of their number, as
        does the padding of labels, which are of the target.
        """
        row = self._row_of(tokens, side)
        if row is None or not row or isinstance(row[0], str):
            return row
        if side != "target" and _IGNORED in row:
            raise InputError(
                f"The tokens of the {side} hold {_IGNORED}, as labels do: give labels as "
                f"target_tokens, and here what the model read."
            )
        shown = [True] * len(row) if mask is None or len(mask) != len(row) else mask
        named = [keep and id_ != _IGNORED for id_, keep in zip(row, shown, strict=True)]
        names = iter(self.vocabulary.texts([*compress(row, named)], side))
        return tuple(
            next(names) if known else str(id_) for id_, known in zip(row, named, strict=True)
        )

    def _row_of(self, tokens: Any, side: str) -> tuple[Any, ...] | None:
        """Return the texts or the ids of the sentence."""
        if tokens is None:
            return None
        listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            return checked_tokens(listed, side)
        listed = [*listed]
        if listed and all(isinstance(item, str) for item in listed):
            return checked_tokens(listed, side)
        nested = all(isinstance(item, (list, tuple)) for item in listed)
        if listed and nested and all(isinstance(item, str) for row in listed for item in row):
            return checked_tokens(listed[self.row(len(listed))], side)
        numbers = [item for row in listed for item in (row if nested else [row])]
        if all(isinstance(item, int) or hasattr(item, "item") for item in numbers):
            rows = rows_of_ids(tokens, f"tokens of the {side}")
            return tuple(rows[self.row(len(rows))])
        return checked_tokens(listed, side)

    def written(self, mask: Keep | None) -> tuple[tuple[str, ...] | None, Keep | None]:
        """Return what the positions of a pass write, and the mask less the padding of labels."""
        texts = self.texts(self.target_ids, "target")
        if texts is None or texts[-1:] != (str(_IGNORED),):
            return texts, mask
        labels = np.flatnonzero([text != str(_IGNORED) for text in texts])
        if not len(labels):
            raise InputError(
                f"All target_tokens of this sentence are {_IGNORED}: give labels with tokens."
            )
        keep = np.arange(len(texts)) <= labels[-1]
        return texts, mask & keep if mask is not None and len(mask) == len(keep) else keep

    @property
    def length(self) -> int | None:
        """The tokens that the only stack read, padding included, if they or a mask were given."""
        row = self._row_of(self.ids, "text") if self.mask is None else self.mask
        return None if row is None else len(row)

    @property
    def ids(self) -> Any:
        """The input of the encoder, or of the only stack; None for frames of sound."""
        tokens = self.options.tokens
        return field_of(tokens, "input_ids") if is_inputs(tokens) else tokens

    @property
    def decoder_ids(self) -> Any:
        """The input of the decoder of an encoder-decoder, if it was given."""
        tokens = self.options.decoder_tokens
        if tokens is None:
            return field_of(self.options.tokens, "decoder_input_ids")
        return field_of(tokens, "input_ids") if is_inputs(tokens) else tokens

    @property
    def target_ids(self) -> Any:
        """Tokens that the decoder writes in a pass, be they given as the labels of a batch."""
        labels = field_of(self.options.tokens, "labels")
        if self.options.target_tokens is None and self.positions:
            return labels if getattr(labels, "shape", ())[1:] == (self.positions,) else None
        return self.options.target_tokens

    @property
    def mask(self) -> Keep | None:
        """The tokens that are no padding; None without a mask."""
        mask = self.options.attention_mask
        if mask is None and field_of(self.options.tokens, "input_ids") is not None:
            # a mask of sound counts other frames
            mask = field_of(self.options.tokens, "attention_mask")
        return self._unpadded(mask, "attention_mask")

    @property
    def decoder_mask(self) -> Keep | None:
        """The tokens of the decoder that are no padding; None without a mask."""
        mask = self.options.decoder_attention_mask
        if mask is None:
            mask = field_of(self.options.tokens, "decoder_attention_mask")
        return self._unpadded(mask, "decoder_attention_mask")

    def _unpadded(self, mask: Any, name: str) -> Keep | None:
        if mask is None:
            return None
        rows = _table(mask, name)
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise InputError(
                f"The {name} is no [batch, token] of 0 and 1: give the tokenizer's own."
            )
        positions: Keep = rows[self.row(len(rows))] != 0
        if not positions.any():
            raise InputError(
                f"The {name} hides every token of this sentence: it has 1 for a token and 0 for "
                f"padding, so give ~mask of a key_padding_mask, or choose another index."
            )
        return positions

    def second_start(self, encodes: bool) -> Any:
        """Count the tokens of an encoder, padding aside, before the second text of a pair."""
        start = self.options.second_start
        types = field_of(self.options.tokens, "token_type_ids") if encodes else None
        if start is None and types is not None:
            rows = _table(types, "token_type_ids")  # 0 for the first text and 1 for the second
            seconds = np.flatnonzero(rows[self.row(len(rows))] == 1)
            start = int(seconds[0]) if len(seconds) and seconds[0] > 0 else None
        whole = isinstance(start, (int, np.integer)) and not isinstance(start, bool)
        if self.mask is None or not whole or not 0 <= start < len(self.mask):
            return start  # another value is refused where the tokens are counted
        return int(self.mask[:start].sum())


def _table(values: Any, name: str) -> npt.NDArray[Any]:
    """Convert to rows of one length; a flat list is one row."""
    try:
        return np.atleast_2d(np.asarray(values.tolist() if hasattr(values, "tolist") else values))
    except ValueError as error:
        raise InputError(
            f"The rows of the {name} differ in length: give the inputs that the model was inputs, "
            f"with padding=True."
        ) from error
