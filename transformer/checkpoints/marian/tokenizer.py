"""The tokenizer of one language of a MarianMT folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from sentencepiece import SentencePieceProcessor

from transformer.checkpoints.marian.vocabulary import MarianVocabulary
from transformer.config import BOS, EOS, PAD, UNK
from transformer.errors import CheckpointError
from transformer.text.tokenizer import WORD_START, Piece, Tokenizer, as_typed, no_piece, with_words

_FIRST_CODE = re.compile(r">>[^<>\s]+<<")


class MarianTokenizer(Tokenizer):
    """Cuts and joins the text of one language."""

    def __init__(self, vocabulary: MarianVocabulary, processor: SentencePieceProcessor) -> None:
        self.vocabulary, self._processor = vocabulary, processor

    @property
    def model(self) -> bytes:  # type: ignore[override]
        """Not what a checkpoint of ours stores.

        Raises:
            CheckpointError: always.
        """
        raise CheckpointError(
            "The vocabulary of a MarianMT model cannot be stored in a checkpoint of ours: keep the "
            "folder as it is."
        )

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included."""
        return len(self.vocabulary.texts)

    def encode(self, text: str) -> list[int]:
        """Text to token ids, without `</s>`."""
        return self._ids(self._cut(text))

    def encode_all(self, lines: Sequence[str]) -> list[list[int]]:
        """Many texts, one after another."""
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        """Token ids to text; special pieces are left out."""
        texts = (self.vocabulary.texts[i] for i in ids if i not in (PAD, BOS, EOS))
        return "".join(texts).replace(WORD_START, " ").strip()

    def pieces(self, text: str) -> list[Piece]:
        """Text to pieces with the number of their word; an unknown piece keeps its typed text."""
        texts = self._cut(text)
        return with_words(self._ids(texts), texts)

    def pieces_of(self, ids: Sequence[int]) -> list[Piece]:
        """Token ids to pieces with the number of their word; special pieces are words."""
        return with_words(ids, [self.vocabulary.texts[i] for i in ids])

    def ids_of(self, texts: Iterable[str]) -> list[int]:
        """As `Tokenizer.ids_of`."""
        ids, numbers = self.vocabulary.ids, []
        for text in texts:
            if text not in ids:
                raise no_piece(text)
            numbers.append(ids[text])
        return numbers

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(as_typed(range(self.vocab_size), self.vocabulary.texts))

    def _ids(self, texts: Iterable[str]) -> list[int]:
        return [self.vocabulary.ids.get(text, UNK) for text in texts]

    def _cut(self, text: str) -> list[str]:
        """Pieces of a text; the code of a language in front of it is one piece."""
        code = _FIRST_CODE.match(text)
        if code is None or code.group() not in self.vocabulary.ids:
            return list(self._processor.EncodeAsPieces(text))
        return [code.group(), *self._processor.EncodeAsPieces(text[code.end() :])]
