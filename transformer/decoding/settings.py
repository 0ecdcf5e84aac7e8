"""Settings of a search: the arguments of `Translator.translate`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, TypedDict, cast

from transformer.decoding import ALPHA, BEAM_SIZE, Constraints
from transformer.errors import InputError, quoted
from transformer.text.prefix import TextPrefix
from transformer.text.reader import PREFIX, InputReader, strings

MAX_BEAM_SIZE = 64
MAX_ALPHA = 10
"""Bound of the length penalty's α, far beyond any in use; ((5 + |Y|) / 6)^α stays finite."""

UNCONSTRAINED = frozenset({"beam_size", "alpha", "n_best", "max_length", "tree"})
"""Settings that allow every translation; each other one is a constraint, and empty by default."""


class SearchArguments(TypedDict, total=False):
    """The arguments of a search, as `SearchSettings` explains them."""

    beam_size: int
    alpha: float
    prefix: str | Sequence[str]
    forbidden: Sequence[str]
    n_best: int | None
    max_length: int | None
    tree: bool


@dataclass(frozen=True)
class SearchSettings:
    """The arguments of a search.

    Equal settings have the same hash.

    Args:
        beam_size: the number of prefixes kept, from 1 (greedy search) to 64.
        alpha: α of the length penalty, from 0 to 10 (§6.1).
        prefix: the beginning of the translation, as text or as pieces of the tokenizer. The search
            can extend the last word of a text unless a space follows it (“Ein Ma”, “Ein Mann ”).
        forbidden: whole words that the translation must not contain. Upper case counts, and a
            longer word that begins with one is allowed; see `ForbiddenWords`.
        n_best: the number of candidates, at most `beam_size`, which is the default; with fewer, the
            search ends earlier.
        max_length: the largest number of pieces of the translation, `</s>` included; by default,
            those of the source plus 50 (§6.1).
        tree: whether to keep every prefix that the search ranked.
    """

    beam_size: int = BEAM_SIZE
    alpha: float = ALPHA
    prefix: str | Sequence[str] = ""
    forbidden: Sequence[str] = ()
    n_best: int | None = None
    max_length: int | None = None
    tree: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.forbidden, str):
            raise InputError(
                f"The forbidden words are one text, “{self.forbidden}”: give a list of words."
            )
        words = strings(self.forbidden, "list of forbidden words", "a list of strings")
        object.__setattr__(self, "forbidden", words)
        if not isinstance(self.prefix, str):
            pieces = strings(self.prefix, PREFIX, "a text, or a list of its pieces")
            object.__setattr__(self, "prefix", pieces)
        require_whole(self.beam_size, "beam size")
        if self.n_best is not None:
            require_whole(self.n_best, "number of best translations")
        if self.max_length is not None:
            require_whole(self.max_length, "maximum length")
        if self.beam_size < 1:
            raise InputError(f"A beam of {self.beam_size} finds nothing: it must be at least 1.")
        if self.beam_size > MAX_BEAM_SIZE:
            raise InputError(
                f"A beam of {self.beam_size:,} is too large: it may be at most {MAX_BEAM_SIZE}."
            )
        # NaN, too
        if not (isinstance(self.alpha, Real) and 0 <= self.alpha <= MAX_ALPHA):
            raise InputError(
                f"The length penalty's α is {quoted(self.alpha)}: it must be a number from 0 to "
                f"{MAX_ALPHA}."
            )
        if self.n_best is not None and not 1 <= self.n_best <= self.beam_size:
            raise InputError(
                f"A beam of {self.beam_size} cannot find the {self.n_best:,} best: ask for 1 to "
                f"{self.beam_size}."
            )

    @property
    def arguments(self) -> SearchArguments:
        """The arguments of `Translator.translate` for the same search once more."""
        return cast(SearchArguments, asdict(self))

    @property
    def constrained(self) -> dict[str, Any]:
        """The constraints: the settings under which not every translation is allowed."""
        settings = vars(self).items()
        return {name: value for name, value in settings if value and name not in UNCONSTRAINED}

    @property
    def constraints_phrase(self) -> str:
        """The constraints besides the prefix, to end the subject of a sentence; "" if none."""
        if not self.forbidden:
            return ""
        return f", with {', '.join(f'“{word}”' for word in self.forbidden)} forbidden"

    def constraints(self, reader: InputReader) -> Constraints:
        """Return the constraints of the search for one model, whose texts the reader reads."""
        if self.max_length is not None and not 1 <= self.max_length <= reader.max_length:
            raise InputError(
                f"The maximum length is {self.max_length:,} pieces, but this model writes from 1 "
                f"to {reader.max_length:,}: choose one of these."
            )
        pieces: tuple[int, ...] = ()
        text: TextPrefix | None = None
        if isinstance(self.prefix, str):
            text = reader.text_prefix(self.prefix)
        else:
            pieces = reader.prefix(self.prefix)
        if not self.forbidden and text is None:
            return Constraints(pieces)
        words = reader.target_tokenizer.forbidden(self.forbidden)
        return Constraints(pieces, words, text, looks_ahead=True)


def require_whole(value: object, name: str) -> None:
    """Raise InputError, which calls it by this name, unless it is a whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputError(f"The {name} is {quoted(value)}: it must be a whole number.")
