"""The text and the vocabulary of a run, from a prepared folder or from folders of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import distributed

from training import devices
from training.config import RunConfig
from training.data import corpus, encoded_text, text_folders
from training.data.prepared import TOKENIZER, VALIDATION, Prepared, verify_files
from transformer.errors import ConfigError, reading
from transformer.files.reading import read_bytes
from transformer.text import tokenizer as tokenizers
from transformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class RunData:
    """Data of a run; each side of a pair has fewer pieces than the recipe's `max_pieces`."""

    tokenizer: Tokenizer
    text: encoded_text.TrainingText
    validation: corpus.ParallelText
    codes: text_folders.LanguageCodes


def read_run_data(
    folders: Prepared | Sequence[text_folders.DataFolder],
    config: RunConfig,
    codes: text_folders.LanguageCodes,
    vocabulary: tuple[Tokenizer, Path] | None,
    process: devices.ProcessInfo,
) -> RunData:
    """Read the data of a run in two languages; unless a vocabulary is given, it is learnt."""
    if isinstance(folders, Prepared):
        data = open_prepared(folders)
        require_prepared_for(data, folders, config, codes, vocabulary)
        return data
    texts = [folder.read() for folder in folders]
    validation = text_folders.read_validation_text(folders[0].path, codes)
    if vocabulary:
        tokenizer, _ = vocabulary
    else:
        learnt: list[bytes | ConfigError] = [b""]
        if process.is_main_process:
            lines = [line for text in texts for line in text.source]
            lines += [line for text in texts for line in text.target]
            # said, since on millions of lines it takes a while
            size = config.model.vocab_size
            print(f"Learning a vocabulary of {size:,} pieces from {len(lines):,} lines.")
            try:
                learnt = [Tokenizer.train(lines, size).model]
            except ConfigError as error:
                learnt = [error]
        if process.world_size > 1:
            distributed.broadcast_object_list(learnt)
        (result,) = learnt
        if isinstance(result, ConfigError):
            raise result
        tokenizer = Tokenizer(result)
    max_pieces, progress = config.recipe.max_pieces, process.is_main_process
    text = encode_texts(folders, texts, tokenizer, max_pieces, progress=progress)
    return RunData(tokenizer, text, validation, codes)


def open_prepared(prepared: Prepared) -> RunData:
    """Map a prepared folder; its checksums are verified, and nothing is held in memory."""
    folder, manifest = prepared.folder, prepared.manifest
    verify_files(folder, manifest["files"])
    with reading(folder, corpus.CorpusError):
        encoded = encoded_text.mapped_text(folder, manifest["pieces"], manifest["left_out"])
        tokenizer = Tokenizer(read_bytes(folder / TOKENIZER, tokenizers.MAX_BYTES))
    parts = tuple(encoded_text.Part(**part) for part in manifest["parts"])
    checksums = {name: manifest["files"][name]["sha256"] for name in encoded_text.NAMES}
    validation = text_folders.read_parallel(folder / VALIDATION, prepared.codes)
    return RunData(
        tokenizer, encoded_text.TrainingText(encoded, parts, checksums), validation, prepared.codes
    )


def require_prepared_for(
    data: RunData,
    prepared: Prepared,
    config: RunConfig,
    codes: text_folders.LanguageCodes,
    vocabulary: tuple[Tokenizer, Path] | None = None,
) -> None:
    """Raise CorpusError unless a text was prepared for these languages and this recipe."""
    folder = prepared.folder
    if codes != data.codes:
        raise corpus.CorpusError(
            f"{folder} was prepared from {data.codes}, and not from {codes}: leave --source and "
            f"--target out, or prepare the text with them."
        )
    for name, ours, theirs in (
        ("vocab_size", config.model.vocab_size, data.tokenizer.vocab_size),
        ("max_pieces", config.recipe.max_pieces, prepared.manifest["max_pieces"]),
    ):
        if ours != theirs:
            raise corpus.CorpusError(
                f"{folder} was prepared with {name} = {theirs}, but the configuration says {ours}: "
                f"prepare the text with this configuration."
            )
    if vocabulary and vocabulary[0].model != data.tokenizer.model:
        raise corpus.CorpusError(
            f"{folder} was prepared with another vocabulary than that of {vocabulary[1]}: prepare "
            f"the text with --tokenizer {vocabulary[1]}."
        )


def encode_texts(
    folders: Sequence[text_folders.DataFolder],
    texts: Sequence[corpus.ParallelText],
    tokenizer: Tokenizer,
    max_pieces: int,
    progress: bool = False,
) -> encoded_text.TrainingText:
    """Encode the text of each folder, line numbers counted on from one to the next."""
    encoded, first_line = [], 0
    for text in texts:
        chunks = encoded_text.encode_chunks(
            text, (tokenizer, tokenizer), max_pieces, first_line=first_line, progress=progress
        )
        encoded.append(encoded_text.join_chunks(chunks))
        first_line += len(text)
    parts = [
        encoded_text.Part(len(rows), folder.weight)
        for folder, rows in zip(folders, encoded, strict=True)
    ]
    encoded_text.refuse_empty(sum(part.rows for part in parts), max_pieces)
    return encoded_text.TrainingText(encoded_text.join_chunks(encoded), tuple(parts))
