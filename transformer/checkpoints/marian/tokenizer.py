"""The vocabulary and the tokenizer of each language of a MarianMT folder.

SentencePiece cuts, and `vocab.json` numbers the pieces.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from transformer.checkpoints.marian.config import TOKENIZER_CONFIG, MarianConfig, read_json
from transformer.config import BOS, EOS, MAXIMA, PAD, UNK
from transformer.errors import CheckpointError, quoted, unreadable
from transformer.files.reading import read_bytes
from transformer.text import tokenizer as tokenizers
from transformer.text.words import number_words

VOCABULARY, TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
SPECIAL = {"<pad>": PAD, "<unk>": UNK, "</s>": EOS}
"""Marian's special pieces and our ids for them; most models have no `<s>`."""

_CODE = re.compile(r">>([^<>\s]+)<<")
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


@dataclass(frozen=True)
class MarianVocabulary:
    """The pieces of one language, or of both that share one, under our ids."""

    # the text of each piece by our id: our special pieces, then all others in Marian's order
    texts: tuple[str, ...]
    numbers: Mapping[str, int]  # Marian's number of each piece by its text
    added: AddedTokens  # the tokens that are no pieces of SentencePiece

    @classmethod
    def read(
        cls,
        path: Path,
        digest: "hashlib._Hash",
        added: AddedTokens,
        rows: int,
        *,
        start: int | None = None,
        second: bool = False,
    ) -> "MarianVocabulary":
        """Read a `vocab.json`; each of the `rows` of the embedding is a piece, even without a name.

        A `second` vocabulary, that of the target alone, may lack the `added` tokens of the
        tokenizer. A decoder that reads it begins with the number `start`.
        """
        numbers = added.joined_to(_numbers(path, digest), rows, optional=second)
        cut = added.numbers.keys() & numbers.keys() - {*SPECIAL, "<s>"}
        added = replace(
            added, numbers={text: numbers[text] for text in cut}, special=added.special & cut
        )
        named = set(numbers.values())
        unnamed = (n for n in range(min(rows, MAXIMA["vocab_size"])) if n not in named)
        numbers = {f"<row {number}>": number for number in unnamed} | numbers
        ours = {*SPECIAL, "<s>"}
        if start is not None and numbers.get("<s>") != start:
            ours.remove("<s>")  # ours is the start; Marian's own, if it has one, is another piece
        others = sorted((piece for piece in numbers if piece not in ours), key=numbers.__getitem__)
        return cls(("<pad>", "<unk>", "<s>", "</s>", *others), numbers, added)

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
        """Raise CheckpointError: a checkpoint of ours cannot store it."""
        raise CheckpointError(
            "The vocabulary of a MarianMT model cannot be stored in a checkpoint of ours: keep the "
            "folder as it is."
        )

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included."""
        return len(self.vocabulary.texts)

    def encode(self, text: str) -> list[int]:
        """Encode a text to token ids, without `</s>`."""
        return self._ids(self._cut(text))

    def encode_all(self, lines: Sequence[str]) -> list[list[int]]:
        """Encode many texts, one after another."""
        return [self.encode(line) for line in lines]

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids to text; special pieces are left out."""
        texts = (self.vocabulary.texts[i] for i in ids if i not in (PAD, BOS, EOS))
        shown = (text for text in texts if text not in self.vocabulary.added.special)
        return "".join(shown).replace(tokenizers.WORD_START, " ").strip()

    def pieces(self, text: str) -> list[tokenizers.Piece]:
        """Cut a text into pieces with word numbers; an unknown piece keeps its typed text."""
        texts = self._cut(text)
        return self._with_words(self._ids(texts), texts)

    def pieces_of(self, ids: Sequence[int]) -> list[tokenizers.Piece]:
        """Convert token ids to pieces with the number of their word; special pieces are words."""
        return self._with_words(ids, [self.vocabulary.texts[i] for i in ids])

    def ids_of(self, texts: Iterable[str]) -> list[int]:
        """Return the token ids of pieces; see `Tokenizer.ids_of`."""
        every = list(texts)
        for text in every:
            if text not in self.vocabulary.ids:
                raise tokenizers.no_piece(text)
        return self._ids(every)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(
            tokenizers.as_typed(range(self.vocab_size), map(self._spaced, self.vocabulary.texts))
        )

    def _with_words(self, ids: Sequence[int], texts: Sequence[str]) -> list[tokenizers.Piece]:
        words = number_words(tokenizers.as_typed(ids, map(self._spaced, texts)))
        return [tokenizers.Piece(*piece) for piece in zip(ids, texts, words, strict=True)]

    def _spaced(self, text: str) -> str:
        """Return the text of a piece; an added token, which has no blank, begins a word."""
        return tokenizers.WORD_START + text if text in self.vocabulary.added.numbers else text

    def _ids(self, texts: Iterable[str]) -> list[int]:
        return [self.vocabulary.ids.get(text, UNK) for text in texts]

    def _cut(self, text: str) -> list[str]:
        """Cut a text into pieces; an added token is one, wherever it stands."""
        if not self.vocabulary.added.numbers:
            return self._cut_plain(text)
        texts: list[str] = []
        for index, part in enumerate(self.vocabulary.added.pattern.split(text)):
            if part:
                texts += [part] if index % 2 else self._cut_plain(part)
        return texts

    def _cut_plain(self, text: str) -> list[str]:
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
    added = AddedTokens.read(folder, settings, digest)
    stated = settings.get("separate_vocabs") if isinstance(settings, dict) else None
    separate = stated if isinstance(stated, bool) else not config.shares
    path, rows = folder / VOCABULARY, config.number("vocab_size")
    if separate or rows != config.target_rows:
        source = MarianVocabulary.read(path, digest, added, rows)
        target = MarianVocabulary.read(
            folder / TARGET_VOCABULARY if separate else path,
            digest,
            added,
            config.target_rows,
            start=start,
            second=True,
        )
    else:
        source = target = MarianVocabulary.read(path, digest, added, rows, start=start)
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
    """Read a `.spm` file, most of whose pieces have a number."""
    try:
        content = read_bytes(path, tokenizers.MAX_BYTES)
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.parent} has no tokenizer: {path.name} is missing.") from error
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
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
