"""A sentence with everything that the model makes of it, and the lines of the sentence bar."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from transformer import AttentionTrace, Kind, Translation, Translator
from transformer.config import BOS, UNK
from transformer.decoding import NEVER_WRITTEN
from transformer.hooks import Hook
from transformer.masks import pad_sequences
from viz.draw.labels import display_tokens

Floats = npt.NDArray[np.float64]
KINDS: dict[str, Kind] = {
    "encoder": "encoder_self",
    "decoder": "decoder_self",
    "cross-attention": "cross",
}
BATCH = ("The old man is sleeping.", "A dog barks.")
"""What stands beside the sentence in the bar unless somebody types another text."""


class Facts:
    """A sentence, what the model makes of it, and arithmetic on that."""

    def __init__(self, translator: Translator, text: str) -> None:
        self.translator, self.text = translator, text
        self.model, self.config = translator.model, translator.model.config
        self.translation: Translation = translator.translate(text)

    @cached_property
    def trace(self) -> AttentionTrace:
        """Weights of every head."""
        return self.translator.trace_of(self.translation)

    @cached_property
    def source(self) -> list[int]:
        """Token ids that the encoder reads."""
        return [piece.id for piece in self.trace.source_pieces]

    @cached_property
    def target(self) -> list[int]:
        """Token ids that the decoder writes."""
        return [piece.id for piece in self.trace.target_pieces]

    @cached_property
    def batch(self) -> list["Facts"]:
        """This sentence and those beside it, unless somebody types others."""
        return [self, *(Facts(self.translator, text) for text in BATCH)]

    @property
    def inputs(self) -> tuple[Tensor, Tensor]:
        """Token ids that the model reads to write the translation, `[1, token]` on each side."""
        return torch.tensor([self.source]), torch.tensor([[BOS, *self.target[:-1]]])

    def queries(self, kind: Kind) -> int:
        """Rows of a map of the sentence."""
        return len(self.source if kind == "encoder_self" else self.target)

    def keys(self, kind: Kind) -> int:
        """Columns of a map of the sentence."""
        return len(self.target if kind == "decoder_self" else self.source)

    def seen(self, kind: Kind, query: int) -> list[int]:
        """Keys that a row may look at."""
        return [*range(query + 1 if kind == "decoder_self" else self.keys(kind))]

    def first_row(self, kind: Kind) -> int:
        """The first row that counts: of the decoder, one that sees several keys."""
        if kind != "decoder_self":
            return 0
        rows = range(self.queries(kind))
        return next((row for row in rows if len(self.seen(kind, row)) > 1), rows[-1])

    @property
    def sides(self) -> dict[str, list[str]]:
        """The tokens of both languages, as the screen has them."""
        both = display_tokens([*self.trace.decoder_tokens, *self.trace.target_tokens])
        length = len(self.target)
        return {
            "english": display_tokens(self.trace.source_tokens),
            "reads": both[:length],
            "writes": both[length:],
        }

    def rows(self, kind: Kind) -> list[str]:
        """Return what each row is called."""
        if kind == "encoder_self":
            return [f"the row of “{token}”" for token in self.sides["english"]]
        pairs = zip(self.sides["reads"], self.sides["writes"], strict=True)
        return [f"the step that reads “{read}” and predicts “{written}”" for read, written in pairs]

    def drawn_rows(self, kind: Kind = "cross") -> Iterator[str]:
        """Name each row as a map of it does."""
        for n, row in enumerate(self.rows(kind), start=1):
            yield f"attention_map row {n}: {row.removeprefix('the step that ')}"

    def log_p(self, target: list[int], edits: Mapping[str, Hook] | None = None) -> Floats:
        """Log P of every piece of the vocabulary at each step of a translation, `[step, piece]`."""
        with torch.inference_mode(), self.model.hooks(edits or {}):
            logits = self.model(torch.tensor([self.source]), torch.tensor([[BOS, *target[:-1]]]))
        values: Floats = logits[0].double().log_softmax(-1).numpy()
        return values

    def score(self, target: list[int], edits: Mapping[str, Hook] | None = None) -> float:
        """Log P of a translation, in nats."""
        return float(self.log_p(target, edits)[range(len(target)), target].sum())

    def translated(self, edits: Mapping[str, Hook], text: str | None = None) -> Translation:
        """Return what the model writes while hooks change it."""
        with self.model.hooks(edits):
            return self.translator.translate(self.text if text is None else text)


def padded_inputs(batch: list[Facts]) -> tuple[Tensor, Tensor]:
    """Token ids of several sentences, padded, `[sentence, token]` on each side."""
    target = pad_sequences([[BOS, *facts.target[:-1]] for facts in batch])
    return pad_sequences([facts.source for facts in batch]), target


def number(value: float, digits: int = 2) -> str:
    """With a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def head_title(kind_name: str, layer: int, head: int) -> str:
    """Name a head, whose layer and number count from 0, as headings do."""
    return f"L{layer + 1} H{head + 1} · {kind_name}"


