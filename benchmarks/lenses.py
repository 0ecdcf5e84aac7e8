"""Each lens on one long sentence pair and random weights: how long all layers take."""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from benchmarks.machine import describe
from transformer import Transformer, TransformerConfig, Translator
from transformer.analysis import lenses
from transformer.cli.arguments import whole_number
from transformer.config import EOS
from transformer.kinds import KINDS
from transformer.text.tokenizer import Piece
from transformer.trace import AttentionTrace
from transformer.traces.capture import capture

TURNS = 3


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks lenses`."""
    parser = commands.add_parser("lenses", help="seconds of each lens on a random model")
    parser.add_argument("--layers", type=whole_number(1), default=6)
    parser.add_argument("--pieces", type=whole_number(1), default=128, help="of each side")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print, the best of three turns."""
    print(describe())
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=8000, N=options.layers, d_model=256, d_ff=1024, h=8)
    translator = Translator.__new__(Translator)  # a lens needs its model alone
    translator.model = Transformer(config).eval()
    ids = torch.randint(EOS + 1, config.vocab_size, (2, options.pieces)).tolist()
    sides = [[Piece(number, str(number), word) for word, number in enumerate(row)] for row in ids]
    pair = AttentionTrace.from_fields(capture(translator.model, "", "", *sides))
    for name in lenses.NAMES:
        best = []
        for kind in KINDS:
            seconds = []
            for _ in range(TURNS):
                started = time.perf_counter()
                lenses.lens(name, translator, pair, kind)
                seconds.append(time.perf_counter() - started)
            best.append(f"{kind} {min(seconds):.2f} s")
        print(f"{name}: {', '.join(best)}", flush=True)
