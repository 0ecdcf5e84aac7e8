"""The search for the translation of one text, step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import TypeVar

import torch

from transformer.decoding import BeamSearch
from transformer.decoding.settings import SearchSettings
from transformer.errors import NotFiniteError
from transformer.translation.loaded_model import LoadedModel
from transformer.translation.result import Candidate, Partial, Translation

T = TypeVar("T")


class TextSearch:
    """A beam search for one text.

    All its steps run with the hooks of the context in which it was made, whoever takes them, and
    leave nothing behind in the context of the caller: it can be abandoned after any step.

    Raises:
        InputError: as `Translator.translate` does.
    """

    def __init__(self, loaded: LoadedModel, text: str, settings: SearchSettings) -> None:
        self.loaded, self.text, self.settings = loaded, text, settings
        self.stopped = False  # by the caller
        self.seconds = 0.0  # of the steps so far
        self._source = loaded.reader.text(text)
        ids = [piece.id for piece in self._source]
        self._constraints = settings.constraints(loaded.reader)
        self._context = copy_context()
        self._beams = self._timed(
            lambda: BeamSearch(
                loaded.model,
                torch.tensor([ids], device=loaded.model.device),
                beam_size=settings.beam_size,
                alpha=settings.alpha,
                max_length=settings.max_length,
                n_best=settings.n_best,
                constraints=self._constraints,
                record=settings.tree,
            )
        )
        self._sentence = self._beams.sentences[0]

    @property
    def unfinished(self) -> bool:
        """True while the search goes on."""
        return self._beams.unfinished > 0

    def step(self, should_stop: Callable[[], bool]) -> None:
        """Extend each live prefix by one piece, then ask whether to stop.

        Raises:
            InputError: if every continuation is forbidden.
            NotFiniteError: if the model computes numbers that are not finite.
        """
        try:
            self._timed(self._beams.step)
        except NotFiniteError as error:
            raise self.loaded.not_finite() from error
        if self.unfinished and should_stop():
            self._beams.stop()
            self.stopped = not self.unfinished

    def partials(self, should_stop: Callable[[], bool]) -> Iterator[Partial]:
        """Run the search to its end; see `Translator.stream`."""
        while self.unfinished:
            self.step(should_stop)
            if self._sentence.live:
                yield self._partial()
        translation = self.translation()
        text = translation.text
        yield Partial(text, translation.best.pieces, text, translation)

    def translation(self) -> Translation:
        """Return the result of the finished search."""
        hypotheses = self._sentence.hypotheses()
        tokenizer = self.loaded.target_tokenizer
        return Translation(
            source=self.text,
            source_pieces=tuple(self._source),
            candidates=tuple(
                Candidate.from_hypothesis(hypothesis, tokenizer) for hypothesis in hypotheses
            ),
            notices=self.loaded.warnings(
                self.text,
                self._source,
                hypotheses[0],
                self.settings,
                stopped_after=self._sentence.length if self.stopped else None,
            ),
            seconds=self.seconds,
            stopped=self.stopped,
            prefix=tuple(tokenizer.pieces_of(self._constraints.forced(hypotheses[0].tokens))),
            settings=self.settings,
            tree=self._sentence.tree() if self.settings.tree else None,
        )

    def _partial(self) -> Partial:
        tokenizer = self.loaded.target_tokenizer
        settled, likely = self._sentence.settled(), self._sentence.live[0].tokens()
        if likely[: len(settled)] != settled:  # a better translation is found already
            likely = settled
        text, tentative = tokenizer.decode(settled), tokenizer.decode(likely)
        return Partial(text, tuple(tokenizer.pieces_of(settled)), tentative)

    def _timed(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return self._context.run(call)
        finally:
            self.seconds += time.perf_counter() - started
