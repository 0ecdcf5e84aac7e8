"""The search for the translations of texts, step by step."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from typing import NamedTuple, TypeVar

from transformer import decoding, errors, masks
from transformer.decoding.settings import SearchSettings
from transformer.text.tokenizer import Piece
from transformer.translation import loaded_model, result

T = TypeVar("T")


class Source(NamedTuple):
    """A text, and its pieces with `</s>` last, as `LoadedModel.reader` reads it."""

    text: str
    pieces: list[Piece]


class TextSearch:
    """A beam search for texts, as one batch.

    All its steps run with the hooks of the context in which it was made, whoever takes them, and
    leave nothing behind in the context of the caller: it can be abandoned after any step.
    """

    def __init__(
        self, loaded: loaded_model.LoadedModel, sources: Sequence[Source], settings: SearchSettings
    ) -> None:
        self.loaded, self.sources, self.settings = loaded, sources, settings
        self._constraints = settings.constraints(loaded.reader)
        self._context = copy_context()
        self._stopped: set[int] = set()  # by the caller
        self._spent = 0.0  # seconds of the steps so far
        self._seconds: dict[int, float] = {}  # the same when the search of a text ended
        rows = [[piece.id for piece in source.pieces] for source in sources]
        self._beams = self._timed(
            lambda: decoding.BeamSearch(
                loaded.model,
                masks.pad_sequences(rows).to(loaded.model.device),
                beam_size=settings.beam_size,
                alpha=settings.alpha,
                max_length=settings.max_length,
                n_best=settings.n_best,
                constraints=self._constraints,
                record=settings.tree,
            )
        )

    @property
    def unfinished(self) -> list[int]:
        """The places of the texts whose searches go on."""
        return [place for place in range(len(self.sources)) if place not in self._seconds]

    def step(self) -> None:
        """Extend each live prefix by one piece."""
        try:
            self._timed(self._beams.step)
        except errors.NotFiniteError as error:
            raise self.loaded.not_finite() from error
        self._note_finished()

    def stop(self, place: int) -> None:
        """End the search of a text, after a step, with what it has, as `BeamSearch.stop` does."""
        sentence = self._beams.sentences[place]
        self._beams.stop(sentence)
        if not sentence.live:
            self._stopped.add(place)
        self._note_finished()

    def parts(self, should_stop: Callable[[], bool]) -> Iterator[result.Partial]:
        """Run the search for one text to its end; see `Translator.stream`."""
        while self.unfinished:
            self.step()
            if self.unfinished and should_stop():
                self.stop(0)
            if self._beams.sentences[0].live:
                yield self.part(0)
        translation = self.translation(0)
        text = translation.text
        yield result.Partial(text, translation.best.pieces, text, translation)

    def translation(self, place: int) -> result.Translation:
        """Return the translation of a text whose search has ended."""
        text, pieces = self.sources[place]
        sentence = self._beams.sentences[place]
        hypotheses = sentence.hypotheses()
        tokenizer = self.loaded.target_tokenizer
        return result.Translation(
            source=text,
            source_pieces=tuple(pieces),
            candidates=tuple(
                result.Candidate.from_hypothesis(hypothesis, tokenizer) for hypothesis in hypotheses
            ),
            notices=self.loaded.warnings(
                text,
                pieces,
                hypotheses[0],
                self.settings,
                stopped_after=sentence.length if place in self._stopped else None,
            ),
            seconds=self._seconds[place],
            stopped=place in self._stopped,
            prefix=tuple(
                tokenizer.pieces_of(self._constraints.forced_prefix(hypotheses[0].tokens))
            ),
            settings=self.settings,
            tree=sentence.tree() if self.settings.tree else None,
        )

    def part(self, place: int) -> result.Partial:
        """Return what the unfinished search of a text has so far."""
        sentence, tokenizer = self._beams.sentences[place], self.loaded.target_tokenizer
        settled, likely = sentence.settled(), sentence.live[0].tokens()
        if likely[: len(settled)] != settled:  # a better translation is found already
            likely = settled
        text, tentative = tokenizer.decode(settled), tokenizer.decode(likely)
        return result.Partial(text, tuple(tokenizer.pieces_of(settled)), tentative)

    def _note_finished(self) -> None:
        for place in self.unfinished:
            if not self._beams.sentences[place].live:
                self._seconds[place] = self._spent

    def _timed(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return self._context.run(call)
        finally:
            self._spent += time.perf_counter() - started
