"""The vocabulary and the tokenizer of each language of a MarianMT folder.

SentencePiece cuts, and `vocab.json` numbers the pieces.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from transformer.checkpoints.marian.config import TOKENIZER_CONFIG, MarianConfig, read_json
from transformer.config import BOS, EOS, MAX_VOCAB_SIZE, PAD, UNK
from transformer.errors import CheckpointError, quoted, reading
from transformer.files.reading import read_bytes
from transformer.text import tokenizer as tokenizers

VOCABULARY, TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
SPECIAL = {"<pad>": PAD, "<unk>": UNK, "</s>": EOS}
"""Marian's special pieces and our ids for them; most models have no `<s>`."""

ADDED = "added_tokens.json"
_CODE = re.compile(r">>([^<>\s]+)<<")


@dataclass(frozen=True)
class MarianVocabulary:
    """The pieces of one language, or of both that share one, under our ids."""

    # the text of each piece by our id: our special pieces, then all others in Marian's order
    texts: tuple[str, ...]
    numbers: Mapping[str, int]  # Marian's number of each piece by its text

    @classmethod
    def read(
        cls,
        path: Path,
        digest: "hashlib._Hash",
        rows: int,
        *,
        start: int | None = None,
    ) -> "MarianVocabulary":
        """Read a `vocab.json`; each of the `rows` of the embedding is a piece, even without a name.

        A decoder that reads it begins with the number `start`.
        """
        numbers = _numbers(path, digest)
        named = set(numbers.values())
        unnamed = (n for n in range(min(rows, MAX_VOCAB_SIZE)) if n not in named)
        numbers = {f"<row {number}>": number for number in unnamed} | numbers
        ours = {*SPECIAL, "<s>"}
        if start is not None and numbers.get("<s>") != start:
            ours.remove("<s>")  # ours is the start; Marian's own, if it has one, is another piece
        others = sorted((piece for piece in numbers if piece not in ours), key=numbers.__getitem__)
        return cls(("<pad>", "<unk>", "<s>", "</s>", *others), numbers)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Our id of each piece by its text."""
        return {text: id_ for id_, text in enumerate(self.texts)}

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Target languages that a text can ask for: `fra` of the piece `>>fra<<`."""
        asked = (_CODE.fullmatch(text) for text in self.texts if text.startswith(">>"))
        return tuple(match[1] for match in asked if match)

    def in_our_order(self, rows: Tensor, path: Path) -> Tensor:
        """Reorder rows from Marian's numbers to our ids; an id without a number gets zeros."""
        numbers = torch.tensor([self.numbers.get(text, -1) for text in self.texts])
        if (largest := int(numbers.max())) >= len(rows):
            raise CheckpointError(
                f"{path} says that there are {len(rows):,} pieces, but the vocabulary has one with "
                f"number {largest:,}: they belong to different models."
            )
        ours = rows.index_select(0, numbers.clamp(min=0))
        ours[numbers < 0] = 0
        return ours


class MarianTokenizer(tokenizers.Tokenizer):
    """Cuts and joins the text of one language."""

    def __init__(self, vocabulary: MarianVocabulary, processor: SentencePieceProcessor) -> None:
        self.vocabulary, self._processor = vocabulary, processor

    @property
    def model(self) -> bytes:  # type: ignore[override]
        """Raise CheckpointError: a Headlight checkpoint cannot store it."""
        raise CheckpointError(
            "The vocabulary of a MarianMT model cannot be stored in a Headlight checkpoint: keep "
            "the folder as it is."
        )

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included."""
        return len(self.vocabulary.texts)

    def encode(self, text: str) -> list[int]:
        """Encode a text to token ids, without `</s>`."""
        return self._ids(self._pieces(text))

    def encode_all(self, lines: Sequence[str]) -> list[list[int]]:
        """Encode many texts, one after another."""
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids to text; special pieces are left out."""
        texts = (self.vocabulary.texts[i] for i in ids if i not in (PAD, BOS, EOS))
        return "".join(texts).replace(tokenizers.WORD_START, " ").strip()

    def pieces(self, text: str) -> list[tokenizers.Piece]:
        """Cut a text into pieces with word numbers; an unknown piece keeps its typed text."""
        texts = self._pieces(text)
        return tokenizers.with_words(self._ids(texts), texts)

    def pieces_of(self, ids: Sequence[int]) -> list[tokenizers.Piece]:
        """Convert token ids to pieces with the number of their word; special pieces are words."""
        return tokenizers.with_words(ids, [self.vocabulary.texts[i] for i in ids])

    def ids_of(self, texts: Iterable[str]) -> list[int]:
        """Return the token ids of pieces; see `Tokenizer.ids_of`."""
        every = list(texts)
        for text in every:
            if text not in self.vocabulary.ids:
                raise tokenizers.unknown_piece(text)
        return self._ids(every)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(tokenizers.as_typed(range(self.vocab_size), self.vocabulary.texts))

    def _ids(self, texts: Iterable[str]) -> list[int]:
        return [self.vocabulary.ids.get(text, UNK) for text in texts]

    def _pieces(self, text: str) -> list[str]:
        """Cut a text into pieces; the code of a language in front of it is one piece."""
        code = _CODE.match(text)
        if code is None or code.group() not in self.vocabulary.ids:
            return list(self._processor.EncodeAsPieces(text))
        return [code.group(), *self._processor.EncodeAsPieces(text[code.end() :])]


