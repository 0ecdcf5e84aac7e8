"""One SentencePiece vocabulary for both languages; the words that pieces belong to (§5.1)."""

import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import sentencepiece
from sentencepiece import SentencePieceProcessor

from transformer.config import BOS, EOS, PAD, UNK
from transformer.errors import CheckpointError, ConfigError, InputError, reading
from transformer.files.reading import MIB, read_bytes
from transformer.text.prefix import TextPrefix
from transformer.text.words import PLACEHOLDER, ForbiddenWords, number_words

MAX_BYTES = 64 * MIB
"""Largest size of a `tokenizer.model`; one of 37,000 pieces has less than 1 MiB."""

WORD_START = "▁"  # SentencePiece writes a space as this character
# what SentencePiece says of a size
_TOO_LARGE = re.compile(r"size too high .*<= ([0-9]+)")
_TOO_SMALL = re.compile(r"smaller than required_chars.* vs ([0-9]+)")
SPECIAL = {PAD: "<pad>", BOS: "<s>", EOS: "</s>"}


@dataclass(frozen=True)
class Piece:
    """One token as the model reads it and as a person wrote it."""

    id: int  # row of the embedding
    text: str  # a leading space is `▁`; an unknown one has its own characters (NFKC), not `<unk>`
    word: int  # index of the word it belongs to, in reading order


