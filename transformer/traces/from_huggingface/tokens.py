"""The tokens of one sentence of a batch: from texts, or from ids and a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer.errors import InputError, quoted
from transformer.traces.external_tokens import checked_tokens
from transformer.traces.from_huggingface.outputs import rows_of_ids

Keep = npt.NDArray[np.bool_]


class Vocabulary:
    """A tokenizer of transformers, or of its kind: all that is asked of it.

    Args:
        tokenizer: an object with `convert_ids_to_tokens`, a processor that has such a tokenizer, or
            None.

    Raises:
        InputError: if this is no tokenizer.
    """

    def __init__(self, tokenizer: Any = None) -> None:
        if tokenizer is not None and not hasattr(tokenizer, "convert_ids_to_tokens"):
            tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
            if not hasattr(tokenizer, "convert_ids_to_tokens"):
                raise InputError(
                    f"{quoted(tokenizer)} has no convert_ids_to_tokens: give the tokenizer of the "
                    f"model, or tokens as texts."
                )
        self._tokenizer = tokenizer

    def texts(self, ids: Sequence[int], side: str) -> tuple[str, ...]:
        """Return the tokens of ids.

        Raises:
            InputError: if there is no tokenizer, or it has no such token.
        """
        if self._tokenizer is None:
            raise InputError(
                f"The tokens of the {side} are ids, and there is no tokenizer to name them: give "
                f"tokenizer=, or the tokens as texts."
            )
        try:
            texts = self._tokenizer.convert_ids_to_tokens([*ids])
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"The tokenizer does not know all ids of the {side}: give the one of this model."
            ) from error
        for id_, token in zip(ids, texts, strict=True):
            if token is None:
                raise InputError(
                    f"The tokenizer has no token {id_}, which is one of the {side}: give the "
                    f"tokenizer of this model."
                )
        return checked_tokens(texts, side)

    @property
    def special(self) -> frozenset[str]:
        """Tokens that stand for no text; an unknown word and a mask stand for some."""
        every = self._get("all_special_tokens", ())
        text = {self._get("unk_token"), self._get("mask_token")}
        structure = {self._get(f"{name}_token") for name in ("bos", "eos", "sep", "cls", "pad")}
        return frozenset(
            token
            for token in every
            if (token not in text or token in structure) and not token.startswith("<extra_id_")
        )

    @property
    def ends(self) -> frozenset[str]:
        """The tokens among these that end a sentence or stand between two."""
        tokens = (self._get("eos_token"), self._get("sep_token"))
        return frozenset(token for token in tokens if token is not None)

    def every(self) -> Iterable[str]:
        """List all tokens, if the tokenizer has such a list."""
        vocabulary: Iterable[str] = getattr(self._tokenizer, "get_vocab", tuple)()
        return vocabulary

    def end_of(self, generated: Sequence[int]) -> int:
        """Count the generated ids that are the sequence, and no padding after it."""
        end, pad = self._get("eos_token_id"), self._get("pad_token_id")
        if end in generated:
            return generated.index(end) + 1
        length = len(generated)
        while length > 1 and pad is not None and generated[length - 1] == pad:
            length -= 1
        return length

    def _get(self, name: str, default: Any = None) -> Any:
        return getattr(self._tokenizer, name, default)


def field_of(tokens: Any, name: str) -> Any:
    """Return an input by its name, if they were given as a mapping, as a tokenizer returns them."""
    if not is_inputs(tokens):
        return None
    return tokens[name] if name in tokens else None  # noqa: SIM401  a BatchEncoding's get differs


def is_inputs(tokens: Any) -> bool:
    """Return whether these are a model's inputs by name, and no tokens."""
    return isinstance(tokens, Mapping) or hasattr(tokens, "keys")


def texts_of(
    tokens: Any, choose: Callable[[int], int], vocabulary: Vocabulary, side: str
) -> tuple[str, ...] | None:
    """Return the tokens of one sentence; None where none were given.

    Args:
        tokens: texts or ids, of one sentence or of each of a batch.
        choose: the function from the number of rows to the row that is read.
        vocabulary: the vocabulary that names ids.
        side: the name of the text in an error message.

    Raises:
        InputError: if these are neither, or have no text.
    """
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
        return checked_tokens(listed[choose(len(listed))], side)
    numbers = [item for row in listed for item in (row if nested else [row])]
    if all(isinstance(item, int) or hasattr(item, "item") for item in numbers):
        rows = rows_of_ids(tokens, f"tokens of the {side}")
        return vocabulary.texts(rows[choose(len(rows))], side)
    return checked_tokens(listed, side)


def kept_positions(mask: Any, choose: Callable[[int], int], name: str) -> Keep | None:
    """Mark the positions of one sentence that are no padding; None without a mask.

    Raises:
        InputError: if this is no mask, or hides everything.
    """
    if mask is None:
        return None
    rows = _table(mask, name)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise InputError(f"The {name} is no [batch, token] of 0 and 1: give the tokenizer's own.")
    positions: Keep = rows[choose(len(rows))] != 0
    if not positions.any():
        raise InputError(f"The {name} hides every token of this sentence: choose another index.")
    return positions


def start_of_second(types: Any, choose: Callable[[int], int]) -> int | None:
    """Find the first position of type 1, where a tokenizer says that a second text begins.

    Args:
        types: `token_type_ids`, `[batch, token]`; 0 for the first text and 1 for the second.
        choose: the function from the number of rows to the row that is read.

    Raises:
        InputError: if they are no table.
    """
    if types is None:
        return None
    rows = _table(types, "token_type_ids")
    seconds = np.flatnonzero(rows[choose(len(rows))] == 1)
    return int(seconds[0]) if len(seconds) and seconds[0] > 0 else None


def _table(values: Any, name: str) -> npt.NDArray[Any]:
    """Convert to rows of one length; a flat list is one row.

    Raises:
        InputError: if their lengths differ.
    """
    try:
        return np.atleast_2d(np.asarray(values.tolist() if hasattr(values, "tolist") else values))
    except ValueError as error:
        raise InputError(
            f"The rows of the {name} differ in length: give the inputs that the model was inputs, "
            f"with padding=True."
        ) from error
