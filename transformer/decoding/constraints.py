"""The beginning that a search is given: pieces, or a text in whatever pieces."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer import config, errors
from transformer.decoding import hypothesis
from transformer.text.prefix import TextPrefix


@dataclass(frozen=True)
class Constraints:
    """Constraints of a search, the same for each of its sentences."""

    prefix: tuple[int, ...] = ()  # pieces with which each translation begins; their own log P count
    text: TextPrefix | None = None  # with which it must begin, in place of pieces

    def __post_init__(self) -> None:
        if config.EOS in self.prefix:
            raise errors.InputError(
                "The forced prefix ends the sentence, so nothing can follow it: leave out </s>."
            )
        if any(piece in hypothesis.NEVER_WRITTEN for piece in self.prefix):
            raise errors.InputError(
                "The forced prefix has a character that the model cannot write: leave it out."
            )

    def forced_prefix(self, tokens: Sequence[int]) -> Sequence[int]:
        """Return the leading pieces of an allowed translation in which the prefix stands."""
        return tokens[: len(self.prefix) if self.text is None else self.text.count(tokens)]
