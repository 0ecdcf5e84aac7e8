"""Constraints of a search: a forced prefix and forbidden words."""

from bisect import bisect_left
from collections.abc import Callable, Container, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from torch import Tensor

from transformer import config, errors
from transformer.decoding import hypothesis
from transformer.text.prefix import TextPrefix
from transformer.text.words import ForbiddenWords

LookAhead = Callable[[tuple[int, ...]], Tensor]
"""The pieces of a prefix to log P of each next piece, `[vocab]`, for one sentence."""


@dataclass(frozen=True)
class Constraints:
    """Constraints of a search, the same for each of its sentences."""

    prefix: tuple[int, ...] = ()  # pieces with which each translation begins; their own log P count
    words: ForbiddenWords | None = None  # maybe of no word, for the texts of the pieces
    text: TextPrefix | None = None  # with which it must begin; only with `words`
    # Whether a piece that writes the last letter of a forbidden word is refused at once where the
    # model would sooner end the word than make it longer. Otherwise the search sees that one piece
    # later, when all that is left may be a word that the model hardly finds possible.
    looks_ahead: bool = False

    def __post_init__(self) -> None:
        if config.EOS in self.prefix:
            raise errors.InputError(
                "The forced prefix ends the sentence, so nothing can follow it: leave out </s>."
            )
        if any(piece in hypothesis.NEVER_WRITTEN for piece in self.prefix):
            raise errors.InputError(
                "The forced prefix has a character that the model cannot write: leave it out."
            )
        if self.words is None:
            return
        given = self.words.text_of(self.prefix) if self.text is None else self.text.text
        if word := self.words.completed_by(given):
            raise errors.InputError(
                f"The forced prefix contains “{word}”, which is forbidden: allow one or the other."
            )

    def bans(self) -> "Bans | None":
        """Return what a search must not write; None where nothing is forbidden."""
        return None if self.words is None else Bans(self.words, self.text)

    def forced_prefix(self, tokens: Sequence[int]) -> Sequence[int]:
        """Return the leading pieces of an allowed translation in which the prefix stands."""
        if self.words is None or self.text is None:
            return tokens[: len(self.prefix)]
        ends = list(accumulate(len(self.words.texts[token]) for token in tokens))
        return tokens[: bisect_left(ends, len(self.text.text)) + 1]


class PrefixState(NamedTuple):
    """The state of a prefix that decides which pieces may follow it."""

    open_word: str  # the end of the prefix, as `ForbiddenWords.open_word` returns it
    place: int  # the number of characters of the `TextPrefix` that are written


EMPTY = PrefixState("", 0)


class Bans:
    """The continuations that one search must not write."""

    def __init__(self, words: ForbiddenWords, prefix: TextPrefix | None = None) -> None:
        self.words, self.prefix = words, prefix
        self._look_ahead: LookAhead | None = None
        self._end = len(self.prefix.text) if self.prefix else 0
        self._vocab = range(len(self.words.texts))
        self._pieces: dict[tuple[PrefixState, int], list[int]] = {}
        self._likely_ends: dict[tuple[int, ...], bool] = {}

    def for_sentence(self, look_ahead: LookAhead) -> "Bans":
        """Return the bans of one sentence of a batch; all share the pieces that are worked out."""
        bans = copy(self)
        bans._look_ahead, bans._likely_ends = look_ahead, {}
        return bans

    def require_room(self, length: int) -> None:
        """Refuse a text prefix that is longer than the translation may be."""
        if self.prefix is not None and self.prefix.fewest > length:
            raise errors.InputError(
                f"The forced prefix has at least {self.prefix.fewest:,.0f} pieces, but the "
                f"translation may have at most {length:,}: shorten the prefix."
            )

    def after(self, written: PrefixState, piece: int) -> PrefixState:
        """Return the state after a piece that may follow is written."""
        return PrefixState(
            self.words.open_word((piece,), written.open_word),
            min(written.place + len(self.words.texts[piece]), self._end),
        )

    def is_open(self, written: PrefixState) -> bool:
        """Return whether the text prefix is not yet complete."""
        return written.place < self._end

    def refuses(self, written: PrefixState, piece: int, left: int) -> bool:
        """Return whether a piece departs from the text prefix, or completes a forbidden word."""
        departs = piece not in self._continuations(written, left)
        return departs or self.words.completes(written.open_word, piece, left == 0)

    def pieces(self, written: PrefixState, left: int) -> list[int]:
        """List all pieces that `refuses` refuses, computed once for each end of a prefix."""
        # once the text prefix is complete, all that counts is whether this piece is the last
        key = (written, left if self.is_open(written) else min(left, 1))
        if key not in self._pieces:
            follow = self._continuations(written, left)
            completes = self.words.completes
            self._pieces[key] = [
                piece
                for piece in self._vocab
                if piece not in follow or completes(written.open_word, piece, left == 0)
            ]
        return self._pieces[key]

    def likely_ends_forbidden(
        self, tokens: tuple[int, ...], before: PrefixState, left: int
    ) -> bool:
        """Return whether the model would sooner end than extend a forbidden word in these pieces.

        The last of them is one that `refuses` allows, and `before` is the prefix without it.
        """
        if self._look_ahead is None or left == 0:
            return False
        is_forced = before.place + len(self.words.texts[tokens[-1]]) <= self._end
        written = self.after(before, tokens[-1])
        if is_forced or not self.words.completes(written.open_word, config.EOS):
            return False
        if tokens not in self._likely_ends:
            probability = self._look_ahead(tokens).exp()  # [vocab]
            probability[list(hypothesis.NEVER_WRITTEN)] = 0
            ended = float(probability[self.pieces(written, left - 1)].sum())
            self._likely_ends[tokens] = ended >= float(probability.sum()) - ended
        return self._likely_ends[tokens]

    def _continuations(self, written: PrefixState, left: int) -> Container[int]:
        """Return the pieces that continue the text prefix; all where it is complete."""
        if self.prefix is None or not self.is_open(written):
            return self._vocab
        return self.prefix.allowed(written.place, left)
