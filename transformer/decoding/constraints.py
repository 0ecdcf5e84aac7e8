"""What a search must write, and what it must not."""

from __future__ import annotations

from dataclasses import dataclass

from transformer.config import EOS
from transformer.decoding.hypothesis import NEVER_WRITTEN
from transformer.errors import InputError
from transformer.words import ForbiddenWords


@dataclass(frozen=True)
class Constraints:
    """The same for each sentence of a search.

    Args:
        prefix: pieces with which each translation begins; their own log-probabilities count.
        forbidden: words that no translation may contain.

    Raises:
        InputError: if the prefix ends the sentence, has a piece that is never written, or contains
            a forbidden word.
    """

    prefix: tuple[int, ...] = ()
    forbidden: ForbiddenWords | None = None

    def __post_init__(self) -> None:
        if EOS in self.prefix:
            raise InputError(
                "The forced beginning ends the sentence, so nothing can follow it: leave out </s>."
            )
        if any(piece in NEVER_WRITTEN for piece in self.prefix):
            raise InputError(
                "The forced beginning has a character that the model cannot write: leave it out."
            )
        if self.forbidden and (word := self.forbidden.written(self.prefix)):
            raise InputError(
                f"The forced beginning contains “{word}”, which is forbidden: allow one or the "
                f"other."
            )


class Bans:
    """The continuations that one search must not write."""

    def __init__(self, forbidden: ForbiddenWords) -> None:
        self.forbidden = forbidden
        self._pieces: dict[tuple[str, bool], list[int]] = {}

    def pieces(self, open_word: str, last: bool) -> list[int]:
        """All pieces that complete a forbidden word; worked out once for each open word.

        Args:
            open_word: the end of the prefix, as `ForbiddenWords.open_word` gives it.
            last: whether the length limit ends the translation here.
        """
        key = (open_word, last)
        if key not in self._pieces:
            vocab = range(len(self.forbidden.texts))
            completes = self.forbidden.completes
            self._pieces[key] = [piece for piece in vocab if completes(open_word, piece, last)]
        return self._pieces[key]
