"""Choice of an alternative in place of a written piece, as the browser sends it."""

from __future__ import annotations

from collections.abc import Sequence


def forced_of(
    step: object,
    alternative: object,
    prefix: object,
    written: Sequence[str],
    others: Sequence[Sequence[str]],
) -> tuple[int, int] | None:
    """Return a place and the number of its alternative, from 0, if they lead to this prefix.

    Args:
        step: what may be the place.
        alternative: what may be the number.
        prefix: the pieces before the place and the alternative, as one text.
        written: `[step]`, the pieces that were written.
        others: `[step]`, the alternatives of each.
    """
    if type(step) is not int or type(alternative) is not int:
        return None
    if not 0 <= step < len(written) or not 0 <= alternative < len(others[step]):
        return None
    if prefix != "".join(written[:step]) + others[step][alternative]:
        return None
    return step, alternative
