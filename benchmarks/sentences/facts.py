"""A sentence, what the model makes of it, and what pages call that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from transformer import AttentionTrace, Kind, Translation, Translator
from transformer.config import BOS
from transformer.hooks import Hook
from viz.draw.labels import display_tokens

Floats = npt.NDArray[np.float64]
KINDS: dict[str, Kind] = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}
BATCH = ("The old man is sleeping.", "A dog barks.")
"""What stands beside the sentence in the bar unless somebody types another text."""


class Facts:
    """A sentence, what the model makes of it, and arithmetic on that."""

    def __init__(self, translator: Translator, text: str) -> None:
        self.translator, self.text = translator, text
        self.model, self.config = translator.model, translator.model.config
        self.found: Translation = translator.translate(text)

    @cached_property
    def trace(self) -> AttentionTrace:
        """What every head looked at."""
        return self.translator.trace_of(self.found)

    @cached_property
    def source(self) -> list[int]:
        """Token ids that the encoder reads."""
        return [piece.id for piece in self.trace.source_pieces]

    @cached_property
    def target(self) -> list[int]:
        """Token ids that the decoder writes."""
        return [piece.id for piece in self.trace.target_pieces]

    @cached_property
    def beside(self) -> list[Facts]:
        """The sentences beside this one in a batch, unless somebody types others."""
        return [Facts(self.translator, text) for text in BATCH]

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
        """What each row is called."""
        if kind == "encoder_self":
            return [f"the row of “{token}”" for token in self.sides["english"]]
        pairs = zip(self.sides["reads"], self.sides["writes"], strict=True)
        return [f"the row that reads “{read}” and writes “{written}”" for read, written in pairs]

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
        """What the model writes while hooks change it."""
        with self.model.hooks(edits):
            return self.translator.translate(self.text if text is None else text)


def number(value: float, digits: int = 2) -> str:
    """With a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def sentence(text: str) -> str:
    """With a capital letter."""
    return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Marked:
    """A text whose words that another lacks are marked, and the words that it lacks, too."""

    text: str
    other: str


MAYBE = "\0"
Expected: TypeAlias = str | Marked
"""A sentence that stands on a page; after … it may be a part of one, with other words at each
further …; after `MAYBE` it may be missing."""
