"""The engines that `python -m benchmarks inference` lets take turns, on sentences of one model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

from transformer import Translator
from transformer.checkpoints.export.ctranslate2 import vocabulary
from transformer.config import BOS, EOS, PAD, TransformerConfig
from transformer.decoding import ALPHA, MAX_EXTRA
from transformer.decoding.settings import SearchSettings
from transformer.engine import CTranslate2Translator
from transformer.masks import pad_sequences
from transformer.translation.batch import LineSearch, batches

Rows = Sequence[list[int]]


class Side(Protocol):
    """One engine with the weights of the checkpoint, or with random ones of the same sizes."""

    def sentence(self, row: list[int], K: int, steps: int) -> None:
        """Translate one sentence on one core; `steps` are those of our best translation."""

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> list[str]:
        """Translate all lines on all cores; nothing is returned where the weights are random."""


class Ours:
    """The search of this project."""

    def __init__(self, translator: Translator, cores: int) -> None:
        self.translator, self._cores = translator, cores

    def sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """Search alone: text in and text out take a tenth of a millisecond."""
        self.translator.search([row], SearchSettings(beam_size=K, n_best=1))

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> list[str]:  # noqa: ARG002
        """As `python -m transformer` does."""
        return _file(self.translator, lines, K, self._cores)


class OursTraced:
    """The same, and then the attention of every head."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator

    def sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """Search, and one forced pass with the hook points watched."""
        text = self._translator.target_tokenizer.decode(row)
        found = self._translator.translate(text, beam_size=K, n_best=1)
        self._translator.trace_of(found)


class CTranslate2:
    """CTranslate2 as its documentation calls it, on the weights that we export.

    Args:
        folder: what `transformer.export` wrote.
    """

    def __init__(self, translator: Translator, folder: Path, cores: int) -> None:
        import ctranslate2

        self._translator, self._cores = translator, cores
        self._pieces = vocabulary(translator.tokenizer)
        self._engine: Any = ctranslate2.Translator(
            str(folder), inter_threads=cores, intra_threads=1
        )

    def sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """One sentence in, its best translation out."""
        self._translate([row], K)

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> list[str]:  # noqa: ARG002
        """It sorts and batches by itself."""
        rows = [[one.id for one in self._translator.reader.text(line)] for line in lines]
        found = self._translate(rows, K, max_batch_size=1024, batch_type="tokens")
        ids = {piece: id_ for id_, piece in enumerate(self._pieces)}
        return [
            self._translator.target_tokenizer.decode([ids[piece] for piece in one.hypotheses[0]])
            for one in found
        ]

    def _translate(self, rows: Rows, K: int, **options: Any) -> Any:
        return self._engine.translate_batch(
            [[self._pieces[id_] for id_ in row] for row in rows],
            beam_size=K,
            length_penalty=ALPHA,
            max_decoding_length=max(map(len, rows)) + MAX_EXTRA,
            max_input_length=0,
            **options,
        )


class OurEngine:
    """`--engine ctranslate2`: the same text as ours, which takes all hypotheses of the engine."""

    def __init__(self, folder: Path, cores: int) -> None:
        self._translator = CTranslate2Translator.load(folder, threads=cores)
        self._cores = cores

    def sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """Search alone."""
        self._translator.search([row], SearchSettings(beam_size=K, n_best=1))

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> list[str]:  # noqa: ARG002
        """As `python -m transformer --engine ctranslate2` does."""
        return _file(self._translator, lines, K, self._cores)


class Marian:
    """MarianMT of `transformers` with random weights of our sizes.

    Such weights never end a sentence, so it is made to write as many pieces as our translation has.
    """

    def __init__(self, translator: Translator, cores: int) -> None:
        from transformers import MarianConfig, MarianMTModel

        self._translator, self._cores = translator, cores
        torch.manual_seed(0)
        self._model: Any = MarianMTModel(_marian(MarianConfig, translator.model.config)).eval()

    def sentence(self, row: list[int], K: int, steps: int) -> None:
        """Exactly `steps` pieces."""
        self._generate([row], K, steps)

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> list[str]:
        """Sorted by length and batched by tokens as ours are; each batch to its longest."""
        rows = [[one.id for one in self._translator.reader.text(line)] for line in lines]
        torch.set_num_threads(self._cores)
        try:
            for part in batches([len(row) for row in rows], 1024):
                longest = max(steps[index] for index in part)
                self._generate([rows[index] for index in part], K, longest)
        finally:
            torch.set_num_threads(1)
        return []

    @torch.inference_mode()
    def _generate(self, rows: Rows, K: int, steps: int) -> None:
        source = pad_sequences(rows)
        self._model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            num_beams=K,
            do_sample=False,
            min_new_tokens=steps,
            max_new_tokens=steps,
            **({"length_penalty": ALPHA} if K > 1 else {}),
        )


def _marian(kind: Any, config: TransformerConfig) -> Any:
    return kind(
        vocab_size=config.vocab_size,
        d_model=config.d_model,
        encoder_layers=config.N,
        decoder_layers=config.N,
        encoder_attention_heads=config.h,
        decoder_attention_heads=config.h,
        encoder_ffn_dim=config.d_ff,
        decoder_ffn_dim=config.d_ff,
        activation_function="relu",
        max_position_embeddings=config.max_length,
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        bos_token_id=BOS,
        decoder_start_token_id=BOS,
    )


def _file(translator: Translator, lines: Sequence[str], K: int, cores: int) -> list[str]:
    search = LineSearch(
        translator,
        SearchSettings(beam_size=K, n_best=1),
        lambda _line, found: translator.target_tokenizer.decode(found[0].tokens),
        cores,
    )
    return [str(text) for block in search.results(lines) for text in block]
