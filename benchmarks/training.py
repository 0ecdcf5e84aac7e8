"""Training speed: this project's update against a plain loop over `torch.nn.Transformer`.

The loop is as its tutorials write it: its dropout also falls on the attention weights and inside
the feed-forward networks, where the paper has none (§5.4), and on a GPU our side alone is compiled,
unless `--no-compile` is given.

Each turn is a process of its own, so that neither side warms the other's memory; the sides take
turns, so that a machine that slows down slows both.
"""

import argparse
import math
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.machine import describe, ratio
from training.config import Recipe, RunConfig
from training.data.batches import Batch, TokenBatches, make_batch
from training.data.encoded_text import EncodedText, Sentences
from training.devices import ProcessInfo, set_up_distributed
from training.update import Updater
from transformer.cli import command
from transformer.cli.arguments import Parser, whole_number
from transformer.config import PAD, TransformerConfig
from transformer.embedding import sinusoidal_positions
from transformer.model import Transformer


class PlainTransformer(nn.Module):
    """`torch.nn.Transformer` with embeddings, positions and a shared projection around it."""

    positions: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.transformer = nn.Transformer(
            config.d_model, config.h, config.N, config.N, config.d_ff, config.P_drop,
            batch_first=True,
        )  # fmt: skip
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.projection.weight = self.embedding.weight
        self.dropout = nn.Dropout(config.P_drop)
        self.scale = math.sqrt(config.d_model)
        self.register_buffer("positions", sinusoidal_positions(config.max_length, config.d_model))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits `[batch, target, vocab_size]`."""
        length = target.size(1)
        causal = nn.Transformer.generate_square_subsequent_mask(length, device=target.device)
        decoded = self.transformer(
            self._embed(source),
            self._embed(target),
            tgt_mask=causal,
            src_key_padding_mask=source == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return self.projection(decoded)

    def _embed(self, tokens: Tensor) -> Tensor:
        return self.dropout(self.embedding(tokens) * self.scale + self.positions[: tokens.size(1)])


class PlainLoop:
    """Forward, cross-entropy, backward, Adam; float32, or bf16 by autocast as ours."""

    def __init__(self, config: TransformerConfig, device: torch.device, bf16: bool = False) -> None:
        self.bf16 = bf16
        self.model = PlainTransformer(config).to(device).train()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9
        )
        self.loss = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=config.epsilon_ls)
        self.device = device

    def update(self, batch: Batch) -> None:
        """One step."""
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            logits = self.model(batch.source, batch.target)
            loss = self.loss(logits.flatten(0, 1), batch.labels.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


SIDES = ("ours", "plain", "plain bf16")


@dataclass(frozen=True)
class Setting:
    """Setting of one turn."""

    side: str
    preset: str
    layers: int | None
    batch_tokens: int
    steps: int
    warmup: int
    compile: bool


@dataclass(frozen=True)
class Turn:
    """One turn: target tokens a second, and peak memory."""

    tokens_per_second: float
    peak_gib: float


ON_CPU = {"batch_tokens": 2_000, "steps": 20, "warmup": 15, "turns": 3, "compile": False}
ON_GPU = {"batch_tokens": 25_000, "steps": 60, "warmup": 30, "turns": 1, "compile": True}
"""Defaults of the options: the paper's batch on a GPU, which small ones would not fill."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks training`."""
    _add_options(
        commands.add_parser("training", help="tokens a second against torch.nn.Transformer")
    )


def main(arguments: list[str] | None = None) -> int:
    """The same as `python -m benchmarks.training`, which needs no more than a training needs."""
    parser = Parser(prog="python -m benchmarks.training", description=__doc__)
    _add_options(parser)
    options = parser.parse_args(arguments)
    return command.run("benchmarks.training", lambda: options.run(options))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", nargs="+", choices=("demo", "base", "big"), default=["demo"])
    count = whole_number(1)
    parser.add_argument("--layers", type=count, help="N; that of the preset unless given")
    parser.add_argument("--batch-tokens", type=count, help="of one update (2,000; on a GPU 25,000)")
    parser.add_argument("--steps", type=count, help="measured updates in each turn (20; 60)")
    parser.add_argument("--warmup", type=whole_number(0), help="updates before them (15; 30)")
    parser.add_argument("--turns", type=count, help="turns of each side (3; 1)")
    parser.add_argument(
        "--compile",
        action=argparse.BooleanOptionalAction,
        help="torch.compile on our side (no; yes)",
    )
    parser.add_argument("--alone", action="store_true", help="our side alone")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print a table."""
    gpu = torch.cuda.is_available()
    for name, value in (ON_GPU if gpu else ON_CPU).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    sides: tuple[str, ...] = SIDES[:1] if options.alone else SIDES
    # where bfloat16 is emulated, one step of the loop was measured to take a minute
    emulated = not ProcessInfo(torch.device("cuda" if gpu else "cpu")).has_native_bf16
    if emulated:
        sides = tuple(side for side in sides if side != SIDES[2])
    # one turn alone has nothing whose memory it could find warm
    turn = measure if len(options.preset) * options.turns * len(sides) == 1 else _in_a_process
    print(describe())
    if not options.alone:
        compiled = ", and ours alone is compiled" if options.compile else ""
        print(f"plain also drops attention weights and inner units of its layers{compiled}")
        if emulated:
            print("no bfloat16 on this processor: ours computes in float32, as plain does")
    print("| model | loop | target tokens/s | ours is faster by | peak memory |")
    print("|---|---|---|---|---|")
    for preset in options.preset:
        results: dict[str, list[Turn]] = {side: [] for side in sides}
        for _ in range(options.turns):
            for side in sides:
                setting = Setting(
                    side, preset, options.layers, options.batch_tokens, options.steps,
                    options.warmup, options.compile and side == SIDES[0],
                )  # fmt: skip
                results[side].append(turn(setting))
        print(_rows(preset, options, results), flush=True)
        if gpu:
            _print_paper_run(preset, options, results["ours"])


def _rows(preset: str, options: argparse.Namespace, results: dict[str, list[Turn]]) -> str:
    """One line for each side; its ratio is the median of the turns', with their extremes."""
    N = _config(preset, options.layers).N
    model = f"{preset}, N = {N}, {options.batch_tokens:,} tokens a batch"
    lines = []
    for side, turns in results.items():
        ours, speeds = ([t.tokens_per_second for t in results[name]] for name in ("ours", side))
        faster = "" if side == "ours" else ratio(ours, speeds)
        peak = max(turn.peak_gib for turn in turns)
        lines.append(
            f"| {model} | {side} | {statistics.median(speeds):,.0f} | {faster} | {peak:.1f} GiB |"
        )
    return "\n".join(lines)


