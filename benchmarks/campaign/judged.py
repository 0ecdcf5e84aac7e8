"""What a task says of one input, and the outcome that it becomes."""

from __future__ import annotations

from typing import TypeAlias

from benchmarks.campaign.outcome import Outcome, Verdict
from benchmarks.campaign.worker import Reply

Judged: TypeAlias = tuple[Verdict, str]
"""A verdict, and why."""

LONGEST = 1_500
"""Characters of a sentence on what is wrong."""


def refused(sentence: str) -> Judged:
    """A refusal is one plain sentence of bounded length; all else is bad."""
    if sentence.endswith(".") and sentence.isprintable() and len(sentence) < LONGEST:
        return "refused", sentence
    return "bad", f"no plain sentence: {sentence!r:.300}"


def of(reply: Reply) -> Judged:
    """What the task said, or what kept it from saying anything."""
    return reply.value or ("bad", reply.failure)


def outcome(entrance: str, name: str, reply: Reply, judged: Judged | None = None) -> Outcome:
    """The outcome of a reply."""
    verdict, why = judged or of(reply)
    return Outcome(entrance, name, verdict, why, reply.seconds, reply.megabytes)
