"""The whole tree of a beam search: every prefix that it ranked, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

State = Literal["kept", "finished", "dropped", "unfinished"]
Reason = Literal["", "beam", "forbidden", "full", "bound", "limit", "stopped"]
"""Why a prefix was dropped or stands without its end.

`beam`: not among the K best of its step; `forbidden`: it completes a forbidden word, or leads to
one; `full`: the search had K hypotheses by then, or K better ones; `bound`: it could no longer
become one of the n best; `limit`: the length limit; `stopped`: the caller stopped the search.
"""


@dataclass(frozen=True)
class Node:
    """One prefix that the search ranked: that of its parent and one more piece.

    Args:
        parent: index of the shorter prefix; none for the first piece of a translation.
        piece: its last token.
        log_prob: log P of that piece after its parent, in nats.
        total: log P of the prefix.
        step: pieces of the prefix.
        state: whether it was extended, ended with `</s>`, was dropped, or stands without its end.
        reason: why it was dropped or has no end; empty otherwise.
        score: log P of a hypothesis over the length penalty; None for a prefix that is none.
    """

    parent: int | None
    piece: int
    log_prob: float
    total: float
    step: int
    state: State
    reason: Reason = ""
    score: float | None = None


@dataclass(frozen=True)
class SearchTree:
    """The prefixes that one sentence's search ranked, parents before their children.

    Args:
        nodes: the pieces of a forced prefix first, then at each step the refused continuations
            and the 2 K best that are left, best first.
        best: index of the leaf that is the translation.
    """

    nodes: tuple[Node, ...]
    best: int

    def path(self, index: int) -> tuple[int, ...]:
        """Return the indices of the nodes from the first piece to this node."""
        path: list[int] = []
        at: int | None = index
        while at is not None:
            path.append(at)
            at = self.nodes[at].parent
        return tuple(reversed(path))

    def prefix(self, index: int) -> tuple[int, ...]:
        """Return the tokens from the first piece to this node."""
        return tuple(self.nodes[at].piece for at in self.path(index))


class Recorder:
    """The tree of one sentence while it grows."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(self, node: Node) -> int:
        """Add a node and return its index."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def mark(
        self, index: int, state: State, reason: Reason = "", score: float | None = None
    ) -> None:
        """Say what became of a prefix."""
        self.nodes[index] = replace(self.nodes[index], state=state, reason=reason, score=score)
