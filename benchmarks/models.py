"""A model of 74 M parameters from its folder to a translation of 20 words with all its maps."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

from benchmarks.app import ALL_MAPS, MOST, sentences, spread
from benchmarks.browser import chromium, served
from benchmarks.machine import describe
from benchmarks.marian_folders import write_folder
from transformer import InputError, Translator
from transformer.cli.arguments import whole_number
from transformer.files.installed import ASSETS
from viz.app.models.menu import BUNDLED_NAME, MEMORY_VARIABLE, MODELS_VARIABLE
from viz.app.models.model_cache import size_of_model
from viz.draw.labels import display_tokens

NAME = "opus-mt-74M"
SHAPE = {
    "d_model": 512,
    "layers": 6,
    "ffn_dim": 2048,
    "attention_heads": 8,
    "more_pieces": 57_400,
    "model_type": "bpe",
    # random weights write until they must stop; trained ones write about as much as they read
    "max_position_embeddings": 30,
}


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks models`."""
    parser = commands.add_parser("models", help="a model of 74 M, from its folder to all its maps")
    parser.add_argument(
        "--turns", type=whole_number(1, MOST - 1), default=7, help="how often each is measured"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the folder, then open it by the library and by the menu of the app.

    Raises:
        InputError: if `transformers` is not installed.
        NoBrowser: if no Chromium is.
    """
    try:
        import transformers  # noqa: F401
    except ImportError as error:
        raise InputError(
            "transformers is not installed: install the extra bench, pip install '.[bench]'."
        ) from error
    print(describe())
    with tempfile.TemporaryDirectory() as place:
        texts = sentences(options.turns + 1)
        lines = (ASSETS / "examples.txt").read_text("utf-8").splitlines()
        folder = write_folder(Path(place) / NAME, SHAPE, [*lines, *sentences(MOST) * 5])
        _print_library(folder, texts)
        _print_app(folder, texts)


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
    for what, seconds in zip(
        ("load", "translate, beam 4", "maps of all heads"),
        zip(*spent[1:], strict=True),
        strict=True,
    ):
        print(f"  {what}: {spread(seconds)}")
    print(f"  together: {spread([sum(each) for each in spent[1:]])}")


def _print_app(folder: Path, texts: list[str]) -> None:
    """From the click in the menu until the maps of all heads are drawn."""
    os.environ[MODELS_VARIABLE] = str(folder.parent)
    os.environ[MEMORY_VARIABLE] = "1"  # so that each turn loads it anew
    translator = Translator.load(folder)
    seconds = []
    with chromium() as browser, served() as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        for text in texts:
            page.goto(f"{address}/heads?{urlencode({'text': text, 'model': BUNDLED_NAME})}")
            page.get_by_role("gridcell").first.wait_for()
            page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
            page.get_by_role("combobox", name="Model").click()
            option = page.get_by_role("option", name=NAME)
            queries = "|".join(display_tokens(translator.trace(text).target_tokens))
            started = time.perf_counter()
            option.click()
            page.wait_for_function(ALL_MAPS, arg=queries, polling="raf")
            seconds.append(time.perf_counter() - started)
    print(f"a click in the menu to the maps of all heads on screen: {spread(seconds[1:])}")
