"""The pair of parts that byte-pair encoding joined last to a piece (§5.1)."""

import math
from collections.abc import Callable
from itertools import pairwise


def last_pair(piece: str, score: Callable[[str], float]) -> tuple[str, str] | None:
    """Return the two parts of a piece that were joined last; None for a letter or an unknown piece.

    Of all neighbours, those are joined first whose piece has the highest score: the one learnt
    first.
    """
    parts = [*piece]
    while len(parts) > 2:
        scores = [score(first + second) for first, second in pairwise(parts)]
        best = max(range(len(scores)), key=scores.__getitem__)
        if scores[best] == -math.inf:
            return None
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return (parts[0], parts[1]) if len(parts) == 2 and score(piece) > -math.inf else None
