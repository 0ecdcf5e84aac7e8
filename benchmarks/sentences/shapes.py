"""Sentences on shapes, work and norms: the pages Architecture and Inside a head."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.sentences.facts import (
    KINDS,
    Expected,
    Facts,
    Floats,
    Marked,
    noticed,
    number,
    padded_inputs,
)
from benchmarks.sentences.figure_1 import outputs, playing
from tests.transformer.reference import layer_norm
from transformer.kinds import attention_name
from viz.pages.architecture.boxes import BOXES


def drawing(facts: Facts, opened: str = "encoder.self_attention") -> Iterator[str]:
    """With one box open, by its name."""
    for box in BOXES:
        layer = ", layer 1" if ".layers." in box.value else ""
        seen = "" if box.title.lower() in box.heading.lower() else f"{box.title}, "
        yield f"architecture box {seen}{box.heading}{layer}: {_shape(facts, box.name)}"
    yield from (f"architecture {text}" for text in playing(facts))
    c, (stack, _, part) = facts.config, opened.partition(".")
    own = len(facts.source if stack == "encoder" else facts.target)
    other = len(facts.target if part == "self_attention" and stack == "decoder" else facts.source)
    if part.endswith("attention"):
        yield f"| weights | {_shape(facts, opened)} |"
        for name, rows in (("Q", own), ("K", other), ("V", other)):
            yield f"| {name} | {c.h} × {rows} × {c.d_k} |"
        if stack == "decoder":
            yield from facts.drawn_rows()
    else:
        yield f"| out | {_shape(facts, opened)} |"
    if part == "feed_forward":
        zeros = np.mean(outputs(facts)[opened][0] == 0)
        yield f"| hidden | {own} × {c.d_ff:,}, {zeros:.0%} set to 0 by the ReLU |"


def _shape(facts: Facts, box: str) -> str:
    c, (stack, _, part) = facts.config, box.partition(".")
    source, target = len(facts.source), len(facts.target)
    rows = source if stack == "encoder" else target
    if part == "tokens":
        return f"{rows} tokens"
    if part.endswith("attention"):
        keys = target if part == "self_attention" and stack == "decoder" else source
        return f"{c.h} × {rows} × {keys}"
    return f"{rows} × {c.vocab_size if part in ('linear', 'softmax') else c.d_model:,}"


def work(facts: Facts) -> Iterator[str]:
    """Table 1 for the length of this sentence."""
    n, d, k, r = len(facts.source), 512, 3, 64
    yield f"Table 1, with the operations for your {n} tokens"
    yield f"…| longest path | n = {n} |"
    for name, operations in {
        "self-attention": n * n * d,
        "recurrent": n * d * d,
        "convolutional": k * n * d * d,
        "restricted self-attention, r": min(n, r) * n * d,
    }.items():
        yield f"…| {name} | …{operations:,} |"


def _pads_that_count(pads: int) -> str:
    """The row of the padding; there is none where all sentences are of one length."""
    if pads == 1:
        return "and 1 pad that counts"
    return f"and {pads} pads that count" if pads else ""


def norms(facts: Facts) -> Iterator[str]:
    """The first norm of the encoder, of the sentence alone and with two others."""
    every = facts.batch
    longest = max(len(member.source) for member in every)
    real = np.array([[n < len(member.source) for n in range(longest)] for member in every])
    alone, together = _sums(facts, every[:1]), _sums(facts, every)
    own = len(facts.source)
    whole = np.ones((1, own), dtype=bool)

    def by_feature(x: Floats, counted: np.ndarray) -> Floats:
        rows = np.array([x[at] for at in zip(*np.nonzero(counted), strict=True)])
        values: Floats = (x - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-5)
        return values

    before = by_feature(alone, whole)
    assert np.abs(layer_norm(together, 1, 0)[0, :own] - layer_norm(alone, 1, 0)[0]).max() < 1e-4
    for name, counted in (
        ("2 further sentences", real),
        (_pads_that_count(int((~real).sum())), np.ones_like(real)),
    ):
        if not name:
            continue
        change = np.abs(by_feature(together, counted)[0, :own] - before[0]).max()
        yield f"| {name} | 0 up to rounding | {change:.2g} |"
    norm = facts.model.get_submodule("encoder.layers.0.self_attention_norm.norm")
    with torch.inference_mode():
        own_norm = norm(torch.from_numpy(together).float()).double().numpy()
    gain, bias = (parameter.detach().double().numpy() for parameter in norm.parameters())
    assert np.abs(layer_norm(together, gain, bias) - own_norm).max() < 1e-5
    yield "…the largest difference is …e-0…, the rounding of float32."


def _sums(facts: Facts, every: list[Facts]) -> Floats:
    name = "encoder.layers.0.self_attention_norm.hook_sum"
    with torch.inference_mode():
        _, cache = facts.model.run_with_cache(
            *padded_inputs(every), names=lambda point: point == name
        )
    values: Floats = cache[name].double().numpy()
    return values


def inside(facts: Facts, kind_name: str, scale: float | None) -> Iterator[Expected]:
    """The last layer's first head; the scale is that of q · k, None for the paper's."""
    kind = KINDS[kind_name]
    rows = facts.rows(kind)
    name = rows[min(2, len(rows) - 1)]
    yield f"inside_head query: where does {name} look?"
    keys, c = facts.keys(kind), facts.config
    yield (
        f"inside_head step x: The residual stream at {name}: the embedding plus what every "
        "sub-layer before added."
    )
    for step, shape in {
        "All": f"{keys} keys of width {c.d_k}; the result is {c.d_model} numbers, "
        "added to the residual stream",
        "q, k, v": f"q: {c.d_k}; k: {keys} × {c.d_k}; v: {keys} × {c.d_v}",
        "q · k": f"{keys} × {c.d_k} products, {keys} sums",
        "scale": f"{keys} numbers, times {c.d_k**-0.5 if scale is None else scale:.4g}",
        "mask": f"{keys} values, True or False",
        "softmax": f"{keys} weights, which sum to 1",
        "Σ α v": f"{keys} × {c.d_v} to {c.d_v}",
    }.items():
        yield f"inside_head step {step}: {shape}"
    if scale is not None:
        by = scale * math.sqrt(c.d_k)
        place = attention_name(kind, c.N - 1)

        def rescale(scores: Tensor, _name: str) -> Tensor:
            scores = scores.clone()
            scores[:, 0] *= by
            return scores

        new = facts.translated({f"{place}.hook_attn_scores": rescale})
        verdict = "the same words"
        if new.text != facts.translation.text:
            verdict = "new words in bold, dropped ones struck through"
        yield (
            f"translated with no scale in L{c.N} H1 · {kind_name}: {verdict} · log "
            f"probability {number(new.log_prob)}"
        )
        yield Marked(new.text, facts.translation.text)
        yield from noticed(facts, new)
