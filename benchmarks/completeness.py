"""Split scores and logits: whether the parts of every head and cell sum to the whole."""

import argparse
import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.machine import describe, table
from tests.transformer.analysis.plain_model import PlainModel
from tests.transformer.checkpoints.marian import marian_folder
from transformer import AttentionTrace, Transformer, Translator
from transformer.analysis.heads.head import all_heads
from transformer.analysis.stream import BIASES, key_stream, query_stream, stream_of, stream_points
from transformer.analysis.teacher_forcing import forced_pair, values_at
from transformer.circuits.score import head_projection
from transformer.cli.arguments import whole_number
from transformer.kinds import attention_name

REAL: dict[str, Any] = {"d_model": 512, "layers": 6, "d_ff": 2048, "h": 8, "max_length": 512}
"""Shape of the MarianMT models on the hub; its weights are random, with biases and swish."""

FORBIDDEN = -1_000
"""Bias of the pieces that a MarianMT model never writes, for which float32 has no 1e-4."""


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks completeness`."""
    parser = commands.add_parser("completeness", help="whether parts sum to scores and logits")
    parser.add_argument("english", type=Path, help="English sentences, one per line")
    parser.add_argument("german", type=Path, help="German sentences, for the second bundled model")
    parser.add_argument("--lines", type=whole_number(1), default=20, help="evenly spaced ones")
    parser.add_argument("--checkpoint", help="a folder that reads English, of equal stacks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        random = str(marian_folder.write(Path(place) / "MarianMT, random weights", **REAL))
        models = [("bundled", "english"), ("bundled-de-en", "german"), (random, "english")]
        models += [(options.checkpoint, "english")] * bool(options.checkpoint)
        print(describe())
        for name, language in models:
            lines = getattr(options, language).read_text("utf-8").splitlines()
            texts = lines[:: max(1, len(lines) // options.lines)][: options.lines]
            print(f"\n{Path(name).name}, {len(texts)} sentences")
            # random weights end no translation
            print(_compared(Translator.load(name), texts, copied=name == random))


def _compared(translator: Translator, texts: list[str], copied: bool) -> str:
    by_kind: dict[str, list[tuple[float, ...]]] = {}
    for text in texts:
        trace = translator.trace(text, target=text if copied else None)
        for kind, parts, direct, exact in _sums(translator.model, trace):
            differences = (np.abs(parts - whole).max() for whole in (direct, exact))
            figures = (parts.size, np.abs(exact).max(), *differences)
            by_kind.setdefault(kind, []).append(figures)
    rows = []
    for kind, every in by_kind.items():
        cells, value, first, second = np.array(every).T
        largest = (f"{value.max():.1f}", f"{first.max():.1e}", f"{second.max():.1e}")
        rows.append((kind, f"{cells.sum():,.0f}", *largest))
    return table(("", "sums", "largest value", "off by", "off loops in float64 by"), rows)


@torch.inference_mode()
def _sums(model: Transformer, trace: AttentionTrace) -> Iterator[tuple[Any, ...]]:
    """Yield sums of parts by kind, of every head and cell and of every logit.

    With them what the model computes, and what loops in float64 do that share no code with it.
    """
    pair = forced_pair(model, trace)
    plain = PlainModel(model, pair.source[0].tolist(), pair.target[0].tolist())
    heads = all_heads(model.config)
    names = stream_points(model, "encoder") | stream_points(model, "decoder")
    names |= {f"{attention_name(head.kind, head.layer)}.hook_{x}" for head in heads for x in "qk"}
    logits, cache = values_at(model, pair, names)
    stream = functools.cache(lambda *place: stream_of(model, cache, *place).parts)
    for kind, layer, number in heads:
        name = attention_name(kind, layer)
        asks = plain.attention[kind, layer].x
        asked = plain.layers["encoder", model.config.N - 1] if kind == "cross" else asks
        places = query_stream(kind, layer), key_stream(model, kind, layer)
        parts, exact = [], []
        for matrix, place, x in zip(("W_Q", "W_K"), places, (asks, asked), strict=True):
            weight, bias = head_projection(model, f"{name}.{matrix}", number)
            constant = torch.zeros(len(weight)) if bias is None else bias
            parts.append(stream(*place) @ weight.T)
            parts[-1][BIASES] += constant
            exact.append(x @ weight.double().numpy().T + constant.double().numpy())
        q, k = (cache[f"{name}.hook_{x}"][0, number] for x in "qk")
        scale = q.size(-1) ** -0.5
        # [key part, query, key] of each query part
        summed = torch.stack([(part @ parts[1].mT * scale).sum(0) for part in parts[0]]).sum(0)
        scores = q @ k.T * scale
        yield kind, summed.numpy(), scores.numpy(), exact[0] @ exact[1].T * scale
    bias = plain.weights.get("output_bias", np.zeros(model.config.vocab_size))
    summed = (stream("decoder", None) @ model.projection.T).sum(0).numpy() + bias
    allowed = bias > FORBIDDEN
    yield "logits", summed[:, allowed], logits.numpy()[:, allowed], plain.logits[:, allowed]
