"""CTranslate2 as the engine of a Translator: its beam search on our weights, ranked as ours ranks.

It differs from ours in three ways, which are undone here. It divides by another length penalty: we
take all K hypotheses and rank them by ((5 + |Y|) / 6)^α. It has one length limit for a batch: what
wrote more than its own is searched once more. It can only take a piece out before the softmax,
where ours lets it keep its probability: so `<unk>` may be written, and a sentence in which it was
is searched once more, with the engine's logits and our own beam.
"""

import dataclasses
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from transformer import config, errors, translator
from transformer.checkpoints import checkpoint
from transformer.checkpoints.export import ctranslate2 as exported_folder
from transformer.checkpoints.export.ctranslate2 import engine, vocabulary
from transformer.decoding import MAX_EXTRA, NEVER_WRITTEN, Hypothesis, length_penalty, sentence
from transformer.decoding.hypothesis import forbid, rank
from transformer.decoding.settings import SearchArguments, SearchSettings
from transformer.files import atomic, installed
from transformer.translation.result import Candidate, Partial, Translation

Row = Sequence[int]
Log_P = Callable[[list[list[int]]], Tensor]
"""Prefixes of one length to log P of each next piece, `[prefix, vocab]`, which may be changed."""


class CTranslate2Translator(translator.Translator):
    """A Translator whose search is CTranslate2's, on the CPU, with one core for each thread.

    The folder that CTranslate2 reads may be gone afterwards; of an exported folder, the checkpoint
    is a model without weights.
    """

    def __init__(self, loaded: checkpoint.Checkpoint, folder: Path, threads: int = 1) -> None:
        super().__init__(loaded)
        module = engine()
        module.set_log_level(logging.ERROR)  # a type that this processor lacks is converted
        try:
            self._engine: Any = module.Translator(
                str(folder), device="cpu", inter_threads=threads, intra_threads=1
            )
        except (RuntimeError, ValueError) as error:
            raise errors.CheckpointError(f"CTranslate2 cannot read {folder}: {error}.") from error
        self._pieces = vocabulary(self.tokenizer)
        self._ids = {piece: id_ for id_, piece in enumerate(self._pieces)}

    @classmethod
    def load(cls, folder: str | Path | None = None, *, threads: int = 1) -> "CTranslate2Translator":
        """Load what `python -m transformer.export` wrote, or a checkpoint, exported on the way."""
        engine()  # before anything is read
        folder = installed.checkpoint_folder(folder)
        if exported_folder.is_export(folder):
            return cls(exported_folder.read(folder), folder, threads)
        loaded = exported_folder.load_to_export(folder)
        with atomic.temporary_folder() as temporary:
            new = temporary / "model"
            exported_folder.write(loaded, new)
            return cls(loaded, new, threads)

    def translate(
        self,
        text: str,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **arguments: Unpack[SearchArguments],
    ) -> Translation:
        """Translate as `Translator.translate`, without what CTranslate2 has no search for."""
        started = time.perf_counter()
        settings = SearchSettings(**arguments)
        source = self.reader.text(text)
        row = [piece.id for piece in source]
        hypotheses = self.search([row], settings, should_stop)[0]
        hypotheses = [self._with_log_probs(row, hypothesis) for hypothesis in hypotheses]
        return Translation(
            source=text,
            source_pieces=tuple(source),
            candidates=tuple(
                Candidate.from_hypothesis(hypothesis, self.tokenizer) for hypothesis in hypotheses
            ),
            notices=self.warnings(text, source, hypotheses[0], settings),
            seconds=time.perf_counter() - started,
            settings=settings,
        )

    def stream(
        self,
        text: str,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        **arguments: Unpack[SearchArguments],
    ) -> Iterator[Partial]:
        """Yield the translation as one part: CTranslate2 says nothing before its end."""
        translation = self.translate(text, should_stop=should_stop, **arguments)
        yield Partial(translation.text, translation.best.pieces, translation.text, translation)

    def require_weights(self) -> None:
        """Require weights as `Translator.require_weights`; an exported folder holds none."""
        if self.model.device.type == "meta":
            raise errors.InputError(
                f"{self.folder} holds a model for CTranslate2, which shows neither attention nor "
                f"alternatives: take the checkpoint that it was exported from."
            )

    def search(
        self,
        rows: Sequence[Sequence[int]],
        settings: SearchSettings,
        should_stop: Callable[[], bool] = lambda: False,  # noqa: ARG002
    ) -> list[list[Hypothesis]]:
        """Search as `Translator.search`, without a stop; a hypothesis may have log P alone."""
        if settings.prefix or settings.forbidden or settings.tree:
            raise errors.InputError(
                "CTranslate2 has no search with a forced prefix, forbidden words or a tree: "
                "leave --engine ctranslate2 out."
            )
        if not rows:
            return []
        settings.constraints(self.reader)  # refuses a maximum length that the model has not
        most = self.model.config.max_length
        limits = [min(settings.max_length or len(row) + MAX_EXTRA, most) for row in rows]
        K, alpha = settings.beam_size, settings.alpha
        results = self._batch(rows, max(limits), K, alpha)
        for index, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            if any(len(hypothesis.tokens) > limit for hypothesis in results[index]):
                results[index] = self._batch([row], limit, K, alpha)[0]
            if any(set(NEVER_WRITTEN) & set(hypothesis.tokens) for hypothesis in results[index]):
                try:
                    results[index] = plain_search(self._log_p_after(row), limit, K, alpha)
                except errors.NotFiniteError as error:
                    raise self.not_finite() from error
        for hypotheses in results:
            self.require_finite([hypothesis.score for hypothesis in hypotheses] or [math.nan])
        return [hypotheses[: settings.n_best] for hypotheses in results]

    def _with_log_probs(self, row: Row, hypothesis: Hypothesis) -> Hypothesis:
        """Add log P of each token, by one forced pass."""
        result = self._engine.score_batch(
            [[self._pieces[id_] for id_ in row]],
            [[self._pieces[id_] for id_ in hypothesis.tokens if id_ != config.EOS]],
            max_input_length=0,
        )[0]
        log_probs = tuple(result.log_probs[: len(hypothesis.tokens)])
        return dataclasses.replace(hypothesis, log_probs=log_probs)

    def _batch(
        self, rows: Sequence[Row], limit: int, K: int, alpha: float
    ) -> list[list[Hypothesis]]:
        # of more than K finished hypotheses it drops some by log P / |Y|^exponent, near our order;
        # at 0 it would also stop before K are finished
        exponent = max(0.75 * alpha, 1e-6)
        results = self._engine.translate_batch(
            [[self._pieces[id_] for id_ in row] for row in rows],
            beam_size=K,
            num_hypotheses=K,
            length_penalty=exponent,
            max_decoding_length=limit,
            min_decoding_length=0,
            max_input_length=0,
            return_scores=True,
            return_end_token=True,
        )
        return [
            _ranked(
                [
                    ([self._ids[piece] for piece in pieces], score * len(pieces) ** exponent)
                    for pieces, score in zip(result.hypotheses, result.scores, strict=True)
                ],
                alpha,
            )
            for result in results
        ]

    def _log_p_after(self, row: Row) -> Log_P:
        """Return the function that computes log P of each next piece, all pieces in the softmax."""
        source = [self._pieces[id_] for id_ in row]

        def log_p(prefixes: list[list[int]]) -> Tensor:
            results = self._engine.translate_batch(
                [source] * len(prefixes),
                target_prefix=[[self._pieces[id_] for id_ in prefix] for prefix in prefixes],
                beam_size=1,
                max_decoding_length=len(prefixes[0]) + 1,
                min_decoding_length=0,
                max_input_length=0,
                return_logits_vocab=True,
                return_end_token=True,
            )
            logits = torch.stack(
                [torch.from_numpy(np.array(result.logits[0][-1])) for result in results]
            )
            return logits.log_softmax(-1)

        return log_p


def _ranked(results: Sequence[tuple[list[int], float]], alpha: float) -> list[Hypothesis]:
    """Rank tokens with log P as hypotheses, best first, and those that were cut last."""
    hypotheses = [
        Hypothesis(tuple(tokens), (log_prob,), log_prob / length_penalty(len(tokens), alpha))
        for tokens, log_prob in results
    ]
    return sorted(hypotheses, key=lambda hypothesis: (not hypothesis.complete, -hypothesis.score))


@torch.inference_mode()
def plain_search(log_p_after: Log_P, limit: int, K: int, alpha: float) -> list[Hypothesis]:
    """Search with the beam of `decoding` for one sentence, each prefix read anew at each step."""
    search = sentence.SentenceSearch((), K=K, n_best=K, limit=limit, alpha=alpha)
    while search.live:
        for row, prefix in enumerate(search.live):
            prefix.row = row  # its row in log_p
        log_p = forbid(log_p_after([list(prefix.tokens()) for prefix in search.live]))
        totals = torch.tensor([[prefix.total for prefix in search.live]])
        search.extend(rank(log_p[None], totals, 2 * K)[0])
    return search.hypotheses()
