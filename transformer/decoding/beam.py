"""Beam search over a cache of keys and values (§6.1)."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from typing import TypedDict, Unpack

import torch
from torch import Tensor

from transformer import cache, config, errors, masks
from transformer.decoding import fast_step, hypothesis
from transformer.decoding.constraints import Bans, Constraints
from transformer.decoding.sentence import SentenceSearch
from transformer.model import Transformer


class PlainDecoder:
    """Logits of the next piece of each row, by the model's own modules with their cache.

    The K beams of a sentence are consecutive rows, for each of which the source is repeated.
    """

    def __init__(self, model: Transformer, source: Tensor, K: int) -> None:
        self.model, self.K = model, K
        mask = masks.padding_mask(source)
        rows = torch.arange(source.size(0), device=source.device).repeat_interleave(K)
        self.memory = model.encode(source, mask)[rows]
        self.mask = mask[rows]
        self.cache = cache.Cache(model.config.decoder.N)

    def start(self, written: Tensor) -> Tensor:
        """Read the first pieces, `[sentence, position]`, the same in all rows of a sentence.

        Return logits after each of them, `[sentence, position, vocab]`.
        """
        written = written.repeat_interleave(self.K, 0)
        decoded = self.model.decode(written, self.memory, self.mask, self.cache)
        return self.model.logits(decoded[:: self.K])

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """Append a piece to each of these rows of the last step; return logits `[row, vocab]`.

        The K rows of one sentence are side by side; sentences may be left out and change places.
        """
        chosen = torch.tensor(rows, device=self.memory.device)
        self.memory, self.mask = self.memory[chosen], self.mask[chosen]
        self.cache.select(chosen)
        piece = torch.tensor(pieces, device=self.memory.device)[:, None]
        decoded = self.model.decode(piece, self.memory, self.mask, self.cache)
        return self.model.logits(decoded[:, -1])


class ForcedLookAhead:
    """A `LookAhead` for one sentence, `</s>` last, which reads each prefix by a pass of its own."""

    def __init__(self, model: Transformer, source: Sequence[int]) -> None:
        self._model = model
        self._source = torch.tensor([source], device=model.device)
        self._mask = masks.padding_mask(self._source)

    @torch.inference_mode()
    def __call__(self, tokens: tuple[int, ...]) -> Tensor:
        """Compute log P of each piece after these, `[vocab]`, at least float32."""
        read = torch.tensor([[config.BOS, *tokens]], device=self._model.device)
        logits = self._model.logits(self._model.decode(read, self._memory, self._mask)[0, -1])
        exact = torch.promote_types(logits.dtype, torch.float32)
        log_p: Tensor = logits.log_softmax(-1, dtype=exact)
        return log_p

    @cached_property
    def _memory(self) -> Tensor:
        # not before it is asked for: few sentences come near a forbidden word
        return self._model.encode(self._source, self._mask)


class SearchOptions(TypedDict, total=False):
    """The options of a `BeamSearch`."""

    beam_size: int
    alpha: float
    max_extra: int
    max_length: int | None
    n_best: int | None
    constraints: Constraints | None
    record: bool


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Tensor,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    **options: Unpack[SearchOptions],
) -> list[list[hypothesis.Hypothesis]]:
    """Extend the best prefixes until as many hypotheses are finished, best score first.

    The options are those of `BeamSearch`. The search ends earlier once `should_stop`, called
    after each step, returns True: its prefixes then stand as hypotheses.
    """
    search = BeamSearch(model, source, **options)
    while search.unfinished:
        search.step()
        if search.unfinished and should_stop():
            search.stop()
    return [sentence.hypotheses() for sentence in search.sentences]


def greedy(
    model: Transformer, source: Tensor, *, max_extra: int = hypothesis.MAX_EXTRA
) -> list[hypothesis.Hypothesis]:
    """Write the most probable piece at each step, as `beam_search` with a beam of 1; one each."""
    sentences = beam_search(model, source, beam_size=1, max_extra=max_extra)
    return [hypotheses[0] for hypotheses in sentences]


class BeamSearch:
    """A beam search that a caller takes step by step.

    It extends the `beam_size` best prefixes of each `source`, `[batch, source]`, token ids padded
    on the right, until as many hypotheses are finished, or until no prefix can become one of the
    `n_best`. The length limit is `max_extra` beyond the source's length, or `max_length`, `</s>`
    included. With `record` it keeps the whole tree of each sentence.

    Hooks are looked up when it is made: a block of `Hooked.hooks` belongs around all of it.
    `sentences` has the search of each, with its `hypotheses()`, `settled()` and `tree()`.
    """

    @torch.inference_mode()
    def __init__(
        self,
        model: Transformer,
        source: Tensor,
        *,
        beam_size: int = hypothesis.BEAM_SIZE,
        alpha: float = hypothesis.ALPHA,
        max_extra: int = hypothesis.MAX_EXTRA,
        max_length: int | None = None,
        n_best: int | None = None,
        constraints: Constraints | None = None,
        record: bool = False,
    ) -> None:
        model.require_no_dropout()
        constraints = constraints or Constraints()
        self.K, self.device = beam_size, source.device
        bans = _bans(model, constraints, source)
        lengths = (source != config.PAD).sum(1) + max_extra  # or as given (§6.1)
        if max_length is not None:
            lengths = torch.full_like(lengths, max_length)
        limits: list[int] = lengths.clamp(max=model.config.max_length).tolist()
        _require_room(len(constraints.prefix), min(limits))
        self._decoder: fast_step.FastDecoder | PlainDecoder
        decoder = fast_step.FastDecoder if fast_step.FastDecoder.serves(model) else PlainDecoder
        self._decoder = decoder(model, source, beam_size)
        written = torch.tensor([[config.BOS, *constraints.prefix]], device=source.device)
        logits = self._decoder.start(written.expand(source.size(0), -1))
        pieces = list(constraints.prefix)
        exact = torch.promote_types(logits.dtype, torch.float32)
        log_p = logits[:, : len(pieces)].log_softmax(-1, dtype=exact)
        forced = log_p[:, range(len(pieces)), pieces].tolist()  # [sentence][piece]
        self.sentences = tuple(
            SentenceSearch(
                zip(constraints.prefix, log_probs, strict=True),
                K=beam_size,
                n_best=n_best or beam_size,
                limit=limit,
                alpha=alpha,
                bans=sentence_bans,
                record=record,
            )
            for log_probs, limit, sentence_bans in zip(forced, limits, bans, strict=True)
        )
        self._unfinished = list(self.sentences)
        self._places: dict[SentenceSearch, int] = {}  # place of each sentence in the last step
        self._logits: Tensor | None = logits[:, -1:]  # [sentence, row, vocab], at the first step

    @property
    def unfinished(self) -> int:
        """The number of sentences whose searches go on."""
        return len(self._unfinished)

    @torch.inference_mode()
    def step(self) -> None:
        """Extend each live prefix by one piece."""
        logits = self._decode() if self._logits is None else self._logits
        self._logits = None
        candidates = self._rank(logits)
        self._places = {sentence: place for place, sentence in enumerate(self._unfinished)}
        goes_on = [
            sentence.extend(best)
            for sentence, best in zip(self._unfinished, candidates, strict=True)
        ]
        # finished sentences are replaced by unfinished ones from the end
        count = sum(goes_on)
        last = list(compress(self._unfinished[count:], goes_on[count:]))
        self._unfinished = [
            sentence if goes else last.pop()
            for sentence, goes in zip(self._unfinished[:count], goes_on, strict=False)
        ]

    def stop(self, *sentences: SentenceSearch) -> None:
        """End these unfinished sentences, or all, with their live prefixes as hypotheses.

        After a step. A sentence goes on if all its prefixes would end with a forbidden word or
        before the end of the text prefix.
        """
        self._unfinished = [
            sentence
            for sentence in self._unfinished
            if (sentences and sentence not in sentences) or sentence.stop()
        ]

    def _decode(self) -> Tensor:
        """Compute the logits of the next piece of each live prefix, `[sentence, row, vocab]`."""
        rows, pieces = [], []
        for sentence in self._unfinished:
            first = self._places[sentence] * self.K
            # a row without a prefix is computed with the others, and its log P set to -∞ later
            beams = [(first + row, config.EOS) for row in range(self.K)]
            for prefix in sentence.live:
                assert prefix.parent is not None
                beams[prefix.row] = (first + prefix.parent.row, prefix.piece)
            rows += [row for row, _ in beams]
            pieces += [piece for _, piece in beams]
        return self._decoder.step(rows, pieces).view(len(self._unfinished), self.K, -1)

    def _rank(self, logits: Tensor) -> list[list[hypothesis.Continuation]]:
        """Find the 2 K best continuations of each unfinished sentence that are not forbidden."""
        exact = torch.promote_types(logits.dtype, torch.float32)
        log_p = hypothesis.forbid(logits.log_softmax(-1, dtype=exact))
        by_row = [[-math.inf] * log_p.size(1) for _ in self._unfinished]  # where no prefix is
        for row_totals, sentence in zip(by_row, self._unfinished, strict=True):
            for prefix in sentence.live:
                row_totals[prefix.row] = prefix.total
        totals = torch.tensor(by_row, dtype=exact).to(self.device)
        while True:
            candidates = hypothesis.rank(log_p, totals, 2 * self.K)
            banned = [
                (index, row, pieces)
                for index, sentence in enumerate(self._unfinished)
                for row, pieces in sentence.ban(candidates[index]).items()
            ]
            if not banned:
                return candidates
            for index, row, pieces in banned:
                log_p[index, row, pieces] = -math.inf


def _bans(model: Transformer, constraints: Constraints, source: Tensor) -> list[Bans | None]:
    """Make the bans of each sentence; None where nothing is forbidden."""
    bans = constraints.bans()
    if bans is None or not constraints.looks_ahead:
        return [bans] * source.size(0)
    sources = [row[row != config.PAD].tolist() for row in source]
    return [bans.for_sentence(ForcedLookAhead(model, ids)) for ids in sources]


def _require_room(prefix: int, length: int) -> None:
    if prefix and prefix >= length:
        raise errors.InputError(
            f"The forced prefix and one piece after it are {prefix + 1:,} pieces, but the "
            f"translation may have at most {length:,}: shorten the prefix."
        )
    if length < 1:
        raise errors.InputError(
            f"The translation may have at most {length:,} pieces, so it has none: allow more."
        )
