"""Tokens that were added to the vocabulary of a MarianMT folder, as `transformers` saves them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from transformer.checkpoints.marian.config import TOKENIZER_CONFIG, read_json
from transformer.errors import CheckpointError, quoted

ADDED, ADDED_DECODER = "added_tokens.json", "added_tokens_decoder"
_SPECIAL = ("extra_special_tokens", "additional_special_tokens")  # now, and until 2025
_FLAGS = ("lstrip", "rstrip", "single_word")


@dataclass(frozen=True)
class AddedTokens:
    """Tokens that are cut out of a text before SentencePiece sees it."""

    path: Path  # the file that lists them
    numbers: Mapping[str, int]  # Marian's number of each by its text
    special: frozenset[str]  # those that no decoded text shows

    @classmethod
    def read(cls, folder: Path, values: Any, digest: "hashlib._Hash") -> "AddedTokens":
        """Read the tokens of `tokenizer_config.json`, given as values, or of the older file."""
        path, values = folder / TOKENIZER_CONFIG, values if isinstance(values, dict) else {}
        numbers: Any = {}
        if (listed := values.get(ADDED_DECODER)) is not None:
            numbers = _described(path, listed)
        elif (folder / ADDED).exists():
            path = folder / ADDED
            numbers = read_json(path, digest)
        if not isinstance(numbers, dict) or not all(
            type(number) is int and number >= 0 for number in numbers.values()
        ):
            raise CheckpointError(f"{path} does not give each token a number: copy it again.")
        if len(set(numbers.values())) < len(numbers) or "" in numbers:
            raise CheckpointError(
                f"{path} gives two tokens one number, or lists an empty one: copy it again."
            )
        special = (token for name in _SPECIAL for token in _listed(values.get(name)))
        return cls(path, numbers, frozenset(special))

    def joined_to(self, known: dict[str, int], rows: int, *, optional: bool) -> dict[str, int]:
        """Return the numbers of a vocabulary with these tokens; `optional` ones need no row."""
        texts = {number: text for text, number in known.items()}
        added = {t: n for t, n in self.numbers.items() if n < rows or not optional}
        for text, number in added.items():
            if number >= rows:
                raise CheckpointError(
                    f"{self.path} gives {quoted(text)} the number {number:,}, but the model has "
                    f"{rows:,} rows: they belong to different models."
                )
            if texts.get(number, text) != text or known.get(text, number) != number:
                raise CheckpointError(
                    f"{self.path} gives {quoted(text)} the number {number:,}, but in the "
                    f"vocabulary another piece has it, or {quoted(text)} another number: write "
                    f"the same in both."
                )
        return {**known, **added}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Pattern of any of the tokens, the longest first."""
        texts = sorted(self.numbers, key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, texts))})")


def _listed(tokens: Any) -> list[str]:
    """Return the texts of a list of tokens, which may be objects."""
    every = tokens if isinstance(tokens, list) else []
    texts = (token.get("content") if isinstance(token, dict) else token for token in every)
    return [text for text in texts if isinstance(text, str)]


def _described(path: Path, listed: Any) -> dict[str, int]:
    """Return the number of each token of `added_tokens_decoder`."""
    numbers: dict[str, int] = {}
    items: list[tuple[str, Any]] = list(listed.items()) if isinstance(listed, dict) else [("", {})]
    for number, described in items:
        flags = described if isinstance(described, dict) else {}
        text = flags.get("content")
        if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,9}", number) or text in numbers:
            raise CheckpointError(
                f"{path}: {ADDED_DECODER} does not give each number a token of its own: copy it "
                f"again."
            )
        if flag := next((flag for flag in _FLAGS if flags.get(flag)), None):
            raise CheckpointError(
                f"{path} says {flag} = {quoted(flags[flag])} of the token {quoted(text)}: only "
                f"tokens that stand for their text wherever it is can be read."
            )
        numbers[text] = int(number)
    return numbers