class Tokenizer:
    """A joint vocabulary of byte-pair-encoded pieces, from a serialised SentencePiece model."""

    def __init__(self, model: bytes, name: str = "tokenizer.model") -> None:
        self.model = model
        if (processor := read_processor(model)) is None:
            raise CheckpointError(f"{name} is not a SentencePiece model: copy it again.")
        self._processor = processor
        pieces = ["<pad>", "<unk>", "<s>", "</s>"]
        # PieceToId gives a piece that is not there the id of <unk>
        known = zip(pieces, processor.PieceToId(pieces), strict=True)
        ids = [id_ if processor.IdToPiece(id_) == piece else None for piece, id_ in known]
        if ids != [PAD, UNK, BOS, EOS]:
            raise CheckpointError(
                f"{name} gives its special pieces <pad>, <unk>, <s> and </s> the ids {ids}: train "
                f"it with pad_id={PAD}, unk_id={UNK}, bos_id={BOS} and eos_id={EOS}."
            )

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a SentencePiece model, such as `tokenizer.model`."""
        with reading(path):
            return cls(read_bytes(path, MAX_BYTES), str(path))

    @classmethod
    def train(cls, lines: Iterable[str], vocab_size: int) -> "Tokenizer":
        """Learn byte-pair encoding on the training text of both languages together (§5.1)."""
        written = io.BytesIO()
        failed: list[BaseException] = []  # the library makes a RuntimeError of whatever it is

        def read() -> Iterator[str]:
            try:
                yield from lines
            except (Exception, KeyboardInterrupt) as error:
                failed.append(error)
                raise

        try:
            sentencepiece.SentencePieceTrainer.Train(
                sentence_iterator=read(),
                model_writer=written,
                model_type="bpe",
                vocab_size=vocab_size,
                character_coverage=0.9999,
                normalization_rule_name="nfkc",
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                minloglevel=2,
            )
        except RuntimeError as error:
            if failed:
                raise failed[0] from None
            raise ConfigError(_refused_size(vocab_size, str(error))) from error
        return cls(written.getvalue())

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included."""
        return int(self._processor.GetPieceSize())

    def encode(self, text: str) -> list[int]:
        """Encode a text to token ids, without `<s>` and `</s>`."""
        return list(self._processor.EncodeAsIds(text))

    def encode_all(self, lines: Sequence[str]) -> list[list[int]]:
        """Encode many texts at once, on all cores."""
        return [list(ids) for ids in self._processor.Encode(list(lines), num_threads=-1)]

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids to text; special pieces are left out."""
        return str(self._processor.DecodeIds([i for i in ids if i not in SPECIAL]))

    def pieces(self, text: str) -> list[Piece]:
        """Cut a text into pieces with their word's number; unknown pieces keep their typed text."""
        # SentencePiece gives an unknown piece in its own characters, maybe those of a special one
        texts = self._processor.EncodeAsPieces(text)
        ids = self._processor.PieceToId(texts)
        return with_words([UNK if id_ in SPECIAL else id_ for id_ in ids], texts)

    def pieces_of(self, ids: Sequence[int]) -> list[Piece]:
        """Convert token ids to pieces with the number of their word; special pieces are words."""
        return with_words(ids, [SPECIAL.get(i) or self._processor.IdToPiece(i) for i in ids])

    def ids_of(self, texts: Iterable[str]) -> list[int]:
        """Return the token ids of pieces as `pieces_of` writes them."""
        ids = []
        for text in texts:
            # half a character, which no piece has, cannot be encoded
            id_ = int(self._processor.PieceToId(text.encode(errors="replace").decode()))
            if self._processor.IdToPiece(id_) != text:
                raise unknown_piece(text)
            ids.append(id_)
        return ids

    def score(self, text: str) -> float:
        """Return the score of a piece in the SentencePiece model; -∞ of what is not one."""
        id_ = self._processor.PieceToId(text)
        is_piece = self._processor.IdToPiece(id_) == text
        return float(self._processor.GetScore(id_)) if is_piece else -math.inf

    @cached_property
    def joins_pairs(self) -> bool:
        """True for byte-pair encoding, which scores a piece by the number of its merge."""
        ids = range(self._processor.GetPieceSize())
        return all(self._processor.GetScore(id_).is_integer() for id_ in ids)

    def forbidden(self, words: Iterable[str]) -> ForbiddenWords:
        """Check words that a search must not write, as `decoding.Constraints` takes them."""
        return ForbiddenWords.from_words(words, self._texts)

    def text_prefix(self, text: str) -> TextPrefix:
        """Return a text that a search must begin with, as `decoding.Constraints` takes it."""
        return TextPrefix(text.replace(WORD_START, " "), self._texts, (*SPECIAL, UNK))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The text of each piece with its spaces; a special piece as one that is not a word."""
        ids = list(range(self.vocab_size))
        return tuple(as_typed(ids, self._processor.IdToPiece(ids)))


def _refused_size(vocab_size: int, reason: str) -> str:
    """Write a sentence on a size that SentencePiece refuses, with the one that its reason names."""
    start = f"No vocabulary of {vocab_size} pieces can be learnt from this text: "
    if match := _TOO_LARGE.search(reason):
        return f"{start}it gives at most {int(match[1]):,}; set vocab_size = {match[1]} or less."
    if match := _TOO_SMALL.search(reason):
        return (
            f"{start}its characters alone take {int(match[1]):,}; set vocab_size = {match[1]} or "
            f"more."
        )
    return f"{start}it has no characters to learn from; bring text."


def read_processor(model: bytes) -> SentencePieceProcessor | None:
    """Read a serialised SentencePiece model; None if it is not one."""
    if not model:  # SentencePiece takes it, and complains on standard error at each call
        return None
    try:
        return SentencePieceProcessor(model_proto=model)
    except (RuntimeError, ValueError, TypeError):
        return None


def unknown_piece(text: str) -> InputError:
    """Return the error on a piece that the vocabulary does not have."""
    return InputError(
        f"“{text}” is not a piece of this model's vocabulary: give pieces as the tokenizer writes "
        f"them, a leading space as {WORD_START}."
    )


def as_typed(ids: Iterable[int], texts: Iterable[str]) -> list[str]:
    """Return the text of each piece with its spaces; a special piece is one non-word character."""
    return [
        PLACEHOLDER if id_ in SPECIAL else text.replace(WORD_START, " ")
        for id_, text in zip(ids, texts, strict=True)
    ]


def with_words(ids: Sequence[int], texts: Sequence[str]) -> list[Piece]:
    """Return the number of each piece's word, as `number_words` does; a special piece is a word."""
    words = number_words(as_typed(ids, texts))
    return [Piece(*piece) for piece in zip(ids, texts, words, strict=True)]


def with_end(pieces: list[Piece]) -> list[Piece]:
    """Append `</s>`, a word of its own."""
    return [*pieces, Piece(EOS, SPECIAL[EOS], pieces[-1].word + 1 if pieces else 0)]
