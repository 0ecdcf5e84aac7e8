"""python -m training.pipeline.translate: the training text in the words of a trained model.

What it writes is a folder of text that can be trained on beside the original: data diversification
(Nguyen et al. 2020) where several models translate it, sequence distillation (Kim and Rush 2016)
where the student reads nothing else.

Sentences are sorted by length, so that a batch holds hardly any padding. A chunk of them is a file
as soon as it is translated, and a translation that was stopped goes on with the chunks that are not
there, on whatever device.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from training.corpus import SOURCE, TARGET, CorpusError
from training.data.folders import DataFolder, data_folder, read_training_texts
from training.devices import ProcessInfo, inference_device
from transformer import command
from transformer.arguments import Parser, whole_number
from transformer.atomic import new_folder, write_file
from transformer.config import EOS
from transformer.decoding import ALPHA, BEAM_SIZE, bulk_search
from transformer.errors import ConfigError, unwritable
from transformer.lines import batches
from transformer.padding import pad_sequences
from transformer.reading import GIB, MIB, read_bytes
from transformer.search_settings import MAX_BEAM_SIZE
from transformer.translator import Translator

CHUNKS, IDENTITY = "chunks", "translation.json"
CHUNK = 10_000
"""Sentences of a chunk; a stop loses no more."""
MAX_EXTRA = 20
"""Pieces beyond those of the source; what needs more has lost its way, and is left out."""
ROWS_ON_GPU, ROWS_ON_CPU = 96_000, 4_000
"""Padded source pieces × beams of a batch: a GPU is filled by some thousand rows."""


@dataclass(frozen=True)
class Settings:
    """How the text is translated.

    Args:
        side: which side of the text is read: "source", or "target" by a model that was trained on
            the two sides swapped.
        beam_size: of the search; 1 is greedy.
        chunk: sentences of a chunk.
    """

    side: str = "source"
    beam_size: int = BEAM_SIZE
    chunk: int = CHUNK


def translate(checkpoint: Path, data: Sequence[DataFolder], out: Path, settings: Settings) -> str:
    """Translate each different sentence of one side once, and write the pairs as a folder of text.

    Args:
        checkpoint: the model's folder.
        data: folders of text; their weights do not matter here.
        out: the folder for `train.en` and `train.de`.

    Returns:
        What was done, in a sentence.

    Raises:
        HeadlightError: one sentence on what is wrong.
        OSError: if the folder cannot be written.
    """
    translator = Translator.load(checkpoint)
    sentences = _sentences(data, settings.side)
    identity: dict[str, str | int] = {
        "checkpoint": translator.checksum,
        "text": hashlib.sha256("\n".join(sentences).encode()).hexdigest(),
        "side": settings.side,
        "beam_size": settings.beam_size,
        "chunk": settings.chunk,
    }
    with new_folder(out / CHUNKS):
        _claim(out / IDENTITY, identity)
        if not (out / f"train.{TARGET}").exists():
            _translate_chunks(translator, sentences, out / CHUNKS, settings)
            _write_text(sentences, out, settings)
        shutil.rmtree(out / CHUNKS)
    written = sum(1 for _ in (out / f"train.{TARGET}").open("rb"))
    return (
        f"{written:,} of {len(sentences):,} different sentences were translated to their end; they "
        f"are in {out}."
    )


def _sentences(data: Sequence[DataFolder], side: str) -> list[str]:
    """The different lines of one side, in the order of the text."""
    texts = read_training_texts(data)
    lines = (line for text in texts for line in (text.source if side == "source" else text.target))
    found = [line for line in dict.fromkeys(lines) if line.strip()]
    if not found:
        raise CorpusError("The text has no line to translate: check the folders of --data.")
    return found


def _claim(path: Path, identity: dict[str, str | int]) -> None:
    """Say in the folder what is translated there; refuse a folder of something else."""
    try:
        there = json.loads(read_bytes(path, MIB))
    except FileNotFoundError:
        write_file(path, json.dumps(identity, indent=2).encode())
        return
    except ValueError:
        there = None
    if there != identity:
        raise ConfigError(
            f"{path.parent} holds the translation of another text, by another model, or with other "
            f"settings: choose another --out."
        )


def _translate_chunks(
    translator: Translator, sentences: Sequence[str], folder: Path, settings: Settings
) -> None:
    """Translate what no chunk holds yet."""
    device = inference_device()
    model = translator.model.to(device).eval()
    if device.type == "cuda" and ProcessInfo(device).has_native_bf16:
        model = model.to(torch.bfloat16)
    rows = ROWS_ON_GPU if device.type == "cuda" else ROWS_ON_CPU
    multiple = ProcessInfo(device).length_multiple
    ids = translator.tokenizer.encode_all(sentences)
    started, done = time.monotonic(), 0
    for path, of_chunk in _chunks(ids, model.config.max_length, rows, folder, settings):
        if path.exists():
            continue
        found: dict[int, str] = {}
        for batch in of_chunk:
            padded = pad_sequences([[*ids[i], EOS] for i in batch], multiple)
            source = padded[:, : model.config.max_length]  # a multiple may be more than it accepts
            tokens = bulk_search(
                model, source.to(device), beam_size=settings.beam_size, alpha=ALPHA,
                max_extra=MAX_EXTRA,
            )  # fmt: skip
            for number, row in zip(batch, tokens, strict=True):
                text = translator.target_tokenizer.decode(row)
                if row[-1:] == [EOS] and text.strip():
                    found[number] = text
        write_file(path, json.dumps(found, ensure_ascii=False).encode())
        done += sum(map(len, of_chunk))
        speed = done / (time.monotonic() - started)
        print(f"{path.stem}: {done:,} sentences in this call, {speed:,.0f} a second", flush=True)


def _chunks(
    ids: Sequence[Sequence[int]], max_length: int, rows: int, folder: Path, settings: Settings
) -> Iterator[tuple[Path, list[list[int]]]]:
    """The batches of each chunk, as numbers of sentences, and its file; longest sentences first."""
    possible = [i for i, row in enumerate(ids) if 0 < len(row) < max_length]
    possible.sort(key=lambda i: -len(ids[i]))
    for start in range(0, len(possible), settings.chunk):
        chunk = possible[start : start + settings.chunk]
        lengths = [len(ids[i]) + 1 for i in chunk]
        of_chunk = batches(lengths, max(1, rows // settings.beam_size))
        # named by its sentences, which are the same whatever fits into a batch on this device
        path = folder / f"{start:09}-{start + len(chunk):09}.json"
        yield path, [[chunk[i] for i in batch] for batch in of_chunk]


def _write_text(sentences: Sequence[str], out: Path, settings: Settings) -> None:
    """The pairs in the order of the text, each language in its file."""
    found: dict[int, str] = {}
    for path in sorted((out / CHUNKS).glob("*-*.json")):
        chunk = json.loads(read_bytes(path, GIB))
        found |= {int(number): text for number, text in chunk.items()}
    numbers = sorted(found)
    read = "".join(f"{sentences[i]}\n" for i in numbers).encode()
    written = "".join(f"{' '.join(found[i].split())}\n" for i in numbers).encode()
    source, target = (read, written) if settings.side == "source" else (written, read)
    write_file(out / f"train.{SOURCE}", source)
    write_file(out / f"train.{TARGET}", target)  # last: it says that all is there


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 2 when something is wrong with what was asked."""
    parser = Parser(prog="python -m training.pipeline.translate", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="the model's folder")
    parser.add_argument(
        "--data", type=data_folder, required=True, nargs="+", help="folders with train.en, train.de"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the new text")
    parser.add_argument(
        "--side",
        choices=("source", "target"),
        default="source",
        help="what is read; target by a model that was trained on swapped text",
    )
    parser.add_argument(
        "--beam", type=whole_number(1, MAX_BEAM_SIZE), default=BEAM_SIZE, help="1 is greedy"
    )
    parser.add_argument(
        "--chunk", type=whole_number(1), default=CHUNK, help="sentences between two saves"
    )
    options = parser.parse_args(arguments)

    def run() -> None:
        settings = Settings(options.side, options.beam, options.chunk)
        try:
            print(translate(options.checkpoint, options.data, options.out, settings))
        except OSError as error:
            raise ConfigError(
                f"{unwritable(error, options.out)} Make room, or choose another --out."
            ) from error

    return command.run("training.pipeline.translate", run)


if __name__ == "__main__":
    sys.exit(main())
