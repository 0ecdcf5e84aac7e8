"""The text and the vocabulary of a run, from prepared folders or from folders of text."""

from collections.abc import Sequence
from pathlib import Path

from torch import distributed

from training.config import RunConfig
from training.data.corpus import ParallelText
from training.data.encoded_text import Part, TrainingText, encode_chunks, joined, refuse_empty
from training.data.prepared import RunData, open_prepared, prepared_among
from training.data.text_folders import DataFolder, read_validation_text
from training.devices import ProcessInfo
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer


def read_run_data(
    folders: Sequence[DataFolder],
    config: RunConfig,
    vocabulary: tuple[Tokenizer, Path] | None,
    process: ProcessInfo,
) -> RunData:
    """Read the data of a run, all folders in the same languages; its vocabulary may be learnt."""
    codes = folders[0].codes
    if prepared := prepared_among(folders):
        data = open_prepared(prepared)
        data.require(prepared, config, codes, vocabulary)
        return data
    texts = [folder.read() for folder in folders]
    validation = read_validation_text(folders[0].path, codes)
    if vocabulary:
        tokenizer, _ = vocabulary
    else:
        tokenizer = _learn_vocabulary(texts, config.model.vocab_size, process)
    max_pieces = config.recipe.max_pieces
    text = encode_texts(folders, texts, tokenizer, max_pieces, progress=process.is_main_process)
    return RunData(tokenizer, text, validation, max_pieces, codes)


def _learn_vocabulary(
    texts: Sequence[ParallelText], vocab_size: int, process: ProcessInfo
) -> Tokenizer:
    """Learn it on the training text alone, in the main process, for all of them."""
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


def encode_texts(
    folders: Sequence[DataFolder],
    texts: Sequence[ParallelText],
    tokenizer: Tokenizer,
    max_pieces: int,
    progress: bool = False,
) -> TrainingText:
    """Encode the text of each folder, line numbers counted on from one to the next."""
    encoded, first_line = [], 0
    for text in texts:
        chunks = encode_chunks(
            text, (tokenizer, tokenizer), max_pieces, first_line=first_line, progress=progress
        )
        encoded.append(joined(chunks))
        first_line += len(text)
    parts = [Part(len(rows), folder.weight) for folder, rows in zip(folders, encoded, strict=True)]
    refuse_empty(sum(part.rows for part in parts), max_pieces)
    return TrainingText(joined(encoded), tuple(parts))
