"""What became of one hostile input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["accepted", "refused", "bad"]


@dataclass(frozen=True)
class Outcome:
    """What became of one hostile input.

    Args:
        entrance: where it was brought in, such as `checkpoints`.
        name: what was tried, in a few words.
        verdict: `accepted` with a sound result, `refused` in one plain sentence, or `bad`: a
            traceback, an error box, something lost, too long or too much memory.
        why: the sentence of a refusal, or what was bad.
        seconds: how long it took.
        megabytes: peak memory that it added; 0 where it was not measured.
    """

    entrance: str
    name: str
    verdict: Verdict
    why: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0
