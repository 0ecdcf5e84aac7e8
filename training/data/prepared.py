"""Prepared text: one folder with the pieces of all pairs, which every process maps."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from training.config import RunConfig
from training.data.corpus import (
    MOST_BYTES_OF_STREAM,
    CorpusError,
    ParallelText,
)
from training.data.encoded_text import NAMES, Part, TrainingText, mapped_text
from training.data.manifest import read_manifest, verify_files
from training.data.text_folders import DataFolder, Endings, read_parallel
from transformer.errors import unreadable
from transformer.files.reading import opened, read_bytes
from transformer.text import tokenizer as tokenizers
from transformer.text.tokenizer import Tokenizer

# the manifest has a version, the parts with their weights, and size and SHA-256 of all other files
MANIFEST, TOKENIZER, VALIDATION = "PREPARED.json", "tokenizer.model", "valid"


def prepared_files(endings: Endings) -> tuple[str, ...]:
    """Return the names of the files of a prepared text in two languages."""
    return (*NAMES, TOKENIZER, *(f"{VALIDATION}.{code}" for code in endings))


@dataclass(frozen=True, eq=False)
class Prepared:
    """Contents of a prepared folder; each side of a pair has fewer pieces than `max_pieces`."""

    folder: Path
    tokenizer: Tokenizer
    text: TrainingText
    validation: ParallelText
    max_pieces: int
    endings: Endings

    def require(self, config: RunConfig, endings: Endings) -> None:
        """Raise CorpusError unless the folder was prepared for these languages and this recipe."""
        if endings != self.endings:
            raise CorpusError(
                f"{self.folder} was prepared from {self.endings}, and not from {endings}: leave "
                f"--source and --target out, or prepare the text with them."
            )
        for name, ours, theirs in (
            ("vocab_size", config.model.vocab_size, self.tokenizer.vocab_size),
            ("max_pieces", config.recipe.max_pieces, self.max_pieces),
        ):
            if ours != theirs:
                raise CorpusError(
                    f"{self.folder} was prepared with {name} = {theirs}, but the configuration "
                    f"says {ours}: prepare the text with this configuration."
                )

    def require_vocabulary(self, tokenizer: Tokenizer, path: Path) -> None:
        """Raise CorpusError unless the vocabulary is that of the tokenizer at a path."""
        if self.tokenizer.model != tokenizer.model:
            raise CorpusError(
                f"{self.folder} was prepared with another vocabulary than that of {path}: prepare "
                f"the text with --tokenizer {path}."
            )


def is_prepared(folder: Path) -> bool:
    """Return whether a folder was prepared, even if it is damaged."""
    return (folder / MANIFEST).exists()


def prepared_among(folders: Sequence[DataFolder]) -> Path | None:
    """Find the prepared folder among folders; None if all hold text."""
    prepared = next((folder for folder in folders if is_prepared(folder.path)), None)
    if prepared is None:
        return None
    if len(folders) > 1 or prepared.weight != 1:
        raise CorpusError(
            f"{prepared.path} is prepared and stands alone, with the weights it was prepared with: "
            f"give no other folder and no weight, or prepare all of them together."
        )
    return prepared.path


def open_prepared(folder: Path) -> Prepared:
    """Map a prepared folder; its checksums are verified, and nothing is held in memory."""
    manifest = read_manifest(folder / MANIFEST)
    verify_files(folder, manifest["files"])
    checksums = {name: manifest["files"][name]["sha256"] for name in NAMES}
    parts = tuple(Part(**part) for part in manifest["parts"])
    try:
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(opened(folder / name, MOST_BYTES_OF_STREAM))[0]
                for name in NAMES
            }
            encoded = mapped_text(files, manifest["pieces"], manifest["left_out"])
        tokenizer = Tokenizer(read_bytes(folder / TOKENIZER, tokenizers.MOST_BYTES))
    except OSError as error:
        raise CorpusError(unreadable(error, folder)) from error
    endings = prepared_endings(folder)
    validation = read_parallel(folder / VALIDATION, endings)
    text = TrainingText(encoded, parts, checksums)
    return Prepared(folder, tokenizer, text, validation, manifest["max_pieces"], endings)


def prepared_endings(folder: Path) -> Endings:
    """Return the languages of a prepared folder; CorpusError if its manifest is damaged."""
    return Endings.from_record(read_manifest(folder / MANIFEST)["asked"]["options"])
