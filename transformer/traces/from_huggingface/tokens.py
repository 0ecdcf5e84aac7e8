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
        tokenizer: with `convert_ids_to_tokens`, a processor that has such a tokenizer, or None.

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

    def texts(self, ids: Sequence[int], of: str) -> tuple[str, ...]:
        """The tokens of ids.

        Raises:
            InputError: if there is no tokenizer, or it has no such token.
        """
        if self._tokenizer is None:
            raise InputError(
                f"The tokens of the {of} are ids, and there is no tokenizer to name them: give "
                f"tokenizer=, or the tokens as texts."
            )
        try:
            found = self._tokenizer.convert_ids_to_tokens([*ids])
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"The tokenizer does not know all ids of the {of}: give the one of this model."
            ) from error
        for id_, token in zip(ids, found, strict=True):
            if token is None:
                raise InputError(
                    f"The tokenizer has no token {id_}, which is one of the {of}: give the "
                    f"tokenizer of this model."
                )
        return checked_tokens(found, of)

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
        """Of these, what ends a sentence or stands between two."""
        found = (self._get("eos_token"), self._get("sep_token"))
        return frozenset(token for token in found if token is not None)

    def every(self) -> Iterable[str]:
        """All tokens, if it tells them."""
        vocabulary: Iterable[str] = getattr(self._tokenizer, "get_vocab", tuple)()
        return vocabulary

    def end_of(self, generated: Sequence[int]) -> int:
        """How many of the ids that were generated are the sequence, and no padding after it."""
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
    """One of a model's inputs, if they were given as a mapping, as a tokenizer returns them."""
    if not is_inputs(tokens):
        return None
    return tokens[name] if name in tokens else None  # noqa: SIM401  a BatchEncoding's get differs


def is_inputs(tokens: Any) -> bool:
    """Whether these are a model's inputs by name, and no tokens."""
    return isinstance(tokens, Mapping) or hasattr(tokens, "keys")


def texts_of(
    tokens: Any, choose: Callable[[int], int], vocabulary: Vocabulary, of: str
) -> tuple[str, ...] | None:
    """The tokens of one sentence; None where none were given.

    Args:
        tokens: texts or ids, of one sentence or of each of a batch.
        choose: the row for a number of rows.

    Raises:
        InputError: if these are neither, or have no text.
    """
    if tokens is None:
        return None
    listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        return checked_tokens(listed, of)
    listed = [*listed]
    if listed and all(isinstance(one, str) for one in listed):
        return checked_tokens(listed, of)
    nested = all(isinstance(one, (list, tuple)) for one in listed)
    if listed and nested and all(isinstance(one, str) for row in listed for one in row):
        return checked_tokens(listed[choose(len(listed))], of)
    numbers = [one for row in listed for one in (row if nested else [row])]
    if all(isinstance(one, int) or hasattr(one, "item") for one in numbers):
        rows = rows_of_ids(tokens, f"tokens of the {of}")
        return vocabulary.texts(rows[choose(len(rows))], of)
    return checked_tokens(listed, of)


def kept(mask: Any, choose: Callable[[int], int], what: str) -> Keep | None:
    """Which positions of one sentence are no padding; None without a mask.

    Raises:
        InputError: if this is no mask, or hides everything.
    """
    if mask is None:
        return None
    rows = _table(mask, what)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise InputError(f"The {what} is no [batch, token] of 0 and 1: give the tokenizer's own.")
    found: Keep = rows[choose(len(rows))] != 0
    if not found.any():
        raise InputError(f"The {what} hides every token of this sentence: choose another index.")
    return found


def start_of_second(types: Any, choose: Callable[[int], int]) -> int | None:
    """The first position of type 1, where a tokenizer says that a second text begins.

    Args:
        types: `token_type_ids`, `[batch, token]`; 0 for the first text and 1 for the second.
        choose: the row for a number of rows.

    Raises:
        InputError: if they are no table.
    """
    if types is None:
        return None
    rows = _table(types, "token_type_ids")
    seconds = np.flatnonzero(rows[choose(len(rows))] == 1)
    return int(seconds[0]) if len(seconds) and seconds[0] > 0 else None


def _table(given: Any, what: str) -> npt.NDArray[Any]:
    """Rows of one length; one row for a flat list.

    Raises:
        InputError: if their lengths differ.
    """
    try:
        return np.atleast_2d(np.asarray(given.tolist() if hasattr(given, "tolist") else given))
    except ValueError as error:
        raise InputError(
            f"The rows of the {what} differ in length: give the inputs that the model was given, "
            f"with padding=True."
        ) from error
