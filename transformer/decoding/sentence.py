"""The search of one sentence: which prefixes live, and which hypotheses are found."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import torch
from torch import Tensor

from transformer import config, errors
from transformer.decoding.constraints import EMPTY, Bans, PrefixState
from transformer.decoding.hypothesis import (
    Continuation,
    Hypothesis,
    Node,
    Reason,
    SearchTree,
    State,
    best_score,
    length_penalty,
)  # fmt: skip


@dataclass(slots=True)
class Prefix:
    """The prefix of one beam: its parent's pieces and one more."""

    parent: "Prefix | None"  # the shorter prefix; None for the prefix without a piece
    piece: int
    log_prob: float
    total: float
    row: int = 0  # its place among the K rows of its sentence
    node: int | None = None  # its index in the recorded tree
    written: PrefixState = EMPTY  # the state by which `Bans` decides what may follow

    def chain(self) -> list["Prefix"]:
        """List the prefixes of one piece, of two, and so on up to this one."""
        prefixes = []
        at = self
        while at.parent is not None:
            prefixes.append(at)
            at = at.parent
        return prefixes[::-1]

    def tokens(self) -> tuple[int, ...]:
        """Return the token ids from the first piece to the last."""
        return tuple(prefix.piece for prefix in self.chain())


class SentenceSearch:
    """Live prefixes and hypotheses of one sentence, all of which begin with the `forced` pieces.

    The search ends with K hypotheses, or when no live prefix can become one of the `n_best`.
    """

    def __init__(
        self,
        forced: Iterable[tuple[int, float]],
        *,
        K: int,
        n_best: int,
        limit: int,
        alpha: float,
        bans: Bans | None = None,
        record: bool = False,
    ) -> None:
        if bans is not None:
            bans.require_room(limit)
        self.K, self.n_best, self.limit, self.alpha, self.bans = K, n_best, limit, alpha, bans
        self.nodes: list[Node] | None = [] if record else None
        self.finished: list[tuple[Hypothesis, Prefix]] = []
        self.length = 0  # pieces of each live prefix
        prefix = Prefix(None, -1, 0.0, 0.0)
        for piece, log_prob in forced:
            self.length += 1
            prefix = self._grow(prefix, piece, log_prob, prefix.total + log_prob)
            self._mark(prefix, "kept")
        self.live = [prefix]  # best first

    def ban(self, candidates: Sequence[Continuation]) -> dict[int, Tensor]:
        """List by row the pieces that must not follow, where a candidate is forbidden.

        They depart from the text prefix or complete a forbidden word; of the candidates also those
        that write one which the model would end.
        """
        if self.bans is None:
            return {}
        banned: dict[int, set[int]] = {}
        left = self.limit - self.length - 1
        live = {prefix.row: prefix for prefix in self.live}
        for row, piece, log_prob, total in candidates:
            before = live[row].written
            if piece not in banned.get(row, ()):
                if self.bans.refuses(before, piece, left):
                    banned.setdefault(row, set()).update(self.bans.pieces(before, left))
                elif self.bans.likely_ends_forbidden((*live[row].tokens(), piece), before, left):
                    banned.setdefault(row, set()).add(piece)
                else:
                    continue
            # a text prefix excludes all other pieces, whatever the model's probabilities are
            if not self.bans.is_open(before):
                self._record(live[row], piece, log_prob, total, "forbidden")
        # to index by a list of most of the vocabulary takes ten times as long
        return {row: torch.tensor(list(pieces)) for row, pieces in banned.items()}

    def extend(self, candidates: Sequence[Continuation]) -> bool:
        """Finish prefixes that end with `</s>`, keep the best others; return whether any is live.

        Of the 2 K best continuations one of each row is `</s>`, so at least K are others.
        """
        self.length += 1
        parents = {prefix.row: prefix for prefix in self.live}
        self.live = []
        for rank, (row, piece, log_prob, total) in enumerate(candidates):
            ends = piece == config.EOS
            if rank < self.K if ends else len(self.live) < self.K:
                prefix = self._grow(parents[row], piece, log_prob, total)
                if not ends:
                    self._mark(prefix, "kept")
                    self.live.append(prefix)
                else:
                    self._add(prefix, "finished", "")
            else:
                self._record(parents[row], piece, log_prob, total, "beam")
        if not self.live and not self.finished:
            if self.bans is None:
                raise errors.NotFiniteError.for_model()
            raise errors.InputError("Every continuation is forbidden: forbid fewer words.")
        if self._is_full:
            ranked = self._ranked()
            for _, leaf in ranked[self.K :]:
                self._mark(leaf, "dropped", "full")
            self.finished = ranked[: self.K]
            self._end("full")
        elif self.length >= self.limit:
            self._end("limit")
        elif self._is_decided:
            self._end("bound")
        self._assign_rows()
        return bool(self.live)

    def stop(self) -> bool:
        """End the search with the live prefixes as hypotheses; return whether it must go on."""
        if self.finished or not all(map(self._is_forbidden, self.live)):
            self._end("stopped")
        return bool(self.live)

    def hypotheses(self) -> list[Hypothesis]:
        """List the best score first; those without `</s>` come after all that end with it."""
        return [hypothesis for hypothesis, _ in self._ranked()][: self.n_best]

    def settled(self) -> tuple[int, ...]:
        """Return the first pieces of the translation that no later step can change."""
        best_known = max((h.score for h, _ in self.finished if h.complete), default=-math.inf)
        rivals = [prefix for prefix in self.live if best_known < self._bound(prefix)]
        best = [leaf for _, leaf in self._ranked()[:1]]
        pieces = [prefix.tokens() for prefix in (*rivals, *best)]
        same = takewhile(lambda at: len(set(at)) == 1, zip(*pieces, strict=False))
        return tuple(at[0] for at in same)

    def tree(self) -> SearchTree:
        """Return the tree so far; the search must have been made with `record`."""
        if self.nodes is None:
            raise ValueError("this search does not record its tree")
        ranked = self._ranked()
        best = ranked[0][1] if ranked else self.live[0]
        return SearchTree(tuple(self.nodes), -1 if best.node is None else best.node)

    @property
    def _is_full(self) -> bool:
        return len(self.finished) >= self.K

    @property
    def _is_decided(self) -> bool:
        """True if no live prefix can still become one of the n best."""
        n = self.n_best
        if n >= self.K:  # then each hypothesis is one of the n best
            return False
        scores = sorted((h.score for h, _ in self.finished if h.complete), reverse=True)
        return len(scores) >= n and all(scores[n - 1] >= self._bound(p) for p in self.live)

    def _bound(self, prefix: Prefix) -> float:
        return best_score(prefix.total, self.length, self.limit, self.alpha)

    def _ranked(self) -> list[tuple[Hypothesis, Prefix]]:
        return sorted(self.finished, key=lambda pair: (not pair[0].complete, -pair[0].score))

    def _end(self, reason: Reason) -> None:
        """End the live prefixes: as hypotheses at the limit or if stopped, else dropped."""
        stands = reason in ("limit", "stopped")
        for prefix in self.live:
            if stands and not self._is_full and not self._is_forbidden(prefix):
                self._add(prefix, "unfinished", reason)
            else:
                self._mark(prefix, "dropped", reason)
        self.live = []

    def _assign_rows(self) -> None:
        """Give each live prefix a row, its parent's if free, so that few rows move."""
        free = dict.fromkeys(range(self.K))
        moved = []
        for prefix in self.live:
            prefix.row = prefix.parent.row if prefix.parent else 0
            if prefix.row in free:
                del free[prefix.row]
            else:
                moved.append(prefix)
        for prefix, row in zip(moved, free, strict=False):
            prefix.row = row

    def _is_forbidden(self, prefix: Prefix) -> bool:
        """Return whether the text must not end here."""
        return self.bans is not None and self.bans.refuses(prefix.written, config.EOS, 0)

    def _add(self, leaf: Prefix, state: State, reason: Reason) -> None:
        chain = leaf.chain()
        log_probs = tuple(prefix.log_prob for prefix in chain)
        score = sum(log_probs) / length_penalty(len(chain), self.alpha)
        tokens = tuple(prefix.piece for prefix in chain)
        self.finished.append((Hypothesis(tokens, log_probs, score), leaf))
        self._mark(leaf, state, reason, score)

    def _grow(self, parent: Prefix, piece: int, log_prob: float, total: float) -> Prefix:
        prefix = Prefix(parent, piece, log_prob, total)
        if self.bans is not None and piece != config.EOS:
            prefix.written = self.bans.after(parent.written, piece)
        prefix.node = self._record(parent, piece, log_prob, total, "beam")
        return prefix

    def _record(
        self, parent: Prefix, piece: int, log_prob: float, total: float, reason: Reason
    ) -> int | None:
        if self.nodes is None:
            return None
        step = 1 if parent.node is None else self.nodes[parent.node].step + 1
        self.nodes.append(Node(parent.node, piece, log_prob, total, step, "dropped", reason))
        return len(self.nodes) - 1

    def _mark(
        self, prefix: Prefix, state: State, reason: Reason = "", score: float | None = None
    ) -> None:
        if self.nodes is not None and prefix.node is not None:
            node = self.nodes[prefix.node]
            self.nodes[prefix.node] = replace(node, state=state, reason=reason, score=score)
