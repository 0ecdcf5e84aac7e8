"""A text with which a translation must begin, in whatever pieces it is written."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence


class TextPrefix:
    """The characters with which a translation must begin, as the pieces write them.

    A place is the number of these characters that are written. Every way to cut them into pieces is
    allowed, and the last piece may go on beyond them: “Ein Ma” may become “Ein Mann” or “Ein
    Maler”. A space at the end counts: after “Ein Mann ” another word begins. Pieces that `never`
    write their `texts`, such as `</s>`, are left out.
    """

    def __init__(self, text: str, texts: Sequence[str], never: Sequence[int] = ()) -> None:
        self.text = text
        self._ids = {text: piece for piece, text in enumerate(texts) if text and piece not in never}
        self._sorted = sorted(self._ids)
        self._longest = max(map(len, self._sorted), default=0)
        # [place]: the pieces that go on from there, and the place after each
        self._after = [dict(self._pieces_at(place)) for place in range(len(text))]
        self._fewest = [0.0] * (len(text) + 1)  # [place]: pieces that write what is left
        for place in reversed(range(len(text))):
            after = self._after[place].values()
            self._fewest[place] = 1 + min((self._fewest[end] for end in after), default=math.inf)

    @property
    def fewest(self) -> float:
        """Pieces in which the text can be written, at least; ∞ if it cannot."""
        return self._fewest[0]

    def allowed(self, place: int, left: float) -> dict[int, int]:
        """Return the pieces that may follow before the text is complete, with the place after each.

        What is missing after such a piece has room in the `left` pieces that may follow it.
        """
        after = self._after[place]
        return {piece: end for piece, end in after.items() if self._fewest[end] <= left}

    def _pieces_at(self, place: int) -> Iterator[tuple[int, int]]:
        end = len(self.text)
        for stop in range(place + 1, min(place + self._longest, end) + 1):
            if (piece := self._ids.get(self.text[place:stop])) is not None:
                yield piece, stop
        rest = self.text[place:]
        for text in self._sorted[bisect_left(self._sorted, rest) :]:
            if not text.startswith(rest):
                break
            yield self._ids[text], end
