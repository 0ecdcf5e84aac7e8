"""Translate and trace text: the interface that app, commands and notebooks share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

from transformer import checkpoint, domain, marian, score
from transformer.analysis import alignment_settings
from transformer.analysis.alignment_settings import AlignmentSettings
from transformer.checkpoint import Checkpoint
from transformer.decoding import ALPHA, BEAM_SIZE, Hypothesis, beam_search
from transformer.decoding.look_ahead import ForcedLookAhead
from transformer.domain import Domain
from transformer.errors import InputError, NotFiniteError, quoted
from transformer.files import BUNDLED
from transformer.input_text import InputReader
from transformer.languages import Languages
from transformer.lines import translate_lines
from transformer.model import Transformer
from transformer.model_trace import trace
from transformer.padding import pad_sequences
from transformer.score import Scored
from transformer.search_settings import SearchArguments, SearchSettings, require_whole
from transformer.text_search import TextSearch
from transformer.tokenizer import Piece, Tokenizer
from transformer.trace import AttentionTrace
from transformer.translation import Partial, Translation


class Translator:
    """A model with its tokenizer: `translate`, `stream`, `score` and `trace`.

    Keeps nothing of a call: one translator serves many threads. The model must be in evaluation
    mode, as it is when loaded; for weights that are changed later, see `Transformer`.

    Raises:
        InputError: if no loaded checkpoint is given.
    """

    def __init__(self, loaded: Checkpoint) -> None:
        if not isinstance(loaded, Checkpoint):
            raise InputError(
                f"A Translator is not made of {quoted(loaded)}: load a folder with Translator.load."
            )
        self.model: Transformer = loaded.model
        self.tokenizer: Tokenizer = loaded.tokenizer  # of the source
        self.target_tokenizer: Tokenizer = loaded.target_tokenizer or loaded.tokenizer
        self.languages: Languages = loaded.languages
        self.reader = InputReader(
            self.tokenizer, self.target_tokenizer, self.languages, loaded.model.config.max_length
        )
        self.folder: Path = loaded.folder
        self.checksum: str = loaded.checksum
        self.domain: Domain | None = domain.read(loaded.folder)
        self.alignment: AlignmentSettings = alignment_settings.read(
            loaded.folder, loaded.model.config
        )

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Translator:
        """Load a checkpoint folder, ours or that of a MarianMT model; by default the bundled one.

        Raises:
            CheckpointError: naming the file and what is wrong with it.
        """
        path = BUNDLED if folder is None else Path(folder)
        return cls(marian.load(path) if marian.is_marian(path) else checkpoint.load(path))

    def translate(
        self,
        text: str,
        *,
        beam_size: int = BEAM_SIZE,
        alpha: float = ALPHA,
        prefix: str | Sequence[str] = "",
        forbidden: Sequence[str] = (),
        n_best: int | None = None,
        max_length: int | None = None,
        tree: bool = False,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """Translate one text by beam search; a beam of 1 is greedy search.

        Args:
            beam_size: and all up to `tree`, see `SearchSettings`.
            should_stop: asked after each step of the search; once it says so, the best that was
                found by then is the translation.

        Raises:
            InputError: if there is nothing to translate, or more than the model accepts; if what
                is forced or forbidden leaves no translation; if a number is out of its range.
        """
        settings = SearchSettings(
            beam_size=beam_size,
            alpha=alpha,
            prefix=prefix,
            forbidden=forbidden,
            n_best=n_best,
            max_length=max_length,
            tree=tree,
        )
        search = TextSearch(self, text, settings)
        while search.unfinished:
            search.step(should_stop)
        return search.translation()

    def stream(
        self,
        text: str,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **arguments: Unpack[SearchArguments],
    ) -> Iterator[Partial]:
        """Translate one text, and say after each step what the search can no longer change.

        The search has the hooks that are set where `stream` is called. It goes on when the next
        part is asked for, and can be left at any part.

        Args:
            should_stop: and the others as `translate` takes them.

        Returns:
            Parts whose `text` grows; the last one has the translation.

        Raises:
            InputError: as `translate` does; at once, unless it takes steps to see that no
                continuation is left.
        """
        return TextSearch(self, text, SearchSettings(**arguments)).partials(should_stop)

    def score(
        self,
        text: str,
        target: str | Sequence[str],
        *,
        alternatives: int = 5,
        alpha: float = ALPHA,
    ) -> Scored:
        """How probable the model finds a given translation, piece by piece, and what else.

        Args:
            text: the source.
            target: the translation as text; or its pieces as the tokenizer writes them, which may
                be without `</s>` at their end.
            alternatives: most probable other pieces at each place.
            alpha: α of the length penalty.

        Raises:
            InputError: if a text is empty, or longer than the model accepts, or if the translation
                is none that a search could have written.
        """
        self.require_weights()
        return score.score(self, text, target, alternatives=alternatives, alpha=alpha)

    def translate_lines(self, lines: Sequence[str], *, beam_size: int = BEAM_SIZE) -> list[str]:
        """Translate many texts, batched by length; an empty line stays empty.

        Raises:
            InputError: naming the first line that is longer than the model accepts, or is no text;
                if the lines are one text, or nothing that has lines.
        """
        return translate_lines(self, lines, SearchSettings(beam_size=beam_size, n_best=1))

    def search(
        self,
        rows: Sequence[Sequence[int]],
        settings: SearchSettings,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of several sentences as one batch.

        Args:
            rows: token ids of each sentence, `</s>` last.

        Returns:
            For each sentence its hypotheses, best first.

        Raises:
            InputError: if what is forced or forbidden leaves a sentence no translation.
        """
        if not rows:
            return []
        try:
            return beam_search(
                self.model,
                pad_sequences(rows).to(self.model.device),
                beam_size=settings.beam_size,
                alpha=settings.alpha,
                max_length=settings.max_length,
                n_best=settings.n_best,
                constraints=settings.constraints(self.reader, partial(ForcedLookAhead, self.model)),
                should_stop=should_stop,
            )
        except NotFiniteError as error:
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
    def most_letters(self) -> int:
        """Characters of the longest text that is read at all."""
        return self.reader.most_letters

    def trace(
        self,
        text: str,
        target: str | Sequence[str] | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> AttentionTrace:
        """The attention of every head while the translation is written.

        Args:
            text: the source.
            target: a translation to force, as text or as pieces; the model's own unless given.
            arguments: of the search for its own, as `translate` takes them.

        Raises:
            InputError: if a text is empty, or longer than the model accepts; of a search, as
                `translate` does; if a translation is given and arguments of a search, too.
        """
        if target is None:
            return self.trace_of(self.translate(text, **arguments))
        if arguments:
            raise InputError(
                f"A given translation is not searched for: leave out {' and '.join(arguments)}."
            )
        pieces = self.reader.text(text)
        if isinstance(target, str):  # whose unknown characters are read as <unk>
            return self._trace(text, target, pieces, self.reader.text(target, "translation"))
        given = self.reader.target(target)
        return self._trace(text, self.target_tokenizer.decode([p.id for p in given]), pieces, given)

    def trace_of(self, translation: Translation, candidate: int = 0) -> AttentionTrace:
        """The trace of a translation that `translate` returned, or of `score(…).translation`.

        Raises:
            InputError: if this is no translation, or has no such candidate, counted from 0.
        """
        if not isinstance(translation, Translation):
            raise InputError(
                f"{quoted(translation)} is no translation: give what translate() returned, or the "
                f"translation of what score() returned."
            )
        require_whole(candidate, "number of the candidate")
        count = len(translation.candidates)
        if not -count <= candidate < count:
            raise InputError(
                f"The translation has {count} candidates, counted from 0: there is no {candidate}."
            )
        chosen = translation.candidates[candidate]
        pieces = self.reader.text(translation.source)
        return self._trace(translation.source, chosen.text, pieces, list(chosen.pieces))

    def _trace(
        self, source: str, target: str, source_pieces: list[Piece], target_pieces: list[Piece]
    ) -> AttentionTrace:
        self.require_weights()
        languages = self.languages.of_text(source)
        traced = trace(
            self.model, source, target, source_pieces, target_pieces, languages=languages
        )
        self.require_finite(map(float, traced.log_probs))
        return traced

    def require_weights(self) -> None:
        """Raises InputError if there are no weights here to trace or score a translation by."""

    def require_finite(self, values: Iterable[float]) -> None:
        """Weights that are finite may still be so large that what is computed with them is not.

        Raises:
            NotFiniteError: if a value is not.
        """
        if not all(map(math.isfinite, values)):
            raise self.not_finite()

    def not_finite(self) -> NotFiniteError:
        """What is raised where the model, or a hook in the current context, computes NaN."""
        hooked = self.model.silenced() != {}
        return NotFiniteError.of(f"The model of {self.folder}", hooked=hooked)
