"""Tries of a student on each card of a lesson, as one text for the address.

A card is known by its task (`Lesson.tasks`), so that tries belong to a lesson and to what a card
asks, not to a number: they stay where its words are mended, and fit no other lesson.
"""

from collections.abc import Mapping, Sequence

Tries = Mapping[str, Sequence[str]]
"""By task: what was given, in order; `SHOWN` and `AGAIN` stand among it."""

SHOWN = "?"  # the answer was shown on request
AGAIN = ""  # a new try was begun, and nothing given yet

_CARDS, _TRIES = "~", "|"


def read_tries(text: str) -> Tries:
    """Read tries; what is not of this form is left out."""
    parts = (part.split(_TRIES) for part in text.split(_CARDS))
    return {task: tries for task, *tries in parts if tries}


def write_tries(tries: Tries, most: int) -> str:
    """Write tries in at most `most` characters; leave out the oldest if they take more."""
    rest = {task: list(given) for task, given in tries.items()}
    while len(text := _CARDS.join(_TRIES.join((task, *rest[task])) for task in rest)) > most:
        older = {task: [g for g in rest[task][:-1] if g != SHOWN] for task in rest}
        longest = max(older, key=lambda task: len("".join(older[task])))
        if not older[longest]:
            break
        rest[longest].remove(older[longest][0])
    return text[:most]


def latest(kept: Tries, tries: Tries) -> Tries:
    """Merge two records of tries; on each card, `kept` counts if it continues the other."""
    joined = {**kept, **tries}
    for task in kept.keys() & tries.keys():
        given, before = [*kept[task]], [*tries[task]]
        begun = before[:-1] if before[-1] == AGAIN else before
        if len(given) >= len(before) and given[: len(begun)] == begun:
            joined[task] = given
    return joined


def with_try(tries: Tries, task: str, given: str) -> Tries:
    """Return tries with one more answer to a card; a last try `AGAIN` gives way to it."""
    before = list(tries.get(task, ()))
    plain = " ".join(given.replace(_CARDS, " ").replace(_TRIES, " ").split())
    if before[-1:] == [plain]:  # a browser sends it for the key and for the button
        return tries
    return {**tries, task: [*(before[:-1] if before[-1:] == [AGAIN] else before), plain]}
