"""A MarianMT model of 74 M parameters, from its folder to a translation with all its maps."""

import argparse
import io
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import sentencepiece
import torch

from benchmarks import app, machine
from benchmarks.browser import chromium
from benchmarks.server import served
from tests.transformer.checkpoints.marian import marian_folder
from transformer import InputError, Translator
from transformer.cli.arguments import whole_number
from transformer.files import installed
from viz.app.models import menu
from viz.app.models.model_cache import size_of_model
from viz.draw import labels

NAME = "opus-mt-74M"
MORE_PIECES = 57_400  # pieces that no text has, which make the vocabulary as large as a real one

LONGEST = 30
"""Pieces: random weights write until they must stop; trained ones write about what they read."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks models`."""
    parser = commands.add_parser("models", help="a model of 74 M, from its folder to all its maps")
    parser.add_argument(
        "--turns", type=whole_number(1, app.MOST - 1), default=7, help="how often each is measured"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder, then open it by the library and by the menu of the app."""
    require_transformers()
    print(machine.describe())
    with tempfile.TemporaryDirectory() as place:
        texts = app.sentences(options.turns + 1)
        lines = (installed.ASSETS / "examples.txt").read_text("utf-8").splitlines()
        folder = Path(place) / NAME
        _write_folder(folder, [*lines, *app.sentences(app.MOST) * 5])
        _print_library(folder, texts)
        _print_app(folder, texts)


def require_transformers() -> str:
    """Return the version of transformers."""
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "transformers is not installed: install the extra bench, pip install '.[bench]'."
        ) from error
    transformers.logging.set_verbosity_error()
    return transformers.__version__


def _write_folder(folder: Path, lines: Sequence[str]) -> None:
    """Write a model of random weights, with a source vocabulary learnt from these lines."""
    marian_folder.write(
        folder, d_model=512, h=8, layers=6, d_ff=2048, more_pieces=MORE_PIECES, max_length=LONGEST
    )
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type="bpe",
        vocab_size=300,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "source.spm").write_bytes(written.getvalue())
    numbers = json.loads((folder / "vocab.json").read_bytes())
    for n, piece in enumerate(marian_folder.pieces(written.getvalue())):
        if piece not in numbers:
            numbers[piece] = numbers.pop(f"▁no{n}")
    (folder / "vocab.json").write_text(json.dumps(numbers), "utf-8")


def _print_library(folder: Path, texts: list[str]) -> None:
    torch.set_num_threads(1)  # as the app serves
    spent: list[tuple[float, float, float]] = []
    for text in texts:
        times = [time.perf_counter()]
        translator = Translator.load(folder)
        times.append(time.perf_counter())
        translation = translator.translate(text, tree=True)
        times.append(time.perf_counter())
        trace = translator.trace_of(translation)
        times.append(time.perf_counter())
        spent.append((times[1] - times[0], times[2] - times[1], times[3] - times[2]))
    rows, columns = trace.cross.shape[2:]
    print(
        f"{translator.model.number_of_parameters():,} parameters, about "
        f"{size_of_model(translator) / 2**20:.0f} MiB in memory; {len(text.split())} words, "
        f"{columns} pieces read and {rows} written"
    )
    # the first turn warms up what a server has warm
    for step, seconds in zip(
        ("load", "translate, beam 4", "maps of all heads"),
        zip(*spent[1:], strict=True),
        strict=True,
    ):
        print(f"  {step}: {machine.spread(seconds)}")
    print(f"  together: {machine.spread([sum(turn) for turn in spent[1:]])}")


def _print_app(folder: Path, texts: list[str]) -> None:
    """From the click in the menu until the maps of all heads are drawn."""
    os.environ[menu.MODELS_VARIABLE] = str(folder.parent)
    os.environ[menu.MEMORY_VARIABLE] = "1"  # so that each turn loads it anew
    translator = Translator.load(folder)
    seconds = []
    with chromium() as browser, served() as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        for text in texts:
            page.goto(f"{server.address}/heads?{urlencode({'text': text, 'model': 'bundled'})}")
            page.get_by_role("gridcell").first.wait_for()
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
            page.get_by_role("combobox", name="Model").click()
            option = page.get_by_role("option", name=NAME)
            queries = "|".join(labels.display_tokens(translator.trace(text).target_tokens))
            started = time.perf_counter()
            option.click()
            page.wait_for_function(app.ALL_MAPS, arg=queries, polling="raf")
            seconds.append(time.perf_counter() - started)
    print(f"a click in the menu to the maps of all heads on screen: {machine.spread(seconds[1:])}")
