"""Reading of what a person types, a text or its pieces, into pieces that the model accepts."""

from collections.abc import Iterable, Sequence

from transformer.config import EOS, UNK
from transformer.errors import InputError, quoted, shortened
from transformer.text.languages import Languages, Side, without_code
from transformer.text.prefix import TextPrefix
from transformer.text.tokenizer import SPECIAL, Piece, Tokenizer, with_end

LETTERS_OF_A_PIECE = 64  # at most; a longer text is refused before it is cut into pieces
PREFIX = "forced prefix"  # as an error calls it
MAX_QUOTE_LENGTH = 60  # characters of what is quoted; the middle of more is left out


class InputReader:
    """Reads what a person gives, for one model of sentences of at most `max_length` pieces."""

    def __init__(
        self,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        languages: Languages,
        max_length: int,
    ) -> None:
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer
        self.languages, self.max_length = languages, max_length

    @property
    def max_characters(self) -> int:
        """Characters of the longest text that is read at all."""
        return LETTERS_OF_A_PIECE * self.max_length

    def is_blank(self, text: str) -> bool:
        """Return whether a text has nothing to read; beyond `max_characters` it comes cut."""
        return not text.strip() and len(text) <= self.max_characters

    def text(self, text: str, name: str = "text") -> list[Piece]:
        """Read a sentence as pieces, `</s>` last; an error calls it "text" or "translation"."""
        self._refuse_empty(text, name)
        pieces = self._pieces(text, name)
        if len(pieces) > self.max_length - 1:  # </s> takes one position
            raise _too_long(name, len(pieces), self.max_length - 1)
        return with_end(pieces)

    def target(self, target: str | Sequence[str]) -> list[Piece]:
        """Read a translation that a search could have written; a text, not pieces, gets `</s>`."""
        if isinstance(target, str):
            pieces = self.text(target, "translation")
            _require_written(pieces[:-1], target, "translation")
            return pieces
        target = strings(target, "translation", "a text, or a list of its pieces")
        self._refuse_empty("".join(target), "translation")
        if len(target) > self.max_length:
            raise _too_long("translation", len(target), self.max_length)
        ids = self.target_tokenizer.ids_of(target)
        pieces = self.target_tokenizer.pieces_of(ids)
        before_end = pieces[:-1] if ids[-1] == EOS else pieces
        _require_written(before_end, "", "translation")
        return pieces

    def prefix(self, pieces: Sequence[str]) -> tuple[int, ...]:
        """Return the token ids of a forced prefix, given as pieces; none where it is empty."""
        read = self.target_tokenizer.pieces_of(self.target_tokenizer.ids_of(pieces))
        _require_written(read, "", PREFIX)
        return tuple(piece.id for piece in read)

    def text_prefix(self, text: str) -> TextPrefix | None:
        """Read a forced prefix that is given as text; None if it is blank."""
        if not text.strip():
            return None
        cut = self._pieces(text, PREFIX)
        _require_written(cut, text, PREFIX)
        end = " " if text[-1].isspace() else ""
        return self.target_tokenizer.text_prefix("".join(piece.text for piece in cut) + end)

    def _refuse_empty(self, text: str, name: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"The {name} cannot be {quoted(text)}: give one string.")
        side: Side = "source" if name == "text" else "target"
        if name == "text" and self.languages.code_of(text) is not None:
            text = without_code(text)
        if self.is_blank(text):
            raise InputError(f"The {name} is empty: type {self.languages.sentence(side)}.")

    def _pieces(self, text: str, name: str) -> list[Piece]:
        """Cut a text into pieces, without `</s>`."""
        # first: a line that is too long comes cut, perhaps within a character
        if len(text) > self.max_characters:
            raise InputError(
                f"The {name} has more than {self.max_characters:,} characters: shorten it."
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"The {name} has a broken character at position {error.start + 1}: type it again."
            ) from error
        # to the tokenizer a line break is an unknown character; here it is a space
        tokenizer = self.source_tokenizer if name == "text" else self.target_tokenizer
        pieces = tokenizer.pieces(" ".join(text.split()))
        if not pieces:
            raise InputError(f"The {name} has no visible character: type a sentence.")
        return pieces


def strings(given: object, name: str, wanted: str) -> tuple[str, ...]:
    """Read a sequence of strings; the error calls it by the name, and asks for what is wanted."""
    texts = tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"The {name} cannot be {quoted(given)}: give {wanted}.")
    return texts


def unknown(pieces: Iterable[Piece], quote: str = "“{}”") -> str:
    """List the unknown characters among the pieces, the first five quoted; "" if there are none."""
    characters = dict.fromkeys(_visible(p.text.strip("▁")) for p in pieces if p.id == UNK)
    shown = ", ".join(
        quote.format(shortened(text, MAX_QUOTE_LENGTH)) for text in list(characters)[:5]
    )
    return shown + (f" and {len(characters) - 5} more" if len(characters) > 5 else "")


def _require_written(pieces: Sequence[Piece], typed: str, name: str) -> None:
    """Raise InputError unless a search can write all of it, and more after it."""
    special = [SPECIAL[p.id] for p in pieces if p.id in SPECIAL]
    special += [text for text in (*SPECIAL.values(), "<unk>") if text in typed]
    if (end := SPECIAL[EOS]) in special:
        if name == "translation":
            raise InputError(f"The {name} has {end} before its end: leave it out.")
        raise InputError(
            f"The {name} ends the sentence, so nothing can follow it: leave out {end}."
        )
    if special:
        raise InputError(f"The {name} has {special[0]}, which is never written: leave it out.")
    if characters := unknown(pieces):
        raise InputError(f"The model cannot write {characters}: leave it out of the {name}.")


def _too_long(name: str, pieces: int, most: int) -> InputError:
    return InputError(
        f"The {name} has {pieces:,} pieces, but this model takes at most {most:,}: shorten it."
    )


def _visible(text: str) -> str:
    """Return the text, with code points in place of unprintable characters."""
    if text.isprintable():
        return text
    return " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)
