"""Parts that measurements share: options, held-out text, and files stored with the checkpoint."""

import argparse
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from training.data.corpus import CorpusError, ParallelText, read_files
from transformer import Translator, errors
from transformer.checkpoints import checkpoint, marian
from transformer.cli import arguments, command
from transformer.files import atomic
from transformer.files.documents import parse_json
from transformer.files.reading import read_bytes
from transformer.text.languages import Languages

T = TypeVar("T")

MEASURED = "MEASURED.json"  # the manifest of what was stored in a MarianMT folder


class OneReference(argparse.Action):
    """The option of a reference, which is refused when it is given again: the last would count."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        _option: str | None = None,
    ) -> None:
        """Keep the value."""
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "only one reference is read: give it once")
        setattr(namespace, self.dest, values)


def add_paths(parser: argparse.ArgumentParser, **texts: str) -> None:
    """Add `--checkpoint` and a required option for each file, with its help."""
    parser.add_argument("--checkpoint", type=Path, help="folder; default: the bundled checkpoint")
    for name, text in texts.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=text)


def corpus_options(
    sentences: int, out: str = "file to write; default: beside the checkpoint"
) -> argparse.ArgumentParser:
    """Make the parent parser of the commands that measure on `sentences` sentences of a corpus."""
    parser = argparse.ArgumentParser(add_help=False)
    add_paths(parser, src="source text, one sentence per line")
    add = parser.add_argument
    add("--out", type=Path, help=out)
    most = f"maximum number of sentences, drawn at random; default: {sentences:,}"
    add("--sentences", type=arguments.whole_number(1), default=sentences, help=most)
    add("--seed", type=arguments.whole_number(0), default=0, help="random seed")
    add("--json", action="store_true", help="print the report as JSON")
    return parser


def load_translator(options: argparse.Namespace, *names: str) -> Translator:
    """Load the checkpoint of the options, on a GPU where there is one."""
    translator = Translator.load(options.checkpoint)
    if names:
        require_place(translator.folder, options.out, names)
    if torch.cuda.is_available():
        translator.model.to("cuda")
    return translator


def read_held_out(source_path: Path, target_path: Path) -> ParallelText:
    """Read two files of which each line is the translation of the other's."""
    text = read_files(source_path, target_path)
    for path, lines in ((source_path, text.source), (target_path, text.target)):
        if all("\t" in line for line in lines):
            raise CorpusError(
                f"{path} is a table: write each column to its own file, for example with cut -f1."
            )
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise CorpusError(f"{path} line {number:,} is empty: remove it from both files.")
    return text


def target_language(languages: Languages, sources: Iterable[str]) -> str:
    """Return the language into which all of these are translated; "" for several."""
    targets = {languages.target_of(source) for source in sources}
    return targets.pop() if len(targets) == 1 else ""


def draw_sample(items: Sequence[T], most: int, seed: int) -> list[T]:
    """Draw at most `most` of the items at random, and keep their order."""
    count = len(items)
    rows = np.random.default_rng(seed).choice(count, min(count, most), replace=False)
    return [items[row] for row in sorted(rows)]


def require_place(folder: Path, out: Path | None, names: Sequence[str] = ()) -> None:
    """Make sure, before anything is measured, that files can be stored, or written beside `out`."""
    if out is not None and atomic.is_stream(out):
        return
    place = folder if out is None else out.absolute().parent
    if out is not None:
        command.require_place(out)
    listed = _read_list(folder)["sha256"] if names and out is None else {}
    for name in names if out is None else names[1:]:
        path = place / name
        if os.path.lexists(path) and not atomic.has_content(path, str(listed.get(name))):
            raise errors.CheckpointError(
                f"{path} is there and would be lost: move it away, or choose another place with "
                f"--out."
            )
    with errors.writing(place, advice="Choose a place with --out."):
        atomic.require_room(place)


def store(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into a checkpoint folder, or replace them, and list them; all of it or nothing."""
    require_place(folder, None, [*files])
    contents = [(folder / name, content) for name, content in files.items()]
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    manifest = _read_list(folder)
    others = {name: old for name, old in manifest["sha256"].items() if name not in files}
    # a process that is killed between two files leaves a checkpoint whose listed files are whole
    lists = [manifest | {"sha256": dict(sorted(s.items()))} for s in (others, others | checksums)]
    first, last = [(_list(folder), (json.dumps(m, indent=2) + "\n").encode()) for m in lists]
    with errors.writing(folder):
        atomic.write_files([first, *contents, last])


def _list(folder: Path) -> Path:
    """Return the path of the manifest that lists stored files; a MarianMT folder has its own."""
    return folder / (MEASURED if marian.is_marian(folder) else checkpoint.MANIFEST)


def _read_list(folder: Path) -> dict[str, Any]:
    path = _list(folder)
    if path.name == MEASURED and not path.exists():
        return {"format": checkpoint.FORMAT, "sha256": {}}
    try:
        with errors.reading(path):
            manifest: dict[str, Any] = parse_json(read_bytes(path, checkpoint.MAX_JSON_BYTES))
        if manifest["format"] != checkpoint.FORMAT:
            raise ValueError("another format")
        return manifest | {"sha256": {**manifest["sha256"]}}
    except (ValueError, TypeError, KeyError) as error:
        raise errors.CheckpointError(
            f"{path} is not a Headlight manifest: move it away."
        ) from error


def store_or_write(folder: Path, out: Path | None, files: Mapping[str, bytes]) -> None:
    """Store files in a checkpoint folder; or write the first one as `out`, the others beside it."""
    if out is None:
        store(folder, files)
        return
    for number, (name, content) in enumerate(files.items()):
        path = out.with_name(name) if number else out
        if number and atomic.is_stream(out):
            command.say(f"{name} is not written: {out} is not a file that it could stand beside.")
            continue
        try:
            with errors.writing(path):
                atomic.write_file(path, content)
        except ValueError as error:  # Python's, before it asks the system
            raise errors.CheckpointError(
                f"{path!r} cannot be the name of a file: choose another."
            ) from error
