"""Layers of each sort (Table 1) and lenses as the sequence grows: time and memory."""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks import machine
from transformer import Transformer, TransformerConfig, Translator, kinds, trace
from transformer.analysis import lenses
from transformer.attention import MultiHeadAttention
from transformer.cli.arguments import whole_number
from transformer.config import EOS
from transformer.paper.additive import ADDITIVE, DOT, draw_weights
from transformer.paper.costs import CONVOLUTIONAL, RECURRENT, SELF_ATTENTION
from transformer.text.tokenizer import Piece
from transformer.traces.capture import capture

ASSETS = Path(__file__).parents[1] / "assets"
OUT = ASSETS / "layers.json"
D, HEADS, KERNEL = 256, 4, 3  # width, heads, and width of the convolution's kernel

LENGTHS = tuple(2**n for n in range(4, 13))
"""Tokens of a sequence, 16 to 4,096."""

D_K = 64  # width of a query and a key, as in the paper; the hidden layer is as wide
PAIR_LENGTHS = LENGTHS[:7]
"""To 1,024: additive attention holds D_K numbers for each pair of tokens."""

Layer = Callable[[Tensor], Tensor]


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks layers` and `lenses`."""
    parser = commands.add_parser("layers", help="attention, recurrence and convolution as n grows")
    parser.add_argument(
        "--repeats", type=whole_number(1), default=5, help="turns of each layer and length"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.set_defaults(run=run)
    parser = commands.add_parser("additive", help="additive and dot-product attention as n grows")
    parser.add_argument(
        "--repeats", type=whole_number(1), default=5, help="turns of each function and length"
    )
    parser.add_argument("--out", type=Path, default=ASSETS / "additive.json")
    parser.set_defaults(run=run_additive)
    parser = commands.add_parser("lenses", help="seconds of each lens on a random model")
    parser.add_argument("--pieces", type=whole_number(1), default=128, help="of each side")
    parser.set_defaults(run=run_lenses)


def run(options: argparse.Namespace) -> None:
    """Measure on one thread, print, and write what the page “Why self-attention” draws."""
    torch.manual_seed(0)
    layers, sizes = _layers(D, HEADS, KERNEL), {"d": D, "h": HEADS, "k": KERNEL}
    _write(options, measure(layers, D, LENGTHS, options.repeats), sizes)


def run_additive(options: argparse.Namespace) -> None:
    """Measure on one thread, print, and write what “Additive or dot-product” draws."""
    torch.manual_seed(0)
    functions = compatibility_functions(D_K)
    _write(options, measure(functions, D_K, PAIR_LENGTHS, options.repeats), {"d_k": D_K})


def _write(options: argparse.Namespace, rows: dict[str, Any], sizes: dict[str, int]) -> None:
    about = {"machine": machine.describe(), "torch": torch.__version__, "threads": 1}
    result = {**about, **sizes, "repeats": options.repeats, "layers": rows}
    options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(about["machine"])
    for name, measured in rows.items():
        for row in measured:
            print(
                f"{name}, n = {row['n']:,}: {row['seconds'] * 1000:.2f} ms, "
                f"{row['bytes'] / 2**20:.1f} MiB"
            )


def measure(
    layers: dict[str, Layer], d: int, lengths: tuple[int, ...], repeats: int
) -> dict[str, list[dict[str, float]]]:
    """Median seconds of a forward pass in training, and bytes that are held for the way back."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in layers}
    for n in lengths:
        x = torch.randn(1, n, d)
        seconds: dict[str, list[float]] = {name: [] for name in layers}
        for turn in range(repeats + 1):
            for name, layer in layers.items():
                started = time.perf_counter()
                layer(x)
                if turn:  # the first one warms up
                    seconds[name].append(time.perf_counter() - started)
        for name, layer in layers.items():
            row = {"n": n, "seconds": statistics.median(seconds[name]), "bytes": _held(layer, x)}
            rows[name].append(row)
    torch.set_num_threads(before)
    return rows


def compatibility_functions(d_k: int) -> dict[str, Layer]:
    """One head of each function, whose queries, keys and values are the input (§3.2.1)."""
    drawn = draw_weights(d_k, seed=0)
    W_q, W_k, v = (nn.Parameter(torch.from_numpy(x).float()) for x in drawn)

    def dot_product(x: Tensor) -> Tensor:
        return (((x @ W_q) @ (x @ W_k).mT) / d_k**0.5).softmax(-1) @ x

    def additive(x: Tensor) -> Tensor:
        hidden = ((x @ W_q)[:, :, None] + (x @ W_k)[:, None]).tanh()  # [1, query, key, d_k]
        return (hidden @ v).softmax(-1) @ x

    return {DOT: dot_product, ADDITIVE: additive}


def _layers(d: int, h: int, k: int) -> dict[str, Layer]:
    attention = MultiHeadAttention(TransformerConfig(vocab_size=8, d_model=d, h=h))
    lstm = nn.LSTM(d, d, batch_first=True)
    convolution = nn.Conv1d(d, d, k, padding="same")
    return {
        SELF_ATTENTION: lambda x: attention(x, x),
        RECURRENT: lambda x: lstm(x)[0],
        CONVOLUTIONAL: lambda x: convolution(x.transpose(1, 2)),
    }


def _held(layer: Layer, x: Tensor) -> int:
    """Bytes of the tensors that autograd keeps for the way back, the weights left out."""
    storages: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        whole = tensor if tensor._base is None else tensor._base  # W.T is a view of W
        if not isinstance(whole, nn.Parameter):
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = layer(x)  # alive until all is counted: no place in memory is used twice
    total = sum(storages.values())
    del output
    return total


TURNS = 3


def run_lenses(options: argparse.Namespace) -> None:
    """Measure and print, the best of three turns."""
    print(machine.describe())
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=8000, N=6, d_model=256, d_ff=1024, h=8)
    translator = Translator.__new__(Translator)  # a lens needs its model alone
    translator.model = Transformer(config).eval()
    ids = torch.randint(EOS + 1, config.vocab_size, (2, options.pieces)).tolist()
    sides = [[Piece(number, str(number), word) for word, number in enumerate(row)] for row in ids]
    pair = trace.AttentionTrace.from_fields(capture(translator.model, "", "", *sides))
    for name in lenses.NAMES:
        best = []
        for kind in kinds.KINDS:
            seconds = []
            for _ in range(TURNS):
                started = time.perf_counter()
                lenses.lens(name, translator, pair, kind)
                seconds.append(time.perf_counter() - started)
            best.append(f"{kind} {min(seconds):.2f} s")
        print(f"{name}: {', '.join(best)}", flush=True)
