"""Translate and trace text: the interface that app, commands and notebooks share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Unpack

from transformer.checkpoints import checkpoint, marian
from transformer.checkpoints.checkpoint import Checkpoint
from transformer.decoding import ALPHA, BEAM_SIZE
from transformer.decoding.settings import SearchArguments, SearchSettings, require_whole
from transformer.errors import InputError, quoted
from transformer.files import installed
from transformer.text.tokenizer import Piece
from transformer.trace import AttentionTrace
from transformer.traces.capture import capture
from transformer.translation import batch, loaded_model, score
from transformer.translation.result import Partial, Translation
from transformer.translation.score import Scored
from transformer.translation.search import Source, TextSearch


class Translator(loaded_model.LoadedModel):
    """A model with its tokenizer: `translate`, `stream`, `score` and `trace`.

    A translator stores nothing of a call, so many threads can share it. The model must be in
    evaluation mode, as it is when loaded; to change its weights later, see `Transformer`.

    Raises:
        InputError: if no loaded checkpoint is given.
    """

    def __init__(self, loaded: Checkpoint) -> None:
        if not isinstance(loaded, Checkpoint):
            raise InputError(
                f"A Translator is not made of {quoted(loaded)}: load a folder with Translator.load."
            )
        super().__init__(loaded)

    @classmethod
    def load(cls, folder: str | Path | None = None) -> "Translator":
        """Load our own checkpoint folder, a MarianMT folder, or a bundled model by its name.

        Args:
            folder: a folder; `"bundled"` (English to German, the default) or `"bundled-de-en"`.

        Raises:
            CheckpointError: if the folder is damaged or no model; names the file and the problem.
        """
        path = installed.checkpoint_folder(folder)
        return cls(marian.load(path) if marian.is_marian(path) else checkpoint.load(path))

    def translate(
        self,
        text: str,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **arguments: Unpack[SearchArguments],
    ) -> Translation:
        """Translate one text by beam search; a beam of 1 is greedy search.

        Args:
            text: the source sentence.
            should_stop: a function that is called after each step of the search; if it returns
                True, the best translation so far is returned.
            arguments: those of `SearchSettings`.

        Raises:
            InputError: if the text is empty or too long for the model; if the constraints
                leave no translation; if a number is out of its range.
        """
        search = self._text_search(text, SearchSettings(**arguments))
        while search.unfinished:
            search.step()
            if search.unfinished and should_stop():
                search.stop(0)
        return search.translation(0)

    def stream(
        self,
        text: str,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **arguments: Unpack[SearchArguments],
    ) -> Iterator[Partial]:
        """Translate one text; after each step, yield the part that can no longer change.

        The search uses the hooks that are set when `stream` is called. It computes each part on
        request, so you can stop at any part. The arguments are those of `translate`.

        Returns:
            Parts whose `text` grows; the last one has the translation.

        Raises:
            InputError: as for `translate`, before the first step; during the search only if no
                continuation is left.
        """
        return self._text_search(text, SearchSettings(**arguments)).parts(should_stop)

    def _text_search(self, text: str, settings: SearchSettings) -> TextSearch:
        return TextSearch(self, [Source(text, self.reader.text(text))], settings)

    def score(
        self,
        text: str,
        target: str | Sequence[str],
        *,
        alternatives: int = 5,
        alpha: float = ALPHA,
    ) -> Scored:
        """Score a given translation piece by piece, with alternatives.

        Args:
            text: the source.
            target: the translation, as text or as pieces of the tokenizer, with or without `</s>`
                at the end.
            alternatives: the number of most probable other pieces at each position.
            alpha: α of the length penalty.

        Raises:
            InputError: if a text is empty or too long for the model, or if no search could write
                the translation.
        """
        return score.score(self, text, target, alternatives, alpha)

    def translate_lines(self, lines: Sequence[str], *, beam_size: int = BEAM_SIZE) -> list[str]:
        """Translate many texts, batched by length; an empty line stays empty.

        Raises:
            InputError: if a line is too long for the model or is not text, naming the first such
                line; if `lines` is a single text or no sequence.
        """
        if isinstance(lines, str):
            raise InputError(f"The lines are one text, {quoted(lines)}: give a list of lines.")
        if not isinstance(lines, Iterable):
            raise InputError(f"The lines cannot be {quoted(lines)}: give a list of lines.")
        self.model.require_no_dropout()  # no line's fault
        decode, settings = self.target_tokenizer.decode, SearchSettings(beam_size, n_best=1)
        search = batch.LineSearch(self, settings, lambda _line, best: decode(best[0].tokens))
        texts: list[str] = []
        for result in chain.from_iterable(search.results(lines)):
            if isinstance(result, InputError):
                raise result
            texts.append(result or "")
        return texts

    def trace(
        self,
        text: str,
        target: str | Sequence[str] | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> AttentionTrace:
        """Trace the attention of every head while the translation is written.

        Args:
            text: the source.
            target: a translation to force, as text or as pieces; by default, the model's own.
            arguments: the arguments of `translate`, for the model's own translation.

        Raises:
            InputError: if a text is empty or too long for the model; as for `translate`; if both a
                translation and arguments of the search are given.
        """
        if target is None:
            return self.trace_of(self.translate(text, **arguments))
        if arguments:
            raise InputError(
                f"A given translation is not searched for: leave out {' and '.join(arguments)}."
            )
        pieces = self.reader.text(text)
        if isinstance(target, str):  # whose unknown characters are read as <unk>
            return self.trace_pieces(text, target, pieces, self.reader.text(target, "translation"))
        given = self.reader.target(target)
        return self.trace_pieces(
            text, self.target_tokenizer.decode([p.id for p in given]), pieces, given
        )

    def trace_of(self, translation: Translation, candidate: int = 0) -> AttentionTrace:
        """Trace a translation: the result of `translate`, or `score(…).translation`.

        Raises:
            InputError: if this is not a translation, or has no such candidate, counted from 0.
        """
        if not isinstance(translation, Translation):
            raise InputError(
                f"{quoted(translation)} is not a translation: give what translate() returned, or "
                f"the translation of what score() returned."
            )
        require_whole(candidate, "number of the candidate")
        count = len(translation.candidates)
        if not -count <= candidate < count:
            raise InputError(
                f"The translation has {count} candidates, counted from 0: there is no {candidate}."
            )
        chosen = translation.candidates[candidate]
        pieces = list(translation.source_pieces)
        return self.trace_pieces(translation.source, chosen.text, pieces, list(chosen.pieces))

    def trace_pieces(
        self, source: str, target: str, source_pieces: list[Piece], target_pieces: list[Piece]
    ) -> AttentionTrace:
        """Trace texts that are cut into pieces already, each with `</s>` at its end."""
        languages = self.languages.for_text(source)
        traced = AttentionTrace.from_fields(
            capture(self.model, source, target, source_pieces, target_pieces, languages=languages)
        )
        self.require_finite(map(float, traced.log_probs))
        return traced