def read_tokenizers(
    folder: Path, config: MarianConfig, digest: "hashlib._Hash"
) -> tuple[MarianTokenizer, MarianTokenizer]:
    """Read the tokenizers of source and target, which may share one vocabulary."""
    start, path = config.number("decoder_start_token_id"), folder / TOKENIZER_CONFIG
    # whose checksum is taken with the languages
    settings = read_json(path, hashlib.sha256()) if path.exists() else None
    settings = settings if isinstance(settings, dict) else {}
    stated = settings.get("separate_vocabs")
    separate = stated if isinstance(stated, bool) else not config.shares
    path, rows = folder / VOCABULARY, config.number("vocab_size")
    if separate or rows != config.target_rows:
        source = MarianVocabulary.read(path, digest, rows)
        target = MarianVocabulary.read(
            folder / TARGET_VOCABULARY if separate else path,
            digest,
            config.target_rows,
            start=start,
        )
    else:
        source = target = MarianVocabulary.read(path, digest, rows, start=start)
    added = settings.get("added_tokens_decoder")
    described = added.values() if isinstance(added, dict) else ()
    texts = [str(token.get("content") if isinstance(token, dict) else token) for token in described]
    if (folder / ADDED).exists():
        listed = read_json(folder / ADDED, hashlib.sha256())
        texts += map(str, listed if isinstance(listed, dict) else [listed])
    # no published model has a token that was added to the pieces
    known = {**source.numbers, **target.numbers}
    if unknown := [text for text in texts if text not in known]:
        raise CheckpointError(
            f"{folder} adds the token {quoted(unknown[0])} to its pieces: only models whose tokens "
            f"are all in {VOCABULARY} can be read."
        )
    for name, piece in (("pad_token_id", "<pad>"), ("eos_token_id", "</s>")):
        if (number := config.number(name)) != target.numbers[piece]:
            raise CheckpointError(
                f"{config.path} says {name} = {number:,}, but {piece} has the number "
                f"{target.numbers[piece]:,} in the vocabulary: they belong to different models."
            )
    return (
        MarianTokenizer(source, _processor(folder / SOURCE_SPM, source.numbers, digest)),
        MarianTokenizer(target, _processor(folder / TARGET_SPM, target.numbers, digest)),
    )


def _numbers(path: Path, digest: "hashlib._Hash") -> dict[str, int]:
    known = read_json(path, digest)
    if not isinstance(known, dict) or not all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31 for n in known.values()
    ):
        raise CheckpointError(f"{path} does not give each piece a number: copy the folder again.")
    if len(set(known.values())) != len(known):
        raise CheckpointError(f"{path} gives two pieces one number: copy the folder again.")
    for piece in SPECIAL:
        if piece not in known:
            raise CheckpointError(f"{path} lacks the piece {quoted(piece)}: copy the folder again.")
    return known


def _processor(
    path: Path, numbers: Mapping[str, int], digest: "hashlib._Hash"
) -> SentencePieceProcessor:
    """Read a `.spm` file; most of its pieces must be in the vocabulary."""
    missing = f"{path.parent} has no tokenizer: {path.name} is missing; save it there."
    with reading(path, missing=missing):
        content = read_bytes(path, tokenizers.MAX_BYTES)
    digest.update(content)
    if (processor := tokenizers.read_processor(content)) is None:
        raise CheckpointError(f"{path} is not a SentencePiece model: copy the folder again.")
    pieces = processor.IdToPiece(list(range(processor.GetPieceSize())))
    if 2 * sum(piece in numbers for piece in pieces) < len(pieces):
        raise CheckpointError(
            f"{path} cuts text into pieces of which most are not in the vocabulary: they belong to "
            f"different models."
        )
    return processor
