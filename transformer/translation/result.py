"""Result of a search as text: a translation, its candidates, their words."""

import math
from dataclasses import dataclass, field
from itertools import groupby

from transformer.decoding import Hypothesis, SearchTree
from transformer.decoding.settings import SearchSettings
from transformer.text.tokenizer import WORD_START, Piece, Tokenizer


@dataclass(frozen=True)
class ScoredWord:
    """A word of a translation, and how probable the model finds it."""

    text: str  # without the space before it
    first: int  # number of its first piece
    end: int  # number of the piece after its last one
    log_prob: float  # of its pieces, given all before them, in nats

    @property
    def probability(self) -> float:
        """The product of its pieces' probabilities, 0 to 1."""
        return math.exp(self.log_prob)


@dataclass(frozen=True)
class Candidate:
    """One hypothesis of the search as text; `</s>` is last if the model ended the sentence."""

    text: str
    pieces: tuple[Piece, ...]
    hypothesis: Hypothesis

    @classmethod
    def from_hypothesis(cls, hypothesis: Hypothesis, tokenizer: Tokenizer) -> "Candidate":
        """Decode a hypothesis."""
        tokens = hypothesis.tokens
        return cls(tokenizer.decode(tokens), tuple(tokenizer.pieces_of(tokens)), hypothesis)

    @property
    def words(self) -> tuple[ScoredWord, ...]:
        """Its words, each with its probability, `</s>` being one."""
        words = []
        for _, group in groupby(enumerate(self.pieces), lambda numbered: numbered[1].word):
            numbers = [number for number, _ in group]
            first, end = numbers[0], numbers[-1] + 1
            text = "".join(piece.text for piece in self.pieces[first:end]).replace(WORD_START, " ")
            log_prob = math.fsum(self.hypothesis.log_probs[first:end])
            words.append(ScoredWord(text.strip(), first, end, log_prob))
        return tuple(words)


@dataclass(frozen=True)
class Translation:
    """The result of a search, or a translation that was given.

    Args:
        source: the text as typed.
        source_pieces: the pieces that the model read, with `</s>` last.
        candidates: the candidates, best first.
        notices: warnings for the user, for example about unknown characters; one sentence each.
        seconds: the wall-clock time of the search.
        stopped: whether the search was stopped early.
        prefix: the forced pieces; in a given translation, all of them.
        settings: the settings of the search; for a given translation, the α of its score.
        tree: every prefix that the search ranked, if requested.
    """

    source: str
    source_pieces: tuple[Piece, ...]
    candidates: tuple[Candidate, ...]
    notices: tuple[str, ...]
    seconds: float
    stopped: bool = False
    prefix: tuple[Piece, ...] = ()
    settings: SearchSettings = field(default_factory=SearchSettings)
    tree: SearchTree | None = None

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
        """Log probability of the best translation, in nats."""
        return self.best.hypothesis.log_prob


@dataclass(frozen=True)
class Partial:
    """State of a search after one of its steps."""

    text: str  # the beginning of the translation, which can no longer change
    pieces: tuple[Piece, ...]  # those of `text`
    tentative: str  # begins with `text`; the rest can still change
    translation: Translation | None = None  # of the last one alone: all that was found

    @property
    def done(self) -> bool:
        """True for the last part."""
        return self.translation is not None
