"""The text and the vocabulary of a run, from prepared folders or from folders of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import distributed

from training.config import RunConfig
from training.data.corpus import ParallelText, read_validation_text
from training.data.folders import DataFolder, read_training_texts
from training.data.prepared import open_prepared, prepared_among
from training.data.training_text import TrainingText, encode_texts
from training.devices import ProcessInfo
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary that a run has already, and the folder it is in."""

    tokenizer: Tokenizer
    folder: Path


@dataclass(frozen=True)
class RunData:
    """Data of a run: vocabulary, training text and validation text."""

    tokenizer: Tokenizer
    text: TrainingText
    validation: ParallelText


def read_run_data(
    folders: Sequence[DataFolder],
    config: RunConfig,
    vocabulary: Vocabulary | None,
    process: ProcessInfo,
) -> RunData:
    """Read the data of a run.

    Args:
        folders: of text, or one that `training.prepare` wrote.
        config: the run.
        vocabulary: that of the run, if there is one already.
        process: this process among those of the run.

    Raises:
        CorpusError: if text is missing or damaged, or was prepared for another run.
        ConfigError: if no such vocabulary can be learnt from the text.
    """
    if prepared := prepared_among(folders):
        return _read_prepared(prepared, config, vocabulary)
    texts = read_training_texts(folders)
    validation = read_validation_text(folders[0].path)
    if vocabulary:
        tokenizer = vocabulary.tokenizer
    else:
        tokenizer = _learn_vocabulary(texts, config.model.vocab_size, process)
    text = encode_texts(
        folders, texts, tokenizer, config.recipe.max_pieces, progress=process.is_main_process
    )
    return RunData(tokenizer, text, validation)


def _read_prepared(folder: Path, config: RunConfig, vocabulary: Vocabulary | None) -> RunData:
    prepared = open_prepared(folder)
    prepared.require(config)
    if vocabulary:
        prepared.require_vocabulary(vocabulary.tokenizer, vocabulary.folder)
    return RunData(prepared.tokenizer, prepared.text, prepared.validation)


def _learn_vocabulary(
    texts: Sequence[ParallelText], vocab_size: int, process: ProcessInfo
) -> Tokenizer:
    """Learn it on the training text alone, in the main process, for all of them.

    Raises:
        ConfigError: in all of them, if the text is too small.
    """
    learnt: list[bytes | ConfigError] = [b""]
    if process.is_main_process:
        lines = [line for text in texts for line in text.source]
        lines += [line for text in texts for line in text.target]
        # said, since on millions of lines it takes a while
        print(f"Learning a vocabulary of {vocab_size:,} pieces from {len(lines):,} lines.")
        try:
            learnt = [Tokenizer.train(lines, vocab_size).model]
        except ConfigError as error:
            learnt = [error]
    if process.world_size > 1:
        distributed.broadcast_object_list(learnt)
    (result,) = learnt
    if isinstance(result, ConfigError):
        raise result
    return Tokenizer(result)
