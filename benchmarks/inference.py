"""Speed of translation: this project, and MarianMT of the same sizes.

Both take turns in one process, so that a machine that slows down slows both. One sentence runs on
one core, and its time is the processor's, which others on the machine hardly change; a file runs on
all cores by the clock.
"""

import argparse
import functools
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import chain, cycle, islice
from typing import Any

import torch

from benchmarks.machine import describe, ratio, table
from transformer import Translator, decoding, masks
from transformer.cli import arguments
from transformer.cli.cores import usable_cores
from transformer.config import BOS, EOS, PAD
from transformer.decoding.settings import SearchSettings
from transformer.files import installed
from transformer.translation import batch

PIECES = (5, 14, 25, 60)
BEAMS = (1, 4)
REPEATS = 5  # searches of one sentence in a turn; the turn's time is their median
LINES = 1_000  # of the file


class Ours:
    """A translator of this project."""

    def __init__(self, translator: Translator, cores: int) -> None:
        self._translator, self._cores = translator, cores

    def sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """Search alone: text in and text out take a tenth of a millisecond."""
        self._translator.search([row], SearchSettings(beam_size=K, n_best=1))

    def traced_sentence(self, row: list[int], K: int, steps: int) -> None:  # noqa: ARG002
        """Search, and one forced pass with the hook points watched."""
        text = self._translator.target_tokenizer.decode(row)
        self._translator.trace_of(self._translator.translate(text, beam_size=K, n_best=1))

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> None:  # noqa: ARG002
        """Translate as `headlight translate` does."""
        search = batch.LineSearch(
            self._translator,
            SearchSettings(beam_size=K, n_best=1),
            lambda _, best: self._translator.target_tokenizer.decode(best[0].tokens),
            self._cores,
        )
        for _ in search.results(lines):
            pass


class Marian:
    """MarianMT of `transformers` with random weights of our sizes.

    Such weights never end a sentence, so it is made to write as many pieces as our translation has.
    """

    def __init__(self, translator: Translator, cores: int) -> None:
        from transformers import MarianConfig, MarianMTModel

        self._translator, self._cores = translator, cores
        torch.manual_seed(0)
        config, stacks = translator.model.config, ("encoder", "decoder")
        sizes = {"layers": config.N, "attention_heads": config.h, "ffn_dim": config.d_ff}
        marian = MarianConfig(
            vocab_size=config.vocab_size, d_model=config.d_model, activation_function="relu",
            max_position_embeddings=config.max_length, scale_embedding=True, pad_token_id=PAD,
            eos_token_id=EOS, forced_eos_token_id=EOS, bos_token_id=BOS, decoder_start_token_id=BOS,
            **{f"{stack}_{name}": size for stack in stacks for name, size in sizes.items()},
        )  # fmt: skip
        self._model: Any = MarianMTModel(marian).eval()

    def sentence(self, row: list[int], K: int, steps: int) -> None:
        """Write exactly `steps` pieces."""
        self._generate([row], K, steps)

    def file(self, lines: Sequence[str], K: int, steps: Sequence[int]) -> None:
        """Sorted by length and batched by tokens as ours are; each batch to its longest."""
        rows = _rows(self._translator, lines)
        torch.set_num_threads(self._cores)
        try:
            for part in batch.batches([len(row) for row in rows], 1024):
                longest = max(steps[index] for index in part)
                self._generate([rows[index] for index in part], K, longest)
        finally:
            torch.set_num_threads(1)

    @torch.inference_mode()
    def _generate(self, rows: Sequence[list[int]], K: int, steps: int) -> None:
        source = masks.pad_sequences(rows)
        self._model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            num_beams=K,
            do_sample=False,
            min_new_tokens=steps,
            max_new_tokens=steps,
            **({"length_penalty": decoding.ALPHA} if K > 1 else {}),
        )


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks inference`."""
    parser = commands.add_parser("inference", help="speed against MarianMT")
    parser.add_argument("--turns", type=arguments.whole_number(1, 100), default=5)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print two tables."""
    torch.set_num_threads(1)
    translator = Translator.load()
    lines = sentence_lines(LINES)
    ours, marian = Ours(translator, usable_cores()), Marian(translator, usable_cores())
    print(describe())
    _print_sentences(translator, ours, marian, options.turns, lines)
    _print_file(translator, ours, marian, options.turns, lines)


def _print_sentences(
    translator: Translator, ours: Ours, marian: Marian, turns: int, lines: list[str]
) -> None:
    calls: dict[str, Callable[[list[int], int, int], None]] = {
        "ours": ours.sentence, "MarianMT": marian.sentence, "with the trace": ours.traced_sentence
    }  # fmt: skip
    rows = []
    for pieces in PIECES:
        row = sentence_of(translator, lines, pieces)
        for K in BEAMS:
            steps = _steps(translator, row, K)
            seconds: dict[str, list[float]] = {name: [] for name in calls}
            for _ in range(turns):
                for name, call in calls.items():
                    seconds[name].append(_median(functools.partial(call, row, K, steps)))
            times = [f"{1000 * statistics.median(turn):.1f}" for turn in seconds.values()]
            rows.append([pieces, K, *times, ratio(seconds["ours"], seconds["MarianMT"])])
    print(f"\nOne sentence on one core: milliseconds of the processor, median of {turns} turns\n")
    print(table(["pieces", "beam", *calls, "ours / MarianMT"], rows), flush=True)


def _print_file(
    translator: Translator, ours: Ours, marian: Marian, turns: int, lines: list[str]
) -> None:
    K = BEAMS[-1]
    rows = _rows(translator, lines)
    steps = {row: _steps(translator, list(row), K) for row in set(map(tuple, rows))}
    counts = [steps[tuple(row)] for row in rows]
    calls = {"ours": ours.file, "MarianMT": marian.file}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, translate in calls.items():
            started = time.perf_counter()
            translate(lines, K, counts)
            seconds[name].append(time.perf_counter() - started)
    pieces = statistics.mean(map(len, rows))
    print(f"\nA file of {len(lines):,} lines, {pieces:.0f} pieces on average, beam {K}\n")
    speeds = [
        (name, f"{len(lines) / statistics.median(taken):.0f}", ratio(taken, seconds["ours"]))
        for name, taken in seconds.items()
    ]
    print(table(("side", "sentences a second", "time / ours"), speeds))


def _steps(translator: Translator, row: list[int], K: int) -> int:
    settings = SearchSettings(beam_size=K, n_best=1)
    return len(translator.search([row], settings)[0][0].tokens)


def _median(call: Callable[[], None]) -> float:
    """Seconds of the processor, the median of some calls."""
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def _rows(translator: Translator, lines: Sequence[str]) -> list[list[int]]:
    return [[piece.id for piece in translator.reader.text(line)] for line in lines]


def sentence_of(translator: Translator, lines: list[str], pieces: int) -> list[int]:
    """The line that has as many pieces; or several lines in a row, cut after as many."""
    rows = _rows(translator, lines)
    for row in rows:
        if len(row) == pieces:
            return row
    joined = chain.from_iterable(row[:-1] for row in cycle(rows))
    return [*islice(joined, pieces - 1), EOS]


def sentence_lines(count: int) -> list[str]:
    """So many of our own sentences, again and again where there are fewer."""
    lines = (installed.ASSETS / "examples.txt").read_text("utf-8").splitlines()
    return list(islice(cycle(filter(str.strip, lines)), count))
