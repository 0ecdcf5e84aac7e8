"""Measure where the time of one sentence's search goes, and what its matrix products alone take."""

import argparse
import operator
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity
from torch.profiler import profile as record

from benchmarks.inference import PIECES, CTranslate2, sentence_lines, sentence_of
from benchmarks.machine import describe, table
from transformer import Translator
from transformer.checkpoints import checkpoint
from transformer.checkpoints.export import ctranslate2 as exported_folder
from transformer.cli.arguments import whole_number
from transformer.decoding import BeamSearch
from transformer.decoding.fast_step import Linear, search_weights
from transformer.decoding.settings import SearchSettings
from transformer.engine import CTranslate2Translator
from transformer.files.installed import BUNDLED
from transformer.translation.search import Source, TextSearch

K = 4
TOGETHER, BATCHES = 64, (1, 2, 4, 8, 16)
TREE = SearchSettings(tree=True)
GROUPS = {
    "matrix products": ("mkldnn::", "aten::addmm", "aten::mm", "aten::bmm", "aten::linear"),
    "attention": ("aten::_scaled_dot", "aten::scaled_dot"),
    "layer norm": ("aten::native_layer_norm", "aten::layer_norm"),
    "ranking": ("aten::_log_softmax", "aten::topk", "aten::amax", "aten::gather", "aten::fill_"),
}
"""Operations by the beginning of their names; what is in none is "other operations"."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks profile`."""
    parser = commands.add_parser("profile", help="where the time of one sentence's search goes")
    parser.add_argument("--turns", type=whole_number(1, 1_000), default=30)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print one row for each length."""
    torch.set_num_threads(1)
    loaded = checkpoint.load(BUNDLED)
    translator = Translator(loaded)
    lines = sentence_lines(1_000)
    matrices = list(_matrices(translator))
    size = sum(matrix.weight.nbytes for matrix in matrices)
    print(describe())
    print(
        f"\nOne sentence on one core, beam {K}: milliseconds of the processor, the median of "
        f"{options.turns} turns. Each step multiplies {K} rows by {len(matrices)} matrices of "
        f"{size / 2**20:.0f} MiB together.\n"
    )
    shares = [*GROUPS, "other operations"]
    header = ("pieces", "steps", "search", "its matrix products alone", "GB/s of them")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "float32"
        exported_folder.write(loaded, folder)
        engine = CTranslate2(translator, folder, 1)
        rows = [
            _row(translator, matrices, engine, sentence_of(translator, lines, n), options.turns)
            for n in PIECES
        ]
    print(table([*header, "CTranslate2, all", *shares], rows))
    print(
        f"\nThe first {TOGETHER} examples in batches, by the search of the app, with its tree, and "
        f"by CTranslate2: milliseconds of the processor for a sentence.\n"
    )
    print(
        table(["sentences of a batch", "ours", "CTranslate2", "other texts"], _batched(translator))
    )


def _batched(translator: Translator) -> list[list[str]]:
    """Return a row for each size of a batch; the texts are compared with those of batches of 1."""
    texts = sentence_lines(TOGETHER)
    sources = [Source(text, translator.reader.text(text)) for text in texts]
    ids = [[piece.id for piece in source.pieces] for source in sources]
    engine = CTranslate2Translator.load()
    alone: list[str] = []
    rows = []
    for size in BATCHES:

        def ours(size: int = size) -> list[str]:
            translations: list[str] = []
            for start in range(0, TOGETHER, size):
                search = TextSearch(translator, sources[start : start + size], TREE)
                while search.unfinished:
                    search.step()
                translations += [search.translation(i).text for i in range(len(search.sources))]
            return translations

        def theirs(size: int = size) -> None:
            for start in range(0, TOGETHER, size):
                engine.search(ids[start : start + size], SearchSettings(n_best=1))

        translations = ours()
        alone = alone or translations
        differ = sum(map(operator.ne, translations, alone))
        spent = _in_turns((ours, theirs), 1)
        rows.append(
            [str(size), *(f"{1e3 * seconds / TOGETHER:.1f}" for seconds in spent), str(differ)]
        )
    return rows


def _row(
    translator: Translator, matrices: list[Linear], engine: CTranslate2, row: list[int], turns: int
) -> list[str]:
    settings = SearchSettings(beam_size=K, n_best=1)

    def search() -> None:
        translator.search([row], settings)

    beam, steps = BeamSearch(translator.model, torch.tensor([row]), beam_size=K, n_best=1), 0
    while beam.unfinished:
        beam.step()
        steps += 1
    inputs = [torch.randn(K, 1, matrix.weight.size(1)) for matrix in matrices]

    @torch.inference_mode()
    def multiply() -> None:
        for _ in range(steps):
            for matrix, x in zip(matrices, inputs, strict=True):
                matrix(x)

    calls = (search, multiply, lambda: engine.sentence(row, K, steps))
    whole, alone, other = _in_turns(calls, turns)
    size = sum(matrix.weight.nbytes for matrix in matrices)
    return [
        str(len(row)),
        str(steps),
        f"{1e3 * whole:.1f}",
        f"{1e3 * alone:.1f} ({alone / whole:.0%})",
        f"{steps * size / alone / 1e9:.1f}",
        f"{1e3 * other:.1f}",
        *(f"{share:.0%}" for share in _shares(search)),
    ]


def _matrices(translator: Translator) -> Iterator[Linear]:
    """Yield the matrices of one decoder step, in the order in which it multiplies by them."""
    weights = search_weights(translator.model)
    for layer in weights.decoder:
        own, cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        yield from (own.QKV, own.output_add_norm.linear, cross.Q, cross.output_add_norm.linear)
        yield from (feed_forward.W_1, feed_forward.inner_add_norm.linear)
    yield weights.projection


def _in_turns(calls: tuple[Callable[[], object], ...], turns: int) -> list[float]:
    """The median of each call's seconds of the processor; the calls take turns."""
    spent: list[list[float]] = [[] for _ in calls]
    for _ in range(turns + 3):  # the first ones warm up
        for call, seconds in zip(calls, spent, strict=True):
            started = time.process_time()
            call()
            seconds.append(time.process_time() - started)
    return [statistics.median(seconds[3:]) for seconds in spent]


def _shares(search: Callable[[], None]) -> list[float]:
    """Return what part of the time in operations each group takes."""
    with record(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(5):
            search()
    time_of: dict[str, float] = dict.fromkeys((*GROUPS, "other operations"), 0.0)
    for event in recorded.key_averages():
        names = [name for name, starts in GROUPS.items() if event.key.startswith(starts)]
        time_of[names[0] if names else "other operations"] += event.self_cpu_time_total
    return [value / sum(time_of.values()) for value in time_of.values()]
