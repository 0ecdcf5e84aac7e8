"""The best translation of each of thousands of sentences: a beam search by tensors alone (§6.1).

`BeamSearch` looks at every sentence in Python at each step, so that it can be steered, recorded and
streamed. On a GPU that takes far longer than the model. Here a step is a fixed number of operations
on the device, however many sentences there are, and nothing waits for it but the question whether
some are done.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from transformer.config import BOS, EOS, PAD
from transformer.decoding.fast_step import FastDecoder
from transformer.decoding.hypothesis import (
    ALPHA,
    BEAM_SIZE,
    MAX_EXTRA,
    forbid,
    largest,
    length_penalty,
)
from transformer.model import Transformer

CHECK_INTERVAL = 4
"""Steps between two looks at which sentences are done, since a look waits for the device."""
COMPACTION_SHARE = 0.75
"""Share of unfinished sentences below which the others are taken out: to move them costs a copy."""


@torch.inference_mode()
def bulk_search(
    model: Transformer,
    source: Tensor,
    *,
    beam_size: int = BEAM_SIZE,
    alpha: float = ALPHA,
    max_extra: int = MAX_EXTRA,
) -> list[list[int]]:
    """Find the best translation of each sentence, without hooks, constraints or a tree.

    Args:
        model: the model, in evaluation mode; may be in bfloat16.
        source: `[sentence, source]` token ids, padded on the right, on the model's device.
        beam_size: the number of prefixes kept, fewer than there are pieces; 1 is greedy search.
        alpha: α of the length penalty.
        max_extra: the length limit beyond the source's length.

    Returns:
        Token ids of each translation; they end with `</s>` unless the limit came first.
    """
    search = _BulkSearch(model, source, beam_size, alpha, max_extra)
    step = 0
    while search.goes_on:
        search.step()
        step += 1
        if step % CHECK_INTERVAL == 0 or step >= search.longest:
            search.drop_done()
    return search.translations()


class _BulkDecoder(FastDecoder):
    """A `FastDecoder` whose rows are chosen by tensors."""

    def advance(self, sentences: Tensor | None, rows: Tensor | None, pieces: Tensor) -> Tensor:
        """Compute the logits of the next piece of each row, `[row, vocab]`.

        Args:
            sentences: the sentences that go on; all unless given.
            rows: the row of the last step that each new row continues; itself unless given.
            pieces: `[row]`, the token id that each row adds.
        """
        if sentences is not None:
            for layer in self.layers:
                layer.k, layer.v = layer.k[sentences], layer.v[sentences]
            if self.mask is not None:
                self.mask = self.mask[sentences]
        if rows is not None:
            self.cache.gather(rows)
        self.beams = self.K
        return self._logits(pieces[:, None])[:, 0]


class _BulkSearch:
    """The state of all sentences; those that are done are taken out now and then.

    All tensors begin with `[sentence]`. A prefix of total -∞ is none; its row is computed with the
    others.
    """

    def __init__(
        self, model: Transformer, source: Tensor, K: int, alpha: float, max_extra: int
    ) -> None:
        sentences, device = source.size(0), source.device
        self.K, self.alpha = K, alpha
        lengths = (source != PAD).sum(1) + max_extra
        self.limits = lengths.clamp(max=model.config.max_length)
        self.longest = int(self.limits.max())
        self.penalties = ((5 + self.limits) / 6) ** alpha  # at the limit
        self.length = 0
        self.totals = torch.zeros(sentences, 1, device=device)  # [sentence, row]
        self.written = torch.empty(sentences, 1, 0, dtype=torch.long, device=device)
        self.finished = torch.zeros(sentences, dtype=torch.long, device=device)
        self.best_scores = torch.full((sentences,), -math.inf, device=device)
        self.best = torch.full((sentences, self.longest), PAD, device=device)
        self.active = torch.ones(sentences, dtype=torch.bool, device=device)
        self.goes_on = True
        self._numbers = torch.arange(sentences, device=device)  # the number of each sentence
        self._results = self.best.clone()
        self._decoder = _BulkDecoder(model, source, K)
        start = torch.full((sentences, 1), BOS, device=device)
        self._logits: Tensor | None = self._decoder.start(start)  # [sentence, row, vocab]
        self._surviving: Tensor | None = None  # sentences that were kept since the last step
        self._parents = torch.zeros(sentences, 1, dtype=torch.long, device=device)

    def step(self) -> None:
        """Extend each prefix by one piece, as `SentenceSearch.extend` does."""
        values, rows, pieces = self._candidates()
        self.length += 1
        rank = torch.arange(values.size(1), device=values.device)
        possible = values > -math.inf
        ends = (pieces == EOS) & possible
        self._finish(values, rows, ends & (rank < self.K))
        # the first K that do not end; what is no candidate comes last
        order = torch.where(possible & ~ends, rank, rank + len(rank))
        place, chosen = order.topk(min(self.K, len(rank)), dim=1, largest=False)
        lives = place < len(rank)
        self._parents = rows.gather(1, chosen)
        self.totals = values.gather(1, chosen).masked_fill(~lives, -math.inf)
        piece = pieces.gather(1, chosen).masked_fill(~lives, EOS)
        self.written = torch.cat((self._written_by(self._parents), piece[..., None]), 2)
        self._end()

    def drop_done(self) -> None:
        """Take the sentences that are done out, where that is worth it."""
        left = int(self.active.sum())
        self.goes_on = left > 0
        if left > COMPACTION_SHARE * len(self.active):
            return
        self._results[self._numbers] = self.best
        unfinished = self.active.nonzero().flatten()
        for name in (
            "totals", "written", "finished", "best_scores", "best", "active", "limits", "penalties",
            "_numbers", "_parents",
        ):  # fmt: skip
            setattr(self, name, getattr(self, name)[unfinished])
        self._surviving = unfinished  # the decoder learns it with the next pieces

    def translations(self) -> list[list[int]]:
        """Return the best of each sentence, in the order in which they were given."""
        self._results[self._numbers] = self.best
        rows: list[list[int]] = self._results.tolist()
        return [[piece for piece in pieces if piece != PAD] for pieces in rows]

    def _candidates(self) -> tuple[Tensor, Tensor, Tensor]:
        """Rank the 2 K best continuations: log P of the whole, row and piece, best first."""
        logits = self._decode() if self._logits is None else self._logits
        self._logits = None
        log_p = forbid(logits.log_softmax(-1, dtype=torch.float32))  # [sentence, row, vocab]
        every = (log_p + self.totals[..., None]).flatten(1)
        values, indices = largest(every, min(2 * self.K, every.size(1)))
        return values, indices // log_p.size(-1), indices % log_p.size(-1)

    def _decode(self) -> Tensor:
        sentences, K = self._parents.shape
        numbers = torch.arange(sentences, device=self._parents.device)
        numbers = numbers if self._surviving is None else self._surviving
        rows = (numbers[:, None] * self._decoder.beams + self._parents).flatten()
        same = K == 1 and self._surviving is None  # greedy: each row goes on from itself
        logits = self._decoder.advance(
            self._surviving, None if same else rows, self.written[..., -1].flatten()
        )
        self._surviving = None
        return logits.view(sentences, K, -1)

    def _written_by(self, rows: Tensor) -> Tensor:
        """Return the pieces of these rows, `[sentence, row, position]`."""
        return self.written.gather(1, rows[..., None].expand(-1, -1, self.length - 1))

    def _finish(self, values: Tensor, rows: Tensor, ends: Tensor) -> None:
        """Count the hypotheses that end here, and keep the best if it is the best yet."""
        ends = ends & self.active[:, None]
        scores = values / length_penalty(self.length, self.alpha)
        score, place = scores.masked_fill(~ends, -math.inf).max(1)
        parent = rows.gather(1, place[:, None])
        self._keep(score > self.best_scores, self._written_by(parent)[:, 0], EOS)
        self.best_scores = self.best_scores.maximum(score)
        self.finished = self.finished + ends.sum(1)

    def _keep(self, better: Tensor, pieces: Tensor, last: int | Tensor) -> None:
        """Let these pieces, and one more, be the best of the sentences where they are."""
        new = torch.full_like(self.best, PAD)
        new[:, : pieces.size(1)] = pieces
        new[:, pieces.size(1)] = last
        self.best = torch.where(better[:, None], new, self.best)

    def _end(self) -> None:
        """End the sentences that have K hypotheses, reached their limit, or are decided."""
        complete = self.best_scores > -math.inf
        at_limit = self.length >= self.limits
        # cut by the limit: the best prefix stands where nothing ended with </s>
        cut = self.active & at_limit & ~complete & (self.totals[:, 0] > -math.inf)
        self._keep(cut, self.written[:, 0, :-1], self.written[:, 0, -1])
        # see `hypothesis.best_score`: an upper bound of what a prefix can still reach
        next_penalty = ((5 + self.limits.clamp(max=self.length + 1)) / 6) ** self.alpha
        bound = self.totals[:, 0] / next_penalty.maximum(self.penalties) * (1 - 1e-5)
        decided = complete & (self.best_scores >= bound)
        over = at_limit | decided | (self.finished >= self.K) | (self.totals[:, 0] == -math.inf)
        self.active = self.active & ~over
