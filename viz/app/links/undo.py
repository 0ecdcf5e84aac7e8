"""Undo and redo: the past states, the current one, and the undone ones."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_STEPS = 200
PAUSE = 2.0
"""Seconds without a letter after which further letters are another step."""


@dataclass
class History(Generic[T]):
    """The states of one user."""

    now: T | None = None  # the last that was seen; None before the first
    before: list[T] = field(default_factory=list)  # the oldest first
    undone: list[T] = field(default_factory=list)  # the one to be redone next last
    _typed: str = ""
    _at: float = 0.0

    def see(self, state: T, at: float, typed: str = "") -> None:
        """Record a hashable state at a time in seconds; the same state again is no step.

        Letters typed one after another in the field `typed` are one step.
        """
        if state == self.now:
            return
        goes_on = bool(typed) and typed == self._typed and at - self._at < PAUSE
        if self.now is not None and not goes_on:
            self.before = [*self.before, self.now][-MAX_STEPS:]
        self.undone = []
        self.now, self._typed, self._at = state, typed, at

    def undo(self) -> T | None:
        """Return the previous state; the current one can be redone."""
        return self._move(self.before, self.undone)

    def redo(self) -> T | None:
        """Return the state that was undone last."""
        return self._move(self.undone, self.before)

    def _move(self, source: list[T], target: list[T]) -> T | None:
        # a second click can come before the button is out
        if source and self.now is not None:
            target.append(self.now)
            self.now, self._typed = source.pop(), ""
        return self.now
