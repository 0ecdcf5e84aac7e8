"""headlight prepare: a text becomes pieces once, which every process then maps."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training.config import RunConfig
from training.data import encoded_text, prepared, text_folders
from training.data.corpus import CorpusError
from transformer.arrays import Bools
from transformer.checkpoints.other_files import advice
from transformer.cli import arguments, command
from transformer.errors import ConfigError, writing
from transformer.files import atomic, installed
from transformer.text import languages
from transformer.text.tokenizer import Tokenizer

SAMPLE_LINES = 1_000_000  # from which a vocabulary is learnt, at most


def _prepare(options: argparse.Namespace) -> None:
    config = RunConfig.load(options.config)
    tokenizer = None
    if options.tokenizer is not None:
        path = installed.checkpoint_folder(options.tokenizer)
        path = path / prepared.TOKENIZER if path.is_dir() else path
        if not path.exists():
            none = f"There is no {path}: give a checkpoint, or a .model file of SentencePiece."
            raise ConfigError(advice(options.tokenizer, none))
        tokenizer = Tokenizer.load(path)
        if tokenizer.vocab_size != config.model.vocab_size:
            raise ConfigError(
                f"{options.tokenizer} has {tokenizer.vocab_size:,} pieces, but {options.config} "
                f"says vocab_size = {config.model.vocab_size}: write there what it has."
            )
    codes = text_folders.chosen_codes(options)
    folders = [replace(folder, codes=codes) for folder in options.data]
    with writing(options.out, ConfigError, "Make room, and give the same command again."):
        prepare(folders, config, options, tokenizer)  # what cannot be read raises a HeadlightError


def _parser() -> arguments.Parser:
    parser = arguments.Parser(prog="headlight prepare", description=__doc__)
    text_folders.add_text_options(
        parser,
        config="TOML file, or the name of a file in training/configs; sets vocab_size and "
        "max_pieces",
        data="folders with train.en and train.de, or train.tsv; WEIGHT is how often "
        "an epoch reads the folder; the first folder also has valid.* or val.*; instead of a "
        "folder, you can give such a file, or the common part of two OPUS file names; .gz is "
        "decompressed",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder to write, for headlight train --data")
    known = "take the vocabulary of a checkpoint, or a .model file of SentencePiece, and learn none"
    add("--tokenizer", type=Path, metavar="CHECKPOINT", help=known)
    return parser


SEED = 0  # of what is drawn


def count_pairs(folders: Sequence[text_folders.DataFolder]) -> int:
    """Read all text once, some pairs at a time, and count the pairs."""
    total = 0
    with tqdm(desc="reading", unit=" pairs", unit_scale=True, disable=None) as bar:
        for folder in folders:
            for pairs in folder.files().chunks():
                bar.update(len(pairs))
                total += len(pairs)
    return total


def drawn_pairs(pairs: int, lines: int) -> Bools:
    """Mark the pairs that the vocabulary is learnt on: all, or a sample of `lines` lines."""
    drawn = np.full(pairs, 2 * pairs <= lines)
    if 2 * pairs > lines:
        random = np.random.default_rng(SEED)
        drawn[random.choice(pairs, lines // 2, replace=False, shuffle=False)] = True
    return drawn


def drawn_lines(folders: Sequence[text_folders.DataFolder], drawn: Bools) -> Iterator[str]:
    """Yield the lines of drawn pairs: first all sources, then all targets."""
    for side in range(2):
        first = 0
        for folder in folders:
            for pairs in folder.files().chunks():
                lines = (pairs.source, pairs.target)[side]
                yield from compress(lines, drawn[first : first + len(lines)].tolist())
                first += len(lines)


def prepare(
    folders: Sequence[text_folders.DataFolder],
    config: RunConfig,
    options: argparse.Namespace,
    tokenizer: Tokenizer | None,
) -> None:
    """Prepare a text; a refusal leaves nothing behind."""
    out, codes, max_pieces = options.out, folders[0].codes, config.recipe.max_pieces
    if not out.name:
        raise CorpusError(f"{out} cannot be what is written: give the new folder a name.")
    if any(out.iterdir()) if out.is_dir() else os.path.lexists(out):
        holds = "a prepared text already" if prepared.is_prepared(out) else "no prepared text"
        raise CorpusError(f"{out} is there and holds {holds}: choose another --out.")
    for folder in folders:
        if prepared.is_prepared(folder.path):
            raise CorpusError(f"{folder.path} is prepared already: give folders of text.")
    validation = text_folders.read_validation_text(folders[0].path, codes)
    with atomic.replace_folder(out) as new:
        texts = [f"{prepared.VALIDATION}.{code}" for code in codes]
        for name, side in zip(texts, (validation.source, validation.target), strict=True):
            (new / name).write_bytes("".join(f"{line}\n" for line in side).encode())
        total = count_pairs(folders)
        print(f"{total:,} pairs in {len(folders)} folder(s).")
        tokenizer = tokenizer or _learn(folders, total, config)
        (new / prepared.TOKENIZER).write_bytes(tokenizer.model)
        rows, left_out = encode_into(new, folders, total, tokenizer, max_pieces)
        encoded_text.refuse_empty(sum(rows), max_pieces)
        parts = zip(rows, folders, strict=True)
        names = [*encoded_text.NAMES, prepared.TOKENIZER, *texts]
        content = {
            "pieces": encoded_text.stored_type(tokenizer.vocab_size).name,
            "max_pieces": max_pieces,
            "left_out": left_out,
            "parts": [{"rows": count, "weight": folder.weight} for count, folder in parts],
            "files": prepared.record_files(new, names),
            "asked": {"options": {languages.LANGUAGES: [*codes]}},
        }
        prepared.write_manifest(new / prepared.MANIFEST, content)
    print(
        f"{out} holds {sum(rows):,} pairs; {left_out:,} were left out as empty, "
        f"or with {max_pieces:,} pieces and more."
    )


def _learn(folders: Sequence[text_folders.DataFolder], pairs: int, config: RunConfig) -> Tokenizer:
    drawn, vocab_size = drawn_pairs(pairs, SAMPLE_LINES), config.model.vocab_size
    print(
        f"Learning a vocabulary of {vocab_size:,} pieces from {2 * int(drawn.sum()):,} of "
        f"{2 * pairs:,} lines."
    )
    return Tokenizer.train(drawn_lines(folders, drawn), vocab_size)


def encode_into(
    out: Path,
    folders: Sequence[text_folders.DataFolder],
    total: int,
    tokenizer: Tokenizer,
    max_pieces: int,
) -> tuple[list[int], int]:
    """Write the files of `encoded_text`; return each folder's rows, and the pairs left out."""
    print(f"Cutting {total:,} pairs into pieces.")
    rows, left_out, first = [0] * len(folders), 0, 0
    with ExitStack() as stack:
        files = {name: stack.enter_context((out / name).open("xb")) for name in encoded_text.NAMES}
        written = encoded_text.EncodedFiles(files, encoded_text.stored_type(tokenizer.vocab_size))
        bar = stack.enter_context(
            tqdm(total=total, desc="pieces", unit=" pairs", unit_scale=True, disable=None)
        )
        for number, folder in enumerate(folders):
            for pairs in folder.files().chunks():
                lines = np.arange(first, first + len(pairs))
                chunk = encoded_text.encode_chunk(pairs, (tokenizer, tokenizer), max_pieces, lines)
                written.append(chunk)
                first += len(pairs)
                rows[number] += len(chunk)
                left_out += chunk.left_out
                bar.update(len(pairs))
    return rows, left_out


main = command.main(_parser, _prepare)