def sentence(text: str) -> str:
    """With a capital letter."""
    return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Marked:
    """A text whose words that another lacks are marked, and the words that it lacks, too."""

    text: str
    other: str


ROUNDING = 1e-5
MAYBE = "\0"
Expected: TypeAlias = str | Marked
"""A sentence that stands on a page; after … it may be a part of one, with other words at each
further …; after `MAYBE` it may be missing."""


def bar(facts: Facts) -> Iterator[str]:
    """The two lines over every page."""
    best = facts.translation.best
    count = len(facts.target)
    log_p = number(facts.score(facts.target))
    yield f"log probability {log_p} ({count} {'subword' if count == 1 else 'subwords'}) · 0 ms"
    yield best.text
    unknown = [p.text.strip("▁") for p in facts.trace.source_pieces if p.id == UNK]
    if unknown:
        names = ", ".join(f"“{text}”" for text in dict.fromkeys(unknown))
        yield (
            f"The vocabulary has no {names}: the model reads <unk> there, as for every unknown "
            "character."
        )
    yield from unsure(facts, facts.score(facts.target) / count)


def noticed(facts: Facts, other: Translation) -> Iterator[str]:
    """Yield what stands below a second translation, which an edited model wrote."""
    tokens, complete = other.best.hypothesis.tokens, other.best.hypothesis.complete
    if not complete:
        yield (
            f"The model did not end the sentence within {len(tokens)} pieces, its limit for this "
            "text."
        )
    yield from unsure(facts, other.log_prob / len(tokens), edited=True)


def unsure(facts: Facts, mean: float, *, edited: bool = False) -> Iterator[str]:
    """The notice of a translation whose log P per piece is below that of text the model knows."""
    domain = facts.translator.domain
    if domain is not None and mean < domain.least_log_prob:
        made_for = f" on familiar text. It is made for {domain.made_for}."
        yield (
            f"The model is unsure of this translation{' after this change' if edited else ''}: log "
            f"probability is {number(mean)} per subword, usually above "
            f"{number(domain.least_log_prob)}{'.' if edited else made_for}"
        )


def options(log_p: Floats, written: int) -> list[int]:
    """Return the piece that is written, and the four most probable others, of `[piece]`."""
    others = log_p.copy()
    others[[*NEVER_WRITTEN, written]] = -np.inf
    return [written, *np.argsort(-others)[:4].tolist()]


def translate(facts: Facts) -> Iterator[Expected]:
    """The map, the alternatives and the other sentences."""
    yield from facts.drawn_rows()
    log_p = facts.log_p(facts.target)
    pieces: list[str] = []
    probabilities: list[float] = []
    for step, written in enumerate(facts.target):
        ids = options(log_p[step], written)
        names = [piece.text for piece in facts.translator.tokenizer.pieces_of(ids)]
        pieces += [facts.trace.target_tokens[step], *names[1:]]
        probabilities += [math.exp(log_p[step, piece]) for piece in ids]
    # marked alike at all steps
    for token, p in zip(display_tokens(pieces), probabilities, strict=True):
        yield f"step_bars {token} {p:.2f}"
    best = facts.translation.best
    for candidate in facts.translation.candidates:
        tokens = list(candidate.hypothesis.tokens)
        total = facts.score(tokens)
        score = total / ((5 + len(tokens)) / 6) ** 0.6
        figures = f"score {number(score)} · log probability {number(total)}"
        if candidate is best:
            yield f"…The best translation has {figures}.…"
        else:
            yield figures + " · the same words, in other subwords" * (candidate.text == best.text)
            yield Marked(candidate.text, best.text)


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign, where it does not round to 0."""
    text = number(value, digits)
    return text if value < 0 or not float(text) else f"+{text}"


def extremes(
    distances: Iterable[tuple[float, str]], count: int, least: float = -math.inf
) -> Iterator[tuple[str, str, float]]:
    """Yield `MAYBE` or nothing, the name and the number of the largest distances.

    `count` of them are named, none below `least`. Numbers as large as the last of them may be named
    or not, as float32 rounds.
    """
    ordered = sorted(distances, reverse=True)
    last = max(ordered[min(count, len(ordered)) - 1][0], least)
    for value, name in ordered:
        if value > last - ROUNDING:
            yield MAYBE if value < last + ROUNDING else "", name, value


def is_punctuation(token: str) -> bool:
    """Return whether a token is punctuation of English or German, or a space."""
    return re.fullmatch(r"[▁.,:;!?'\"’‘“”„«»()\[\]{}…/\\·–—_-]*", token) is not None
