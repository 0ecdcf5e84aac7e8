"""Log P per subword: how sure a bundled model is of what it knows and of what it does not.

From these figures, and those of `first_words`, comes the least log P per subword in its
`domain.json`, below which a translation carries a notice. The sentences were written for this
measurement: none is from the training text.
"""

import argparse
import statistics
from typing import Any

from benchmarks.first_words import read_lines, translated
from benchmarks.machine import describe
from transformer import Translator
from transformer.checkpoints.domain import per_subword
from transformer.decoding import BEAM_SIZE
from transformer.files.installed import BUNDLED_BY_NAME
from viz.app.sentence.source_box import EXAMPLES

TEXTS = {"English": "confidence.txt", "German": "confidence-de.txt"}
"""By language: sentences below the name of what they are."""
CONNECTIVES = {"English": ("while", "and then"), "German": ("während", "und dann")}


def groups(language: str = "English") -> dict[str, list[str]]:
    """The sentences of a language by what they are: the first three the model knows."""
    written, connectives = read_lines(TEXTS[language]), CONNECTIVES[language]
    captions, everyday = written["captions"], written["everyday sentences"]
    run_on = [
        " ".join(
            f"{first} {connectives[n % 2]} {second.lower()}"
            for n, (first, second) in enumerate(
                zip(captions[start::6], everyday[start::6], strict=True)
            )
        ).replace(".", ",")
        for start in range(6)
    ]
    return {
        "examples of the app": list(EXAMPLES[language]),
        **written,
        "capitals": [text.upper() for text in [*captions, *everyday][::3]],
        "run-on": run_on,  # without an end
    }


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks confidence`."""
    parser = commands.add_parser("confidence", help="log P per subword in and out of the domain")
    parser.add_argument("--checkpoint", default="bundled", choices=BUNDLED_BY_NAME)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load(options.checkpoint)
    assert translator.domain is not None  # the bundled models state one
    least = translator.domain.least_log_prob
    print(describe())
    print(f"log P per subword, beam {BEAM_SIZE}; a notice below {least}, or of repeated words")
    print(f"{'text':24} {'sentences':>9} {'lowest':>7} {'median':>7} {'highest':>7} {'notice':>7}")
    for name, texts in groups(translator.languages.source).items():
        translations = translated(translator, texts)
        values = [
            per_subword(translation.log_prob, len(translation.best.hypothesis.tokens) - 1)
            for translation in translations
        ]
        print(
            f"{name:24} {len(values):9} {min(values):7.2f} {statistics.median(values):7.2f} "
            f"{max(values):7.2f} {sum(bool(translation.notices) for translation in translations):7}"
        )
