"""A loaded model with its tokenizers: its search, and warnings on what it writes."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from transformer import decoding, errors, masks, model
from transformer.checkpoints import domain
from transformer.checkpoints.checkpoint import Checkpoint
from transformer.checkpoints.domain import Domain
from transformer.decoding.settings import SearchSettings
from transformer.text import languages, reader
from transformer.text.tokenizer import Piece, Tokenizer

LEAST_COPIED = 3
"""Smallest number of different repeated words that is noticed: English and German share "in"."""

LONGEST = 40  # characters of a word, and of its parts, that a notice names
LEAST_PARTS = 3
"""Smallest number of pieces of a word that a notice names: many words that are known have two."""


class LoadedModel:
    """A model with its tokenizers, languages and domain, in evaluation mode, without a state."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.model: model.Transformer = checkpoint.model
        self.tokenizer: Tokenizer = checkpoint.tokenizer  # of the source
        self.target_tokenizer: Tokenizer = checkpoint.target_tokenizer or checkpoint.tokenizer
        self.languages: languages.Languages = checkpoint.languages
        self.reader = reader.InputReader(
            self.tokenizer,
            self.target_tokenizer,
            self.languages,
            checkpoint.model.config.max_length,
        )
        self.folder: Path = checkpoint.folder
        self.checksum: str = checkpoint.checksum
        self.domain: Domain | None = domain.read(checkpoint.folder)

    def search(
        self,
        rows: Sequence[Sequence[int]],
        settings: SearchSettings,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[list[decoding.Hypothesis]]:
        """Search for translations of a batch of ids, best first, until `should_stop` says so."""
        if not rows:
            return []
        try:
            return decoding.beam_search(
                self.model,
                masks.pad_sequences(rows).to(self.model.device),
                beam_size=settings.beam_size,
                alpha=settings.alpha,
                max_length=settings.max_length,
                n_best=settings.n_best,
                constraints=settings.constraints(self.reader),
                should_stop=should_stop,
            )
        except errors.NotFiniteError as error:
            raise self.not_finite() from error

    @property
    def source_language(self) -> str:
        """English name of the language that is read; "source" where it is not known."""
        return self.languages.name("source")

    @property
    def target_language(self) -> str:
        """English name of the language that is written; "target" where it is not known."""
        return self.languages.name("target")

    @property
    def max_characters(self) -> int:
        """Characters of the longest text that is read at all."""
        return self.reader.max_characters

    def require_finite(self, values: Iterable[float]) -> None:
        """Raise an error unless all values are finite: finite weights may be too large."""
        if not all(map(math.isfinite, values)):
            raise self.not_finite()

    def warnings(
        self,
        text: str,
        pieces: Sequence[Piece],
        best: decoding.Hypothesis | None = None,
        settings: SearchSettings | None = None,
        *,
        stopped_after: int | None = None,
    ) -> tuple[str, ...]:
        """Return warnings about a translation, as plain sentences.

        `pieces` are those of the source and of a typed translation. `best` is None where it is
        expected that the model is unsure of it, `settings` where it was given. `stopped_after`
        counts the pieces of the search's prefixes when it was stopped.
        """
        warnings = [self.languages.notice(text)]
        # whatever their direction, the quotes stay outside
        if characters := reader.unknown(pieces, "“\u2068{}\u2069”"):
            warnings.append(
                f"The vocabulary has no {characters}: the model reads <unk> there, as for every "
                f"unknown character."
            )
        if stopped_after is not None:
            warnings.append(
                f"The search was stopped before its end, after {_pieces(stopped_after)}: this is "
                f"the best that it had found."
            )
        elif best is not None and settings is not None and not best.complete:
            limit = "its limit for this text" if settings.max_length is None else "the given limit"
            warnings.append(
                f"The model did not end the sentence within {_pieces(len(best.tokens))}, {limit}."
            )
        # of a sentence in the other language it is known why the model is unsure
        mistaken = self.languages.mistaken(text) is not None
        if best is not None and self.domain is not None and not mistaken:
            if settings is not None:
                warnings.append(self._notice_of_copied_words(text, best))
            # what the user forced or forbade is not a choice of the model
            steered = settings or SearchSettings()
            forced = 0
            if steered.prefix:
                forced = len(steered.constraints(self.reader).forced_prefix(best.tokens))
            edited = self.model.silenced() != {}
            constraints, cut = steered.constraints_phrase, _name_cut_words(pieces)
            warnings.append(self.domain.notice(best, forced, constraints, edited, cut))
        return tuple(warning for warning in warnings if warning)

    def _notice_of_copied_words(self, text: str, best: decoding.Hypothesis) -> str | None:
        """Return a notice if a model with a domain copies half of the words, as if misread."""
        read = _uncapitalised_words(text)
        copied = read & _uncapitalised_words(self.target_tokenizer.decode(best.tokens))
        if len(copied) < LEAST_COPIED or 2 * len(copied) < len(read):
            return None
        return (
            f"The translation repeats {len(copied)} of {len(read)} words without a capital letter: "
            f"is the sentence {self.source_language}?"
        )

    def not_finite(self) -> errors.NotFiniteError:
        """Return the error for a model, or a hook in the current context, that computes NaN."""
        hooked = self.model.silenced() != {}
        return errors.NotFiniteError.for_model(f"The model of {self.folder}", hooked=hooked)


def _uncapitalised_words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", text) if word[0].islower()}


def _name_cut_words(pieces: Sequence[Piece]) -> list[str]:
    """Name the words that are cut into so many parts that hardly one of them means something."""
    words: dict[int, list[str]] = {}
    for piece in pieces:
        words.setdefault(piece.word, []).append(piece.text.removeprefix("▁"))
    return [
        f"“\u2068{errors.shortened(''.join(parts), LONGEST)}\u2069” "
        f"(\u2068{errors.shortened('·'.join(parts), LONGEST)}\u2069)"
        for parts in words.values()
        if len(parts) >= LEAST_PARTS and any(map(str.isalpha, "".join(parts)))
    ]


def _pieces(count: int) -> str:
    return f"{count} piece{'' if count == 1 else 's'}"
