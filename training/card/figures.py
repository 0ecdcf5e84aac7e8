"""Table of a model card, from the measurements of `training.evaluate bleu --json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from transformer.errors import CheckpointError, unreadable
from transformer.files.reading import MIB, read_bytes

THIS_MODEL = "this model"
_COMMAND = "python -m training.evaluate bleu --json"
_NUMBERS = ("bleu", "chrf", "perplexity", "beam", "alpha", "sentences")
_TEXTS = ("src", "ref", "checkpoint", "weights", "signature")


@dataclass(frozen=True)
class Evaluation:
    """One measurement: a checkpoint on a text."""

    values: Mapping[str, Any]

    @property
    def text(self) -> tuple[object, ...]:
        """Text and search settings; only measurements that share them are comparable."""
        return tuple(self.values[name] for name in ("src", "ref", "sentences", "beam", "alpha"))

    @property
    def weights(self) -> str:
        """The checksum of the weights: one model under whatever name."""
        return str(self.values["weights"])


def read_evaluations(path: Path) -> list[Evaluation]:
    """Read the measurements of a file, one on each line.

    Raises:
        CheckpointError: if the file cannot be read, or a line is none.
    """
    try:
        lines = read_bytes(path, MIB).decode("utf-8").splitlines()
    except OSError as error:
        raise CheckpointError(unreadable(error, path)) from error
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} is not UTF-8: give what {_COMMAND} wrote.") from error
    evaluations = [
        _evaluation(path, number, line) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not evaluations:
        raise CheckpointError(f"{path} is empty: give what {_COMMAND} wrote.")
    return evaluations


def figures(evaluations: Sequence[Evaluation], this_model: str) -> Iterator[str]:
    """Yield the lines of a table with a row for each text and a column for each checkpoint.

    Args:
        evaluations: the last of one checkpoint on one text counts.
        this_model: checksum of the weights that the card is about.
    """
    models = {
        evaluation.weights: str(evaluation.values["checkpoint"]) for evaluation in evaluations
    }
    names = _short_names(list(models.values()))
    titles = [
        THIS_MODEL if weights == this_model else cell(names[folder])
        for weights, folder in models.items()
    ]
    measured = {
        (evaluation.text, evaluation.weights): evaluation.values for evaluation in evaluations
    }
    files = _short_names(
        [str(evaluation.values[side]) for evaluation in evaluations for side in ("src", "ref")]
    )
    yield f"| text | {' | '.join(titles)} |"
    yield "|---" * (1 + len(titles)) + "|"
    for text in dict.fromkeys(evaluation.text for evaluation in evaluations):
        src, ref, sentences, beam, alpha = text
        label = (
            f"{cell(files[str(src)])} → {cell(files[str(ref)])}, {sentences:,} sentences, "
            f"beam {beam}, α {alpha:g}"
        )
        cells = [_shown(measured.get((text, weights), {})) for weights in models]
        yield f"| {label} | {' | '.join(cells)} |"
    yield ""
    signatures = {
        str(evaluation.values[name])
        for evaluation in evaluations
        for name in ("signature", "multi30k_signature")
        if name in evaluation.values
    }
    yield f"By `python -m training.evaluate bleu`; {' and '.join(sorted(signatures))}."


def cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    plain = " ".join(text.split())
    return "".join(f"\\{c}" if c in r"\|`*_<>[]#~&$" else c for c in plain)


def _evaluation(path: Path, number: int, line: str) -> Evaluation:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"{path} line {number} is not JSON: give what {_COMMAND} wrote."
        ) from error
    missing = [
        name
        for names, types in ((_NUMBERS, (int, float)), (_TEXTS, (str,)))
        for name in names
        if not isinstance(values, dict)
        or not isinstance(values.get(name), types)
        or isinstance(values[name], bool)
    ]
    if missing:
        raise CheckpointError(
            f"{path} line {number} does not say {missing[0]}: measure again with {_COMMAND}."
        )
    return Evaluation(values)


def _shown(values: Mapping[str, Any]) -> str:
    """BLEU, chrF, perplexity, and what else was measured."""
    if not values:
        return "–"
    parts = [
        f"{words} {values[name]:{shown}}"
        for name, words, shown in (
            ("bleu", "BLEU", ".2f"),
            ("multi30k_bleu", "lower-cased Moses BLEU", ".2f"),
            ("chrf", "chrF", ".2f"),
            ("comet", "COMET", ".4f"),
            ("perplexity", "perplexity", ".2f"),
        )
        if name in values
    ]
    return "<br>".join(parts)


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    """Each path by as many of its last parts as tell it from the others."""
    ends = {path: PurePath(path).parts for path in paths}
    names = {}
    for path, parts in ends.items():
        names[path] = path
        for count in (1, 2):
            if sum(other[-count:] == parts[-count:] for other in ends.values()) == 1:
                names[path] = "/".join(parts[-count:])
                break
    return names
