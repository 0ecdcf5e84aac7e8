"""The text and the vocabulary of a run, from prepared folders or from folders of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import distributed

from training.config import RunConfig
from training.corpus import ParallelText, read_validation_text
from training.data_folders import DataFolder, read_training_texts
from training.devices import ProcessInfo
from training.prepared import is_prepared, open_prepared
from training.training_text import TrainingText, encode_texts
from transformer.errors import ConfigError
from transformer.tokenizer import Tokenizer


@dataclass(frozen=True)
class RunData:
    """What a run reads: its vocabulary, the training text in it, and the validation text."""

    tokenizer: Tokenizer
    text: TrainingText
    validation: ParallelText


def read_run_data(
    folders: Sequence[DataFolder],
    config: RunConfig,
    tokenizer: Tokenizer | None,
    process: ProcessInfo,
) -> RunData:
    """Read the data of a run.

    Args:
        folders: of text, or one that `training.prepare` wrote.
        config: the run.
        tokenizer: the vocabulary it has to have, if there is one already.
        process: this process among those of the run.

    Raises:
        CorpusError: if text is missing or damaged.
        ConfigError: if the folders do not go together or with the vocabulary.
    """
    if any(is_prepared(folder.path) for folder in folders):
        return _of_prepared(folders, config, tokenizer)
    texts = read_training_texts(folders)
    validation = read_validation_text(folders[0].path)
    if tokenizer is None:
        tokenizer = _learn_vocabulary(texts, config.model.vocab_size, process)
    text = encode_texts(
        folders, texts, tokenizer, config.recipe.max_pieces, progress=process.is_main_process
    )
    return RunData(tokenizer, text, validation)


def _of_prepared(
    folders: Sequence[DataFolder], config: RunConfig, tokenizer: Tokenizer | None
) -> RunData:
    first = folders[0]
    if len(folders) > 1 or first.weight != 1:
        raise ConfigError(
            f"--data {first.path} holds prepared text, which stands alone and has its weights in "
            f"it: name it alone, or give all folders and weights to training.prepare."
        )
    prepared = open_prepared(first.path)
    size, wanted = prepared.tokenizer.vocab_size, config.model.vocab_size
    if size != wanted:
        raise ConfigError(
            f"{first.path} was prepared with {size:,} pieces, but the configuration says "
            f"vocab_size = {wanted:,}: prepare the text with this configuration."
        )
    if tokenizer is not None and tokenizer.model != prepared.tokenizer.model:
        raise ConfigError(
            f"{first.path} was prepared with another vocabulary than that of the weights: prepare "
            f"the text with --tokenizer."
        )
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
