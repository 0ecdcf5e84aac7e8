"""Translate and trace text: the interface that app, commands and notebooks share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer import checkpoint, decoding, domain
from transformer.analysis import alignment_settings
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.checkpoint import Checkpoint
from transformer.config import UNK
from transformer.decoding import BEAM_SIZE, Hypothesis
from transformer.domain import Domain
from transformer.errors import CheckpointError, InputError, shortened
from transformer.files import ASSETS
from transformer.model import Transformer
from transformer.padding import pad_sequences
from transformer.tokenizer import Piece, Tokenizer
from transformer.trace import AttentionTrace, trace, with_end

BUNDLED = ASSETS / "model"

LONGEST_QUOTE = 60  # characters of what a notice quotes; the middle of more is left out
LETTERS_OF_A_PIECE = 64  # at most; a longer text is refused before it is cut into pieces


@dataclass(frozen=True)
class Candidate:
    """One hypothesis of the search as text.

    Args:
        text: the translation.
        pieces: what was written, `</s>` last if the model ended the sentence.
        hypothesis: its tokens, log-probabilities and score.
    """

    text: str
    pieces: tuple[Piece, ...]
    hypothesis: Hypothesis


@dataclass(frozen=True)
class Translation:
    """The result of a search.

    Args:
        source: the text as it was typed.
        candidates: best first.
        notices: plain sentences on what a reader should know, such as unknown characters.
        stopped: whether the search was ended before it was done.
        seconds: wall-clock time of the search.
    """

    source: str
    candidates: tuple[Candidate, ...]
    notices: tuple[str, ...]
    seconds: float
    stopped: bool = False

    @property
    def best(self) -> Candidate:
        """The candidate with the best score."""
        return self.candidates[0]

    @property
    def text(self) -> str:
        """The best translation."""
        return self.best.text

    @property
    def log_prob(self) -> float:
        """log P of the best translation, in nats."""
        return self.best.hypothesis.log_prob


class Translator:
    """A model with its tokenizer: `translate` and `trace`.

    Holds no state between calls: one translator serves many threads.
    """

    def __init__(self, loaded: Checkpoint) -> None:
        self.model: Transformer = loaded.model
        self.tokenizer: Tokenizer = loaded.tokenizer
        self.folder: Path = loaded.folder
        self.checksum: str = loaded.checksum
        self.domain: Domain | None = domain.read(loaded.folder)
        self.alignment: AlignmentSettings = alignment_settings.read(
            loaded.folder, loaded.model.config
        )

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Translator:
        """Load a checkpoint folder, by default the bundled one.

        Raises:
            CheckpointError: naming the file and what is wrong with it.
        """
        return cls(checkpoint.load(BUNDLED if folder is None else Path(folder)))

    def translate(
        self,
        text: str,
        *,
        beam_size: int = BEAM_SIZE,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """Translate one text by beam search; a beam of 1 is greedy search.

        Args:
            should_stop: asked after each step of the search; once it says so, the best that was
                found by then is the translation.

        Raises:
            InputError: if there is nothing to translate, or more than the model accepts.
        """
        started = time.perf_counter()
        stopped = False

        def stop() -> bool:
            nonlocal stopped
            stopped = should_stop()
            return stopped

        pieces = self._read(text)
        hypotheses = self._search([[piece.id for piece in pieces]], beam_size, stop)[0]
        return Translation(
            source=text,
            candidates=tuple(self._candidate(hypothesis) for hypothesis in hypotheses),
            notices=self._notices(pieces, hypotheses[0], stopped),
            seconds=time.perf_counter() - started,
            stopped=stopped,
        )

    def translate_lines(
        self,
        lines: Sequence[str],
        *,
        beam_size: int = BEAM_SIZE,
        first: int = 1,
        refuse: Callable[[InputError], None] | None = None,
    ) -> list[str]:
        """Translate many texts as one batch; an empty line stays empty.

        Args:
            first: number of the first line, by which an error names a line.
            refuse: takes the error of each line that cannot be translated, which becomes empty;
                without it the first such error is raised.

        Raises:
            InputError: naming the line that is longer than the model accepts.
        """
        ids = []
        for number, line in enumerate(lines, start=first):
            try:
                ids.append([p.id for p in self._read(line)] if line.strip() else [])
            except InputError as error:
                named = InputError(f"Line {number:,}: {error}")
                if refuse is None:
                    raise named from error
                refuse(named)
                ids.append([])
        found = iter(self._search([row for row in ids if row], beam_size))
        return [self.tokenizer.decode(next(found)[0].tokens) if row else "" for row in ids]

    @property
    def most_letters(self) -> int:
        """Characters of the longest text that is read at all."""
        return LETTERS_OF_A_PIECE * self.model.config.max_length

    def trace(
        self, text: str, target: str | None = None, *, beam_size: int = BEAM_SIZE
    ) -> AttentionTrace:
        """The attention of every head while the translation is written.

        Args:
            text: the source.
            target: a translation to force; the model's own unless given.

        Raises:
            InputError: if a text is empty, or longer than the model accepts.
        """
        if target is None:
            return self.trace_of(self.translate(text, beam_size=beam_size))
        pieces = self._read(text)
        return self._trace(text, target, pieces, self._read(target, "translation"))

    def trace_of(self, translation: Translation, candidate: int = 0) -> AttentionTrace:
        """The trace of a translation that `translate` returned."""
        chosen = translation.candidates[candidate]
        pieces = self._read(translation.source)
        return self._trace(translation.source, chosen.text, pieces, list(chosen.pieces))

    def _trace(
        self, source: str, target: str, source_pieces: list[Piece], target_pieces: list[Piece]
    ) -> AttentionTrace:
        traced = trace(self.model, source, target, source_pieces, target_pieces)
        self._require_finite(map(float, traced.log_probs))
        return traced

    def _read(self, text: str, name: str = "text") -> list[Piece]:
        """Text to pieces, `</s>` last."""
        if not text.strip():
            wanted = "an English sentence" if name == "text" else "a German sentence"
            raise InputError(f"The {name} is empty: type {wanted}.")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"The {name} has a broken character at position {error.start + 1}: type it again."
            ) from error
        if len(text) > self.most_letters:
            raise InputError(
                f"The {name} has more than {self.most_letters:,} characters: shorten it."
            )
        # to the tokenizer a line break is an unknown character; here it is a space
        pieces = self.tokenizer.pieces(" ".join(text.split()))
        if not pieces:
            raise InputError(f"The {name} has no visible character: type a sentence.")
        max_pieces = self.model.config.max_length - 1  # </s> takes one position
        if len(pieces) > max_pieces:
            raise InputError(
                f"The {name} has {len(pieces):,} pieces, but this model takes at most "
                f"{max_pieces:,}: shorten it."
            )
        return with_end(pieces)

    def _search(
        self,
        rows: list[list[int]],
        beam_size: int,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[list[Hypothesis]]:
        if beam_size < 1:
            raise InputError(f"A beam of {beam_size} finds nothing: it must be at least 1.")
        if not rows:
            return []
        source = pad_sequences(rows).to(self.model.device)
        found = decoding.beam_search(
            self.model, source, beam_size=beam_size, should_stop=should_stop
        )
        for hypotheses in found:
            self._require_finite([one.score for one in hypotheses] or [math.nan])
        return found

    def _require_finite(self, values: Iterable[float]) -> None:
        """Weights that are finite may still be so large that what is computed with them is not."""
        if not all(map(math.isfinite, values)):
            raise CheckpointError(
                f"The model of {self.folder} computes numbers that are not finite, so it writes "
                f"nothing: take another checkpoint."
            )

    def _candidate(self, hypothesis: Hypothesis) -> Candidate:
        pieces = self.tokenizer.pieces_of(hypothesis.tokens)
        return Candidate(self.tokenizer.decode(hypothesis.tokens), tuple(pieces), hypothesis)

    def _notices(self, pieces: list[Piece], best: Hypothesis, stopped: bool) -> tuple[str, ...]:
        notices = []
        if unknown := dict.fromkeys(_visible(p.text.strip("▁")) for p in pieces if p.id == UNK):
            names = [shortened(text, LONGEST_QUOTE) for text in list(unknown)[:5]]
            shown = ", ".join(f"“\u2068{text}\u2069”" for text in names)
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            notices.append(f"The model has never seen {shown}{more} and reads a blank there.")
        if stopped:
            notices.append(
                f"The search was stopped before its end, after {len(best.tokens)} pieces: this is "
                f"the best that it had found."
            )
        elif not best.complete:
            notices.append(
                f"The model did not end the sentence within {len(best.tokens)} pieces, "
                f"its limit for this text."
            )
        if self.domain and (unsure := self.domain.notice(best)):
            notices.append(unsure)
        return tuple(notices)


def _visible(text: str) -> str:
    """The text itself, with the code points of unprintable characters."""
    if text.isprintable():
        return text
    return " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)
