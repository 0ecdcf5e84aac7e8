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
from transformer.files.installed import checkpoint_folder
from transformer.text.tokenizer import Piece
from transformer.trace import AttentionTrace
from transformer.traces.capture import capture
from transformer.translation import score
from transformer.translation.batch import LineSearch
from transformer.translation.loaded_model import LoadedModel
from transformer.translation.result import Partial, Translation
from transformer.translation.score import Scored
from transformer.translation.search import Source, TextSearch


class Translator(LoadedModel):
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
        super().__init__(loaded)

    @classmethod
    def load(cls, folder: str | Path | None = None) -> "Translator":
        """Load a checkpoint folder, ours or that of a MarianMT model, or a bundled one by its name.

        Args:
            folder: the folder; `"bundled"`, English to German, unless given, or `"bundled-de-en"`.

        Raises:
            CheckpointError: naming the file and what is wrong with it.
        """
        path = checkpoint_folder(folder)
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
            should_stop: asked after each step of the search; once it says so, the best that was
                found by then is the translation.
            arguments: `beam_size`, `alpha`, `prefix`, `forbidden`, `n_best`, `max_length` and
                `tree`, see `SearchSettings`.

        Raises:
            InputError: if there is nothing to translate, or more than the model accepts; if what
                is forced or forbidden leaves no translation; if a number is out of its range.
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
        """Translate one text, and say after each step what the search can no longer change.

        The search has the hooks that are set where `stream` is called. It goes on when the next
        part is asked for, and can be left at any part. The arguments are those of `translate`.

        Returns:
            Parts whose `text` grows; the last one has the translation.

        Raises:
            InputError: as `translate` does; at once, unless it takes steps to see that no
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
            target: the translation as text; or its pieces as the tokenizer writes them, which may
                be without `</s>` at their end.
            alternatives: most probable other pieces at each place.
            alpha: α of the length penalty.

        Raises:
            InputError: if a text is empty, or longer than the model accepts, or if the translation
                is none that a search could have written.
        """
        self.require_weights()
        return score.score(self, text, target, alternatives, alpha)

    def translate_lines(self, lines: Sequence[str], *, beam_size: int = BEAM_SIZE) -> list[str]:
        """Translate many texts, batched by length; an empty line stays empty.

        Raises:
            InputError: naming the first line that is longer than the model accepts, or is no text;
                if the lines are one text, or nothing that has lines.
        """
        if isinstance(lines, str):
            raise InputError(f"The lines are one text, {quoted(lines)}: give a list of lines.")
        if not isinstance(lines, Iterable):
            raise InputError(f"The lines cannot be {quoted(lines)}: give a list of lines.")
        self.model.require_no_dropout()  # no line's fault
        decode, settings = self.target_tokenizer.decode, SearchSettings(beam_size, n_best=1)
        search = LineSearch(self, settings, lambda _line, best: decode(best[0].tokens))
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
        """Trace a translation that `translate` returned, or of `score(…).translation`.

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
        pieces = list(translation.source_pieces)
        return self._trace(translation.source, chosen.text, pieces, list(chosen.pieces))

    def _trace(
        self, source: str, target: str, source_pieces: list[Piece], target_pieces: list[Piece]
    ) -> AttentionTrace:
        self.require_weights()
        languages = self.languages.for_text(source)
        traced = AttentionTrace.from_fields(
            capture(self.model, source, target, source_pieces, target_pieces, languages=languages)
        )
        self.require_finite(map(float, traced.log_probs))
        return traced
