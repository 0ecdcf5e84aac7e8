"""CTranslate2 as the engine of a Translator: its beam search on our weights, ranked as ours ranks.

It differs from ours in three ways, which are undone here. It divides by another length penalty: we
take all K hypotheses and rank them by ((5 + |Y|) / 6)^α. It has one length limit for a batch: what
wrote more than its own is searched once more. It can only take a piece out before the softmax,
where ours lets it keep its probability: so `<unk>` may be written, and a sentence in which it was
is searched once more, with the engine's logits and our own beam.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from transformer import checkpoint
from transformer.checkpoint import Checkpoint
from transformer.config import EOS
from transformer.decoding import (
    ALPHA,
    BEAM_SIZE,
    MAX_EXTRA,
    NEVER_WRITTEN,
    Hypothesis,
    length_penalty,
)
from transformer.errors import CheckpointError, InputError
from transformer.export import folder as exported_folder
from transformer.export.specification import engine, vocabulary
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translator import BUNDLED, Translator

Row = Sequence[int]
Log_P = Callable[[list[list[int]]], np.ndarray]
"""Prefixes of one length to log P of each next piece, `[prefix, vocab]`."""


class CTranslate2Translator(Translator):
    """A Translator whose search is CTranslate2's, on the CPU.

    Args:
        loaded: the checkpoint; of an exported folder, a model without weights.
        folder: the model that CTranslate2 reads; it may be gone afterwards.
        threads: searches that may run at once, each on one core.
    """

    def __init__(self, loaded: Checkpoint, folder: Path, threads: int = 1) -> None:
        super().__init__(loaded)
        module = engine()
        module.set_log_level(logging.ERROR)  # a type that this processor lacks is converted
        try:
            self._engine: Any = module.Translator(
                str(folder), device="cpu", inter_threads=threads, intra_threads=1
            )
        except (RuntimeError, ValueError) as error:
            raise CheckpointError(f"CTranslate2 cannot read {folder}: {error}.") from error
        self._pieces = vocabulary(self.tokenizer)
        self._ids = {piece: id_ for id_, piece in enumerate(self._pieces)}

    @classmethod
    def load_engine(cls, folder: Path | None = None, *, threads: int = 1) -> CTranslate2Translator:
        """Load what `python -m transformer.export` wrote, or a checkpoint, exported on the way.

        Raises:
            ConfigError: if CTranslate2 is not installed.
            CheckpointError: naming the file and what is wrong with it.
        """
        engine()  # before anything is read
        folder = BUNDLED if folder is None else folder
        if exported_folder.is_export(folder):
            exported = exported_folder.read(folder)
            with torch.device("meta"):  # its sizes alone: the weights are CTranslate2's
                model = Transformer(exported.config).eval()
            loaded = Checkpoint(model, exported.tokenizer, folder, exported.checksum)
            return cls(loaded, folder, threads)
        loaded = checkpoint.load(folder)
        with tempfile.TemporaryDirectory() as temporary:
            new = Path(temporary) / "model"
            exported_folder.write(loaded, new)
            return cls(loaded, new, threads)

    def _trace(self, *arguments: Any) -> AttentionTrace:
        if self.model.device.type == "meta":
            raise InputError(
                f"{self.folder} holds a model for CTranslate2, which shows no attention: take the "
                f"checkpoint that it was exported from."
            )
        return super()._trace(*arguments)

    def _search(
        self,
        rows: list[list[int]],
        beam_size: int = BEAM_SIZE,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        alpha: float = ALPHA,
    ) -> list[list[Hypothesis]]:
        """As the search of `decoding`; `should_stop` is not asked, for the engine cannot stop."""
        if beam_size < 1:
            raise InputError(f"A beam of {beam_size} finds nothing: it must be at least 1.")
        limits = [min(len(row) + MAX_EXTRA, self.model.config.max_length) for row in rows]
        found = self._batch(rows, max(limits), beam_size, alpha) if rows else []
        for index, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            if any(len(one.tokens) > limit for one in found[index]):
                found[index] = self._batch([row], limit, beam_size, alpha)[0]
            if any(set(NEVER_WRITTEN) & set(one.tokens) for one in found[index]):
                found[index] = search(self._log_p_after(row), limit, beam_size, alpha)
        for hypotheses in found:
            self._require_finite([one.score for one in hypotheses] or [math.nan])
        return found

    def _batch(
        self, rows: Sequence[Row], limit: int, K: int, alpha: float
    ) -> list[list[Hypothesis]]:
        # what it drops of more than K finished ones it drops by log P / |Y|^exponent: near our
        # order; at 0 it would also stop before K are finished
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
        """log P of each piece after a prefix, all pieces in the softmax."""
        source = [self._pieces[id_] for id_ in row]

        def log_p(prefixes: list[list[int]]) -> np.ndarray:
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
            return logits.log_softmax(-1).numpy()

        return log_p


def _ranked(found: Sequence[tuple[list[int], float]], alpha: float) -> list[Hypothesis]:
    """Tokens and log P of each to hypotheses, best first, and those that were cut last."""
    hypotheses = [
        Hypothesis(tuple(tokens), (log_prob,), log_prob / length_penalty(len(tokens), alpha))
        for tokens, log_prob in found
    ]
    return sorted(hypotheses, key=lambda one: (not one.complete, -one.score))


def search(log_p_after: Log_P, limit: int, K: int, alpha: float) -> list[Hypothesis]:
    """The beam search of `decoding` for one sentence, as plainly as it can be written.

    Args:
        log_p_after: gives log P of each next piece.
        limit: pieces of the longest hypothesis.
        K: beam size.
        alpha: α of the length penalty.
    """
    live: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[list[int], float]] = []
    for length in range(1, limit + 1):
        log_p = log_p_after([prefix for prefix, _ in live]).astype(np.float64)
        log_p[:, list(NEVER_WRITTEN)] = -math.inf
        total = (log_p + np.array([[log_prob] for _, log_prob in live])).ravel()
        best = np.argsort(-total, kind="stable")[: 2 * K]
        vocab = log_p.shape[1]
        grown = [([*live[i // vocab][0], int(i % vocab)], float(total[i])) for i in best]
        ended = [one for one in grown[:K] if one[0][-1] == EOS]
        finished += ended[: K - len(finished)]
        live = [one for one in grown if one[0][-1] != EOS and math.isfinite(one[1])][:K]
        if len(finished) >= K or not live:
            break
        if length == limit:
            finished += live[: K - len(finished)]
    return _ranked(finished, alpha)
