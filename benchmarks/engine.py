"""The engine in the page beside Python: tokens, translations, log P, weights, edits, order."""

import argparse
from pathlib import Path
from typing import Any

import torch

from benchmarks.machine import describe
from tests.js.engine_cases import (
    Case,
    compare,
    edited_cases,
    lines_reference,
    order_reference,
    reference,
)
from transformer import Translator
from transformer.analysis.heads.removal_order import GREEDY
from transformer.cli.arguments import whole_number
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks engine`."""
    parser = commands.add_parser("engine", help="the engine in the page beside Python")
    parser.add_argument("--lines", type=Path, required=True, help="sentences, one per line")
    parser.add_argument("--model", choices=BUNDLED_BY_NAME, default="bundled")
    parser.add_argument(
        "--sentences", type=whole_number(1), default=500, help="the first ones are translated"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    torch.set_num_threads(1)  # one short sentence after another
    folder = BUNDLED_BY_NAME.get(options.model, BUNDLED)
    translator = Translator.load(folder)
    lines = options.lines.read_text("utf-8").split("\n")
    texts = [line for line in dict.fromkeys(lines) if line.split()][: options.sentences]
    print(f"{describe()}; {folder.name}; {len(texts)} sentences; {len(lines)} lines")
    characters = [f"a{chr(n)}b" for n in range(1, 0x10000) if not 0xD800 <= n < 0xE000]
    for name, cut in (("lines", lines), ("characters", characters)):
        for first in range(0, len(cut), 10_000):
            some = cut[first : first + 10_000]
            result = compare(
                folder, {"lines": lines_reference(translator.reader.source_tokenizer, some)}
            )
            print(f"{name} {first} to {first + len(some)}: {_shown(result)}", flush=True)
    rows = []
    for first in range(0, len(texts), 50):
        some = texts[first : first + 50]
        cases = [reference(translator, Case(text)) for text in some]
        edited = edited_cases(translator, some[0], first)
        cases += [reference(translator, case) for case in edited]
        orders = [order_reference(translator, some[-1], GREEDY)]
        result = compare(folder, {"cases": cases, "orders": orders})
        rows.append((f"{first} to {first + len(some)}", len(cases), _shown(result)))
        print(*rows[-1], flush=True)


def _shown(result: dict[str, Any]) -> str:
    worst = ", ".join(f"{name} {value:.1e}" for name, value in result["worst"].items())
    return (
        f"{len(result['differing'])} differ, word numbers in {result['wordsApart']}; "
        f"worst {worst}; {result['differing'][:3]}"
    )
