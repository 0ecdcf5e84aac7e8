"""Log p per piece: how sure the bundled model is of what it knows and of what it does not.

From these figures comes the least log p of a piece in `assets/model/domain.json`, below which a
translation carries a notice. The sentences were written for this measurement: none is from the
training text.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from transformer import Translator
from transformer.decoding import BEAM_SIZE
from viz.app.sentence.source_box import EXAMPLES

TEXT = Path(__file__).with_suffix(".txt")
"""Sentences below the name of what they are."""


def groups() -> dict[str, list[str]]:
    """The sentences by what they are: the first three the model knows."""
    written: dict[str, list[str]] = {}
    for line in TEXT.read_text("utf-8").splitlines():
        if line.startswith("# "):
            lines = written.setdefault(line.removeprefix("# "), [])
        else:
            lines.append(line)
    captions, everyday = written["captions"], written["everyday sentences"]
    run_on = [
        " ".join(
            f"{first} and then {second.lower()}" if n % 2 else f"{first} while {second.lower()}"
            for n, (first, second) in enumerate(
                zip(captions[start::6], everyday[start::6], strict=True)
            )
        ).replace(".", ",")
        for start in range(6)
    ]
    return {
        "examples of the app": list(EXAMPLES["English"]),
        **written,
        "capitals": [text.upper() for text in [*captions, *everyday][::3]],
        "run-on, 77 to 95 words": run_on,  # without an end
    }


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks confidence`."""
    parser = commands.add_parser("confidence", help="log p per piece in and out of the domain")
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load()
    assert translator.domain is not None  # the bundled model states one
    least = translator.domain.least_log_prob
    print(describe())
    print(f"log p per piece, beam {BEAM_SIZE}; a notice below {least}")
    print(f"{'text':24} {'sentences':>9} {'lowest':>7} {'median':>7} {'highest':>7} {'notice':>7}")
    for name, texts in groups().items():
        values = [log_prob_per_piece(translator, text) for text in texts]
        print(
            f"{name:24} {len(values):9} {min(values):7.2f} {statistics.median(values):7.2f} "
            f"{max(values):7.2f} {sum(value < least for value in values):7}"
        )


def log_prob_per_piece(translator: Translator, text: str) -> float:
    """Return log p per piece of the best translation, in nats."""
    best = translator.translate(text, beam_size=BEAM_SIZE).best.hypothesis
    return best.log_prob / len(best.tokens)