def _print_paper_run(preset: str, options: argparse.Namespace, turns: list[Turn]) -> None:
    """Print how long the paper's run would take here, and what part of the GPU's peak is used."""
    speed = statistics.median(turn.tokens_per_second for turn in turns)
    config = _config(preset, options.layers)
    flop = speed * _flop_of_a_pair(config)
    hours = 100_000 * 25_000 / speed / 3600
    print(
        f"{preset}: 100,000 steps of 25,000 target tokens take {hours:.2f} h; "
        f"{flop / 1e12:.0f} TFLOP/s, {flop / _measured_peak():.0%} of a large matrix product's."
    )


def _flop_of_a_pair(config: TransformerConfig) -> float:
    """Matrix work of one source and one target token, forward and backward: 6 for each weight."""
    attention = 2 * config.d_model * config.h * (config.d_k + config.d_v)
    feed_forward = 2 * config.d_model * config.d_ff
    layers = config.N * (attention + feed_forward) + config.N * (2 * attention + feed_forward)
    return 6.0 * (layers + config.vocab_size * config.d_model)


def _measured_peak(n: int = 8192) -> float:
    """FLOP/s of a bf16 matrix product of random data."""
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        a @ b
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(10):
        a @ b
    torch.cuda.synchronize()
    return 10 * 2 * n**3 / (time.perf_counter() - started)


def _in_a_process(setting: Setting) -> Turn:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (setting,))


def measure(setting: Setting) -> Turn:
    """One turn: build the side, warm up, time its updates on the same batches."""
    config = _config(setting.preset, setting.layers)
    if setting.side == "ours":
        process = set_up_distributed()
        update = _ours(config, setting, process)
    else:
        process = ProcessInfo(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        update = PlainLoop(config, process.device, bf16=setting.side == SIDES[2]).update
    batches = _batches(config, setting, process.length_multiple)
    for batch in batches[: setting.warmup]:
        update(batch)
    _wait(process)
    started = time.perf_counter()
    for batch in batches[setting.warmup :]:
        update(batch)
    _wait(process)
    seconds = time.perf_counter() - started
    tokens = sum(batch.tokens() for batch in batches[setting.warmup :])
    return Turn(tokens / seconds, _peak_gib(process))


def _ours(config: TransformerConfig, setting: Setting, process: ProcessInfo) -> Any:
    torch.manual_seed(1)
    model = Transformer(config).to(process.device).train()
    recipe = Recipe(batch_tokens=setting.batch_tokens, compile=setting.compile)
    updater = Updater(model, RunConfig(model=config, recipe=recipe), process)
    steps = iter(range(1, 10_000))
    return lambda batch: updater.update(next(steps), [batch], batch.tokens())


def _config(preset: str, layers: int | None) -> TransformerConfig:
    build: Callable[..., TransformerConfig] = getattr(TransformerConfig, preset)
    return build() if layers is None else build(N=layers)


def _batches(config: TransformerConfig, setting: Setting, multiple: int) -> list[Batch]:
    """Random pieces in sentences of the lengths that captions and everyday sentences have."""
    random = np.random.default_rng(0)
    count = setting.batch_tokens * (setting.steps + setting.warmup) // 5 + 2_000  # more than enough
    lengths = np.clip(random.lognormal(2.4, 0.45, count).round().astype(int), 3, 60)
    target = np.clip(lengths + random.integers(-2, 3, count), 2, 60)

    def sentences(sizes: np.ndarray) -> Sentences:
        return Sentences(random.integers(4, config.vocab_size, size).tolist() for size in sizes)

    text = EncodedText(sentences(lengths), sentences(target))
    rows = TokenBatches(text, setting.batch_tokens, 0, multiple).epoch(0)
    return [make_batch(text, batch, multiple) for batch in rows[: setting.steps + setting.warmup]]


def _wait(process: ProcessInfo) -> None:
    if process.device.type == "cuda":
        torch.cuda.synchronize()


def _peak_gib(process: ProcessInfo) -> float:
    if process.device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**30
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


if __name__ == "__main__":
    sys.exit(main())
