"""headlight prepare: a text becomes pieces once, which every process then maps."""

import argparse
import hashlib
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from training.config import RunConfig
from training.data import encoded_text, prepared, text_folders
from training.data.corpus import CorpusError, ParallelText
from transformer.arrays import Bools, Ints
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
    longest = "drop pairs with more words on a side; default: drop none"
    add("--longest-words", type=arguments.whole_number(1), help=longest)
    ratio = "drop pairs in which one side has more than this many times the words of the other; "
    add("--ratio", type=arguments.number(1, 1_000), help=f"{ratio}default: drop none")
    add("--drop-duplicates", action="store_true", help="drop repeated pairs")
    return parser


SEED = 0  # of what is drawn

Reasons = NDArray[np.uint8]
KEPT, TOO_LONG, UNLIKE, REPEATED = range(4)
"""Results for a pair: kept, or the first reason to drop it."""


@dataclass(frozen=True)
class Cleaning:
    """Limits that a pair must keep; None sets no limit."""

    # pairs with more words on a side, as spaces part them; None drops none
    longest_words: int | None = None
    # pairs of which one side has more than so many times the words of the other; None drops none.
    # Where a side is empty there is no ratio.
    ratio: float | None = None
    drop_duplicates: bool = False  # pairs that came before, both sides alike

    def names(self) -> dict[int, str]:
        """Name each reason that is checked."""
        names = {}
        if self.longest_words is not None:
            names[TOO_LONG] = f"with more than {self.longest_words:,} words"
        if self.ratio is not None:
            names[UNLIKE] = f"with more than {self.ratio:g} times the words on one side"
        if self.drop_duplicates:
            names[REPEATED] = "that came before"
        return names

    def count_dropped(self, reasons: Reasons) -> dict[str, int]:
        """Count the dropped pairs by the name of each reason that is checked."""
        totals = np.bincount(reasons, minlength=REPEATED + 1)
        return {name: int(totals[reason]) for reason, name in self.names().items()}


def _words(lines: list[str]) -> Ints:
    return np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))


def scan(pairs: Iterable[ParallelText], cleaning: Cleaning) -> Reasons:
    """Read all text once, some pairs at a time; return what becomes of each pair, `[pair]`.

    Two pairs are taken for the same when their 64-bit hashes are: of 4.5 million different pairs
    some two are so with a probability of 10^-6. A pair takes 9 bytes of memory.
    """
    parts, hashes = [np.zeros(0, np.uint8)], array("Q")
    longest, ratio = cleaning.longest_words, cleaning.ratio
    with tqdm(desc="reading", unit=" pairs", unit_scale=True, disable=None) as bar:
        for some in pairs:
            part = np.full(len(some), KEPT, np.uint8)
            if longest is not None or ratio is not None:
                words = np.array([_words(some.source), _words(some.target)])
                more, fewer = words.max(0), words.min(0)
                if ratio is not None:
                    part[(fewer > 0) & (more > ratio * fewer)] = UNLIKE
                if longest is not None:
                    part[more > longest] = TOO_LONG
            parts.append(part)
            if cleaning.drop_duplicates:
                for pair in zip(some.source, some.target, strict=True):
                    digest = hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()
                    hashes.append(int.from_bytes(digest, "little"))
            bar.update(len(some))
    reasons = np.concatenate(parts)
    if cleaning.drop_duplicates:
        retained = np.flatnonzero(reasons == KEPT)
        _, firsts = np.unique(np.frombuffer(hashes, np.uint64)[retained], return_index=True)
        reasons[np.delete(retained, firsts)] = REPEATED
    return reasons


def drawn_pairs(reasons: Reasons, lines: int) -> Bools:
    """Mark the pairs that the vocabulary is learnt on: those kept, or a sample of `lines` lines."""
    retained = np.flatnonzero(reasons == KEPT)
    if 2 * len(retained) > lines:
        retained = np.random.default_rng(SEED).choice(
            retained, lines // 2, replace=False, shuffle=False
        )
    drawn = np.zeros(len(reasons), dtype=bool)
    drawn[retained] = True
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
    cleaning = Cleaning(options.longest_words, options.ratio, options.drop_duplicates)
    validation = text_folders.read_validation_text(folders[0].path, codes)
    with atomic.replace_folder(out) as new:
        texts = [f"{prepared.VALIDATION}.{code}" for code in codes]
        for name, side in zip(texts, (validation.source, validation.target), strict=True):
            (new / name).write_bytes("".join(f"{line}\n" for line in side).encode())
        chunks = chain.from_iterable(folder.files().chunks() for folder in folders)
        reasons = scan(chunks, cleaning)
        dropped = cleaning.count_dropped(reasons)
        total = f"{len(reasons):,} pairs in {len(folders)} folder(s)"
        counts = [f"{count:,} {name}" for name, count in dropped.items()]
        print(f"{total}; dropped: {', '.join(counts)}." if counts else f"{total}.")
        tokenizer = tokenizer or _learn(folders, reasons, config)
        (new / prepared.TOKENIZER).write_bytes(tokenizer.model)
        rows, left_out = encode_into(new, folders, reasons, tokenizer, max_pieces)
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
            "dropped": dropped,
        }
        prepared.write_manifest(new / prepared.MANIFEST, content)
    print(
        f"{out} holds {sum(rows):,} pairs; {left_out:,} were left out as empty, "
        f"or with {max_pieces:,} pieces and more."
    )


def _learn(
    folders: Sequence[text_folders.DataFolder], reasons: Reasons, config: RunConfig
) -> Tokenizer:
    drawn, vocab_size = drawn_pairs(reasons, SAMPLE_LINES), config.model.vocab_size
    if not drawn.any():
        raise CorpusError(
            f"All {len(drawn):,} pairs are dropped: allow more words or a higher ratio."
        )
    print(
        f"Learning a vocabulary of {vocab_size:,} pieces from {2 * int(drawn.sum()):,} of "
        f"{2 * len(drawn):,} lines."
    )
    return Tokenizer.train(drawn_lines(folders, drawn), vocab_size)


def encode_into(
    out: Path,
    folders: Sequence[text_folders.DataFolder],
    reasons: Reasons,
    tokenizer: Tokenizer,
    max_pieces: int,
) -> tuple[list[int], int]:
    """Write the files of `encoded_text`; return each folder's rows, and the pairs left out."""
    print(f"Cutting {len(reasons):,} pairs into pieces.")
    rows, left_out, first = [0] * len(folders), 0, 0
    with ExitStack() as stack:
        files = {name: stack.enter_context((out / name).open("xb")) for name in encoded_text.NAMES}
        written = encoded_text.EncodedFiles(files, encoded_text.stored_type(tokenizer.vocab_size))
        bar = stack.enter_context(
            tqdm(total=len(reasons), desc="pieces", unit=" pairs", unit_scale=True, disable=None)
        )
        for number, folder in enumerate(folders):
            for pairs in folder.files().chunks():
                mask = reasons[first : first + len(pairs)] == KEPT
                chosen = ParallelText(
                    list(compress(pairs.source, mask)), list(compress(pairs.target, mask))
                )
                lines = np.flatnonzero(mask) + first
                chunk = encoded_text.encode_chunk(chosen, (tokenizer, tokenizer), max_pieces, lines)
                written.append(chunk)
                first += len(pairs)
                rows[number] += len(chunk)
                left_out += chunk.left_out
                bar.update(len(pairs))
    return rows, left_out


main = command.main(_parser, _prepare)
