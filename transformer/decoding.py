"""Greedy and beam search over a cache of keys and values (§6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.cache import Cache
from transformer.config import BOS, EOS, PAD, UNK
from transformer.masks import padding_mask
from transformer.model import Transformer

NEVER_WRITTEN = (PAD, UNK, BOS)
BEAM_SIZE, ALPHA, MAX_EXTRA = 4, 0.6, 50
"""The paper's beam size, length penalty, and output length beyond the source's (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """One translation that a search found.

    Args:
        tokens: token ids, ending with `</s>` unless the length limit was reached first.
        log_probs: natural logarithm of the probability of each token.
        score: log P(y | x) divided by the length penalty.
    """

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    score: float

    @property
    def log_prob(self) -> float:
        """log P(y | x), in nats."""
        return sum(self.log_probs)

    @property
    def complete(self) -> bool:
        """Whether the hypothesis ends with `</s>`."""
        return bool(self.tokens) and self.tokens[-1] == EOS


def length_penalty(length: int, alpha: float = ALPHA) -> float:
    """lp(Y) = ((5 + |Y|) / 6)^α (Wu et al. 2016, the paper's [38])."""
    return float(((5 + length) / 6) ** alpha)


@torch.inference_mode()
def greedy(model: Transformer, source: Tensor, *, max_extra: int = MAX_EXTRA) -> list[Hypothesis]:
    """Write the most probable piece at each step.

    Args:
        source: `[batch, source]` token ids, padded on the right.
        max_extra: stop at source length + this many tokens.

    Returns:
        One hypothesis for each sentence.
    """
    mask = padding_mask(source)
    memory = model.encode(source, mask)
    limits = _limits(model, source, max_extra)
    cache = Cache(model.config.N)
    piece = torch.full((source.size(0), 1), BOS, device=source.device)
    written: list[Tensor] = []  # [batch] each
    log_probs: list[Tensor] = []
    unfinished = torch.ones(source.size(0), dtype=torch.bool, device=source.device)
    for length in range(1, int(limits.max()) + 1):
        log_p = _next_log_probs(model, piece, memory, mask, cache)
        best = log_p.max(-1)
        written.append(best.indices)
        log_probs.append(best.values)
        unfinished &= (best.indices != EOS) & (limits > length)
        if not unfinished.any():
            break
        piece = best.indices[:, None]
    tokens = torch.stack(written, 1).tolist()
    values = torch.stack(log_probs, 1).tolist()
    return [
        _cut(row, value, limit)
        for row, value, limit in zip(tokens, values, limits.tolist(), strict=True)
    ]


def _cut(tokens: list[int], log_probs: list[float], limit: int) -> Hypothesis:
    """Cut one greedy row after its `</s>` or at its length limit."""
    length = min(tokens.index(EOS) + 1 if EOS in tokens else len(tokens), limit)
    log_probs = log_probs[:length]
    score = sum(log_probs) / length_penalty(length)
    return Hypothesis(tuple(tokens[:length]), tuple(log_probs), score)


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Tensor,
    *,
    beam_size: int = BEAM_SIZE,
    alpha: float = ALPHA,
    max_extra: int = MAX_EXTRA,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[list[Hypothesis]]:
    """Extend the `beam_size` best prefixes until as many hypotheses are finished.

    Args:
        source: `[batch, source]` token ids, padded on the right.
        beam_size: prefixes kept; 1 is greedy search.
        alpha: α of the length penalty.
        max_extra: stop at source length + this many tokens.
        should_stop: asked after each step; once it says so, the prefixes that the search has then
            stand as hypotheses, as at the length limit.

    Returns:
        For each sentence its hypotheses, best score first.
    """
    search = _Beams(model, source, beam_size, alpha, max_extra)
    while search.unfinished:
        search.step()
        if search.unfinished and should_stop():
            search.stop()
    # hypotheses that were cut come after all that end with </s>
    return [sorted(found, key=lambda h: (not h.complete, -h.score)) for found in search.finished]


class _Beams:
    """The prefixes of all unfinished sentences, `beam_size` consecutive rows for each."""

    def __init__(
        self, model: Transformer, source: Tensor, beam_size: int, alpha: float, max_extra: int
    ) -> None:
        self.model, self.K, self.alpha = model, beam_size, alpha
        mask = padding_mask(source)
        rows = torch.arange(source.size(0), device=source.device).repeat_interleave(beam_size)
        self.memory = model.encode(source, mask)[rows]
        self.mask = mask[rows]
        self.cache = Cache(model.config.N)
        self.limits: list[int] = _limits(model, source, max_extra).tolist()
        self.finished: list[list[Hypothesis]] = [[] for _ in range(source.size(0))]
        self.unfinished = list(range(source.size(0)))  # numbers of the sentences
        self.tokens = torch.full((len(rows), 1), BOS, device=source.device)  # [row, length]
        self.log_probs = torch.zeros(len(rows), 0, device=source.device)  # [row, length]
        # all rows of a sentence start equal: all but the first are placeholder beams
        self.total = torch.full((source.size(0), beam_size), -math.inf, device=source.device)
        self.total[:, 0] = 0

    def step(self) -> None:
        """Extend each prefix by one piece, move finished ones, keep the best of the rest."""
        log_p = _next_log_probs(self.model, self.tokens[:, -1:], self.memory, self.mask, self.cache)
        vocab = log_p.size(-1)
        total = self.total.view(-1, 1) + log_p  # [row, vocab]
        # one continuation of each row is </s>: of the 2 K best, at least K are others
        best = total.view(len(self.unfinished), -1).topk(2 * self.K)
        first_row = torch.arange(len(self.unfinished), device=total.device)[:, None] * self.K
        rows = first_row + best.indices // vocab  # [sentence, 2 K]
        pieces = best.indices % vocab
        ends = (pieces == EOS).tolist()

        length = self.tokens.size(1)
        selected: list[int] = []  # of the flattened [sentence, 2 K]
        unfinished: list[int] = []
        for index, sentence in enumerate(self.unfinished):
            for rank in range(self.K):
                if ends[index][rank] and len(self.finished[sentence]) < self.K:
                    self._finish(sentence, rows[index, rank], pieces[index, rank], log_p)
            continued = [rank for rank in range(2 * self.K) if not ends[index][rank]][: self.K]
            if len(self.finished[sentence]) >= self.K:
                continue
            if length >= self.limits[sentence]:
                for rank in continued[: self.K - len(self.finished[sentence])]:
                    self._finish(sentence, rows[index, rank], pieces[index, rank], log_p)
                continue
            selected += [index * 2 * self.K + rank for rank in continued]
            unfinished.append(sentence)
        self._select(
            torch.tensor(selected, device=total.device, dtype=torch.long), rows, pieces, log_p
        )
        self.total = best.values.flatten()[selected].view(-1, self.K)
        self.unfinished = unfinished

    def stop(self) -> None:
        """Let the best prefixes of each unfinished sentence stand as hypotheses."""
        for index, sentence in enumerate(self.unfinished):
            for row in range(index * self.K, (index + 1) * self.K):
                is_placeholder = math.isinf(self.total.view(-1)[row])
                if len(self.finished[sentence]) < self.K and not is_placeholder:
                    tokens = self.tokens[row, 1:].tolist()
                    self._add(sentence, tokens, self.log_probs[row].tolist())
        self.unfinished = []

    def _finish(self, sentence: int, row: Tensor, piece: Tensor, log_p: Tensor) -> None:
        # not a placeholder beam, nor a piece that is never written: both have log P = -∞
        if math.isinf(self.total.view(-1)[row] + log_p[row, piece]):
            return
        tokens = [*self.tokens[row, 1:].tolist(), int(piece)]
        self._add(sentence, tokens, [*self.log_probs[row].tolist(), float(log_p[row, piece])])

    def _add(self, sentence: int, tokens: list[int], log_probs: list[float]) -> None:
        score = sum(log_probs) / length_penalty(len(tokens), self.alpha)
        self.finished[sentence].append(Hypothesis(tuple(tokens), tuple(log_probs), score))

    def _select(self, selected: Tensor, rows: Tensor, pieces: Tensor, log_p: Tensor) -> None:
        rows, pieces = rows.flatten()[selected], pieces.flatten()[selected]
        self.tokens = torch.cat((self.tokens[rows], pieces[:, None]), dim=1)
        self.log_probs = torch.cat((self.log_probs[rows], log_p[rows, pieces][:, None]), dim=1)
        self.memory, self.mask = self.memory[rows], self.mask[rows]
        self.cache.select(rows)


def _next_log_probs(
    model: Transformer, piece: Tensor, memory: Tensor, mask: Tensor, cache: Cache
) -> Tensor:
    """log P of each next piece, `[row, vocab]`; pieces that are never written have -∞."""
    decoded = model.decode(piece, memory, mask, cache)[:, -1]  # [row, d_model]
    log_p = model.logits(decoded).float().log_softmax(-1)
    log_p[:, list(NEVER_WRITTEN)] = -math.inf
    return log_p


def _limits(model: Transformer, source: Tensor, max_extra: int) -> Tensor:
    """Length limit of each output, `[batch]`: that of the source + `max_extra` (§6.1)."""
    return ((source != PAD).sum(1) + max_extra).clamp(max=model.config.max_length)
