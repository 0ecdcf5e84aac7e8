"""Sentences of the player of Figure 1, by the formulas of the paper in float64."""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from benchmarks.sentences.facts import Facts, Floats, number, options, sentence
from benchmarks.sentences.sinks import is_sink
from tests.transformer.reference import attention_weights, layer_norm, positions
from transformer import Kind
from transformer.config import BOS
from viz.draw.labels import display_tokens

_KINDS: dict[str, Kind] = {
    "encoder.self_attention": "encoder_self",
    "decoder.self_attention": "decoder_self",
    "decoder.cross_attention": "cross",
}


@cache
def outputs(facts: Facts) -> dict[str, tuple[Floats, ...]]:
    """Compute the boxes of the first layers and the logits.

    A sub-layer has its weights or hidden units, and its output; a norm has the sub-layer's output,
    its sum with the input, and what is normalised.
    """
    w = {name: p.detach().double().numpy() for name, p in facts.model.named_parameters()}
    c, table = facts.config, w["shared_embedding"]
    x, values = table, dict[str, tuple[Floats, ...]]()
    for stack, ids in (("encoder", facts.source), ("decoder", [BOS, *facts.target[:-1]])):
        memory, tokens = x, table[ids] * math.sqrt(c.d_model)
        places = positions(len(ids), c.d_model)
        x = tokens + places
        foot = zip(("embedding", "positions", "sum"), (tokens, places, x), strict=True)
        values |= {f"{stack}.{part}": (value,) for part, value in foot}
        for layer in range(c.N):
            for part in ("self_attention", "cross_attention", "feed_forward"):
                box, name = f"{stack}.{part}", f"{stack}.layers.{layer}.{part}"
                if kind := _KINDS.get(box):
                    read = memory if kind == "cross" else x
                    q, k, v = (
                        (y @ w[f"{name}.W_{m}.weight"].T).reshape(len(y), c.h, -1).swapaxes(0, 1)
                        for m, y in (("Q", x), ("K", read), ("V", read))
                    )
                    mask = np.tri(len(x), dtype=bool) if kind == "decoder_self" else None
                    inner = attention_weights(q, k, mask)
                    out = (inner @ v).swapaxes(0, 1).reshape(x.shape) @ w[f"{name}.W_O.weight"].T
                elif part == "feed_forward":
                    inner = np.maximum(0, x @ w[f"{name}.W_1.weight"].T + w[f"{name}.W_1.bias"])
                    out = inner @ w[f"{name}.W_2.weight"].T + w[f"{name}.W_2.bias"]
                else:
                    continue
                total = x + out
                x = layer_norm(total, w[f"{name}_norm.norm.weight"], w[f"{name}_norm.norm.bias"])
                values.setdefault(box, (inner, out))
                values.setdefault(f"{box}_norm", (out, total, x))
    return values | {"decoder.linear": (x @ table.T,)}


def playing(facts: Facts) -> Iterator[str]:
    """Yield the sentence of each box: once in the encoder, at each step in the decoder."""
    enters = f"The sentence enters as {len(facts.source)} subwords"
    yield f"encoder.tokens 0: {enters}; the last one marks its end."
    for box in outputs(facts):
        for row in [None] if box.startswith("encoder") else range(len(facts.target)):
            yield f"{box} {row or 0}: {_says(facts, box, row)}"
    reads, log_p = facts.sides["reads"], facts.log_p(facts.target)
    for row, written in enumerate(facts.target):
        says = f"“{reads[row]}” comes back to the bottom: the decoder now reads {row + 1} tokens."
        start = f"The decoder starts with “{reads[0]}”, before anything is written."
        yield f"decoder.tokens {row}: {says if row else start}"
        ids = sorted(options(log_p[row], written), key=lambda piece: -log_p[row, piece])
        names = display_tokens([piece.text for piece in facts.translator.tokenizer.pieces_of(ids)])
        p = [f"{p:.2f}" if p >= 0.005 else "< 0.01" for p in np.exp(log_p[row, ids])]
        taken = ids.index(written)
        says = f"“{names[0]}” is the most probable next subword: {p[0]}."
        if taken:
            says = f"“{names[0]}” is more probable ({p[0]}), but the translation goes on with "
            says += f"“{names[taken]}” ({p[taken]})."
        yield f"decoder.softmax {row}: {says}"
    count = f"{len(facts.target)} subword{'s' * (len(facts.target) > 1)}"
    yield f"last: {count}: the encoder ran once, the decoder once for each of them."


def _says(facts: Facts, box: str, row: int | None) -> str:
    values, numbers = outputs(facts)[box], f"{facts.config.d_model} numbers"
    norms = [np.linalg.norm(value, axis=-1) for value in values if value.ndim == 2]
    sizes = [f"mean norm {n.mean():.1f}" if row is None else f"norm {n[row]:.1f}" for n in norms]
    read = "Each subword" if row is None else f"“{facts.sides['reads'][row]}”"
    if box in _KINDS:
        return _looks(facts, _KINDS[box], values[0], row)
    match box.partition(".")[2]:
        case "embedding":
            return f"{read} takes its row of the table: {numbers}, {sizes[0]}."
        case "positions":
            place = "Each position" if row is None else f"Position {row + 1}"
            return f"{place} has a pattern: {numbers}, {sizes[0]}."
        case "sum":
            return f"Subword and position are added: {sizes[0]}."
        case "feed_forward":
            zeros = _per_cent(((values[0] if row is None else values[0][row]) == 0).mean())
            hidden = f"{facts.config.d_ff:,} (the ReLU sets {zeros} of them to 0)"
            return f"{numbers} become {hidden}, then {numbers} again: {sizes[1]}."
        case "linear":
            written = facts.sides["writes"][row or 0], values[0][row or 0, facts.target[row or 0]]
            size = f"{facts.config.vocab_size:,}, one for each subword"
            return f"{numbers} become {size}: “{written[0]}” gets {number(written[1], 1)}."
    return (
        f"The sub-layer's input and output ({sizes[0]}) are added ({sizes[1]}), then "
        f"normalised ({sizes[2]})."
    )


def _looks(facts: Facts, kind: Kind, weights: Floats, row: int | None) -> str:
    """Return the largest weight on a word other than the row's own, of `[head, query, key]`."""
    keys = facts.sides["reads" if kind == "decoder_self" else "english"]
    if kind == "decoder_self" and row == 0:
        return f"Only “{keys[0]}” is visible: each of {len(weights)} heads gives it 100\u00a0%."
    sinks = [is_sink(token) for token in facts.trace.labels(kind).keys]
    places = [at for at in np.ndindex(weights.shape) if row in (None, at[1]) and weights[at] > 0]
    words = [at for at in places if not sinks[at[2]] and (kind == "cross" or at[1] != at[2])]
    largest = max(words or places, key=lambda at: weights[at])
    share, name = _per_cent(float(weights[largest])), f"head {largest[0] + 1} of {len(weights)}"
    key = f"“{keys[largest[2]]}”"
    if kind == "cross":
        return f"{sentence(name)} looks at {key} in the encoder's output ({share})."
    on = " on another word" if words else ""
    return f"The largest weight{on}: “{keys[largest[1]]}” gives {key} {share} ({name})."


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%" if share > 0.005 or not share else "below 1\u00a0%"
