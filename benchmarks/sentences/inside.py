"""What the Inside page says: shapes of every step, and the translation at another scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from benchmarks.sentences.facts import KINDS, Expected, Facts, Marked, number
from benchmarks.sentences.translate import bar, noticed


def inside(kind_name: str, scale: float | None) -> Callable[[Facts], Iterator[Expected]]:
    """The last layer's first head; the scale is that of q · k, None for the paper's."""
    kind = KINDS[kind_name]

    def check(facts: Facts) -> Iterator[Expected]:
        yield from bar(facts)
        rows = facts.rows(kind)
        name = rows[min(2, len(rows) - 1)]
        yield f"inside_head query: {name} looks"
        keys = len(facts.source if kind != "decoder_self" else facts.target)
        c = facts.config
        yield (
            f"inside_head step x: The residual stream at {name}: the embedding and what every "
            "sub-layer before made of it."
        )
        for step, shape in {
            "All": f"{keys} keys, each {c.d_k} wide, to {c.d_model} numbers in the stream",
            "q, k, v": f"q: {c.d_k}; k: {keys} × {c.d_k}; v: {keys} × {c.d_v}",
            "q · k": f"{keys} × {c.d_k} products, {keys} sums",
            "scale": f"{keys} numbers, times {c.d_k**-0.5 if scale is None else scale:.4g}",
            "mask": f"{keys} booleans",
            "softmax": f"{keys} weights, which sum to 1",
            "Σ α v": f"{keys} × {c.d_v} to {c.d_v}",
        }.items():
            yield f"inside_head step {step}: {shape}"
        if scale is not None:
            by = scale * math.sqrt(c.d_k)
            stack, sublayer = {
                "encoder_self": ("encoder", "self_attention"),
                "decoder_self": ("decoder", "self_attention"),
                "cross": ("decoder", "cross_attention"),
            }[kind]
            place = f"{stack}.layers.{c.N - 1}.{sublayer}"

            def one(scores: Tensor, _name: str) -> Tensor:
                scores = scores.clone()
                scores[:, 0] *= by
                return scores

            new = facts.translated({f"{place}.hook_attn_scores": one})
            verdict = "the same words"
            if new.text != facts.found.text:
                verdict = "new words in bold, words that were left out struck through"
            yield (
                f"translated with no scale in L{c.N} H1 · {kind_name}: {verdict} · log p "
                f"{number(new.log_prob)}"
            )
            yield Marked(new.text, facts.found.text)
            yield from noticed(facts, new)

    return check
