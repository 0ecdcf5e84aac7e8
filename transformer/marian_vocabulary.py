"""The vocabularies of a MarianMT folder: SentencePiece cuts, `vocab.json` numbers the pieces."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sentencepiece
from torch import Tensor

from transformer.config import BOS, EOS, PAD, UNK
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.reading import MIB, read_bytes
from transformer.tokenizer import MOST_BYTES, WORD_START, Piece, Tokenizer, with_words
from transformer.words import ForbiddenWords

SPECIAL = {"<pad>": PAD, "<unk>": UNK, "</s>": EOS}
"""Marian's special pieces and our ids for them; it has no `<s>`."""


@dataclass(frozen=True)
class MarianVocabulary:
    """The pieces of one language, or of both that share one, under our ids.

    Args:
        texts: the text of each piece by our id.
        numbers: Marian's number of each piece by its text.
        spm: the serialised SentencePiece model that cuts the text of this language.
    """

    texts: tuple[str, ...]
    numbers: dict[str, int]
    spm: bytes

    @classmethod
    def of(cls, numbers: dict[str, int], spm: bytes) -> MarianVocabulary:
        """Ours first, then all others in Marian's order."""
        others = sorted(numbers.keys() - SPECIAL.keys(), key=numbers.__getitem__)
        return cls(("<pad>", "<unk>", "<s>", "</s>", *others), numbers, spm)

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes by which a text is told its target language, such as `>>fra<<`."""
        return tuple(p for p in self.texts if p.startswith(">>") and p.endswith("<<"))

    def in_our_order(self, rows: Tensor, path: Path) -> Tensor:
        """Rows by Marian's numbers as rows by our ids; that of `<s>` is zero.

        Raises:
            CheckpointError: if a piece has no row.
        """
        if (largest := max(self.numbers.values())) >= len(rows):
            raise CheckpointError(
                f"{path} says that there are {len(rows):,} pieces, but the vocabulary has one with "
                f"number {largest:,}: they belong to different models."
            )
        ours = rows.new_zeros(len(self.texts), *rows.shape[1:])
        for id_, text in enumerate(self.texts):
            if text in self.numbers:
                ours[id_] = rows[self.numbers[text]]
        return ours


@dataclass(frozen=True)
class MarianVocabularies:
    """Those of the source and of the target."""

    source: MarianVocabulary
    target: MarianVocabulary

    @classmethod
    def read(cls, folder: Path, separate: bool, digest: hashlib._Hash) -> MarianVocabularies:
        """Read `vocab.json`, `target_vocab.json` where there are two, and both `.spm` files.

        Raises:
            CheckpointError: naming the file and what is wrong with it.
        """
        source = _numbers(folder / "vocab.json", digest)
        target = _numbers(folder / "target_vocab.json", digest) if separate else source
        return cls(
            MarianVocabulary.of(source, _bytes(folder / "source.spm", digest)),
            MarianVocabulary.of(target, _bytes(folder / "target.spm", digest)),
        )


class MarianTokenizer(Tokenizer):
    """Cuts and joins the text of one language.

    Raises:
        CheckpointError: if its `.spm` file is no SentencePiece model.
    """

    def __init__(self, vocabulary: MarianVocabulary) -> None:
        self.model, self.vocabulary = vocabulary.spm, vocabulary
        self._ids = {text: id_ for id_, text in enumerate(vocabulary.texts)}
        try:
            if not self.model:
                raise ValueError("there are no bytes")
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=self.model)
        except (RuntimeError, ValueError, TypeError) as error:
            raise CheckpointError(
                "A .spm file is no SentencePiece model: copy the folder again."
            ) from error

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included."""
        return len(self.vocabulary.texts)

    def encode(self, text: str) -> list[int]:
        """Text to token ids, without `</s>`."""
        return [self._ids.get(piece, UNK) for piece in self._cut(text)]

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
        return with_words([self._ids.get(piece, UNK) for piece in texts], texts)

    def pieces_of(self, ids: Sequence[int]) -> list[Piece]:
        """Token ids to pieces with the number of their word; special pieces are words."""
        return with_words(ids, [self.vocabulary.texts[i] for i in ids])

    def forbidden(self, words: Sequence[str]) -> ForbiddenWords:
        """As `Tokenizer.forbidden`."""
        return self._forbidden(words, self.vocabulary.texts)

    def _cut(self, text: str) -> list[str]:
        code = next((c for c in self.vocabulary.languages if text.startswith(c)), "")
        pieces = list(self._processor.EncodeAsPieces(text[len(code) :]))
        return [code, *pieces] if code else pieces


def _numbers(path: Path, digest: hashlib._Hash) -> dict[str, int]:
    try:
        known = json.loads(_bytes(path, digest))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: copy the folder again.") from error
    if not isinstance(known, dict) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in known.values()
    ):
        raise CheckpointError(f"{path} does not give each piece a number.")
    if len(set(known.values())) != len(known):
        raise CheckpointError(f"{path} gives two pieces one number.")
    for piece in SPECIAL:
        if piece not in known:
            raise CheckpointError(f"{path} lacks the piece {quoted(piece)}.")
    return known


def _bytes(path: Path, digest: hashlib._Hash) -> bytes:
    try:
        content = read_bytes(path, MOST_BYTES + 16 * MIB)
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path.parent} has no {path.name}: copy it again."
        ) from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    digest.update(content)
    return content
