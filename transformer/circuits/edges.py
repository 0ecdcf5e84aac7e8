"""Edges between heads: how much one head's output matters to a choice by way of another head.

An edge goes from a writer to the query, key or value of a reader. What the writer brings there is
its part of the stream that the reader reads (`stream`). Patching the edge takes the part out of
that one input and runs the rest of the model: what the log-odds of two pieces then lose is exact.

Attribution estimates this for all edges in one pass: the change of the reader's output, times the
gradient of the log-odds there (attribution patching: Syed et al. 2023, arXiv 2310.10348). The
reader's softmax is computed anew for each edge. Where it is saturated, its gradient is 0, although
the reader would look elsewhere without the edge (AtP*: Kramár et al. 2024, arXiv 2403.00745).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.lenses.gradient import values_and_gradients
from transformer.analysis.logits.contrast import log_odds, pair_until_step
from transformer.analysis.teacher_forcing import Progress, values_at
from transformer.arrays import Bools, Floats
from transformer.circuits.score import head_projection
from transformer.circuits.stream import (
    StackName,
    Stream,
    Writer,
    key_stream,
    query_stream,
    stream_of,
    stream_points,
)
from transformer.corpus.faithfulness import spearman
from transformer.hooks import Hook
from transformer.kinds import KINDS, attention_name
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.trace import AttentionTrace

Input: TypeAlias = Literal["q", "k", "v"]
"""Inputs of a head, each projected from a stream: queries, keys and values."""
INPUTS: tuple[Input, ...] = get_args(Input)
_POINTS = (*INPUTS, "attn_scores")  # hook points of attention, up to the softmax

ROWS = 16
"""Patched runs of the model at once."""
STRONGEST, SEED = 30, 1
"""Edges that are patched by default, and the seed of as many at random."""
FACTOR = 2.0
"""Largest ratio of attributed and patched, either way, with which an edge is said to hold."""


class Edge(NamedTuple):
    """A writer, and the input of a head that reads it."""

    writer: Writer
    reader: Head
    input: Input


class Circuit:
    """One sentence, one step and another piece: edges are attributed once and patched singly."""

    def __init__(self, model: Transformer, trace: AttentionTrace, step: int, other: int) -> None:
        self._model, self._other = model, other
        self._pair = pair_until_step(model, trace, step, other)
        names: set[str] = stream_points(model, "encoder") | stream_points(model, "decoder")
        for point in _POINTS:
            names |= {name for kind in KINDS for name in model.attention_points(kind, point)}
        with torch.inference_mode():
            logits, self._cache = values_at(model, self._pair, names)
        self.log_odds = float(log_odds(logits[None], self._pair, other)[0])
        self._streams: dict[tuple[StackName, int], Stream] = {}

    @torch.inference_mode()
    def attributed(self) -> dict[Edge, float]:
        """Estimate for every edge from one head to another what `patched` computes, in nats."""
        layers: dict[str, list[Head]] = {}
        for head in all_heads(self._model.config):
            layers.setdefault(attention_name(head.kind, head.layer), []).append(head)
        slopes = values_and_gradients(
            self._model,
            self._pair,
            [f"{name}.hook_z" for name in layers],
            lambda pair: log_odds(self._model(pair.source, pair.target), pair, self._other)[0],
        )
        edges: dict[Edge, float] = {}
        for name, heads in layers.items():
            q, k, v, scores = (self._cache[f"{name}.hook_{at}"][0] for at in _POINTS)
            slope = slopes[f"{name}.hook_z"][1][0]  # [head, query, d_v]
            weights, scale = scores.softmax(-1), q.size(-1) ** -0.5
            for input_ in INPUTS:
                stream = self._stream(heads[0], input_)
                places = [n for n, writer in enumerate(stream.writers) if writer.head is not None]
                W = torch.stack([self._weight(head, input_) for head in heads])
                gone = torch.einsum("wpd,hcd->hwpc", stream.parts[places], W)
                if input_ == "v":
                    amounts = gone * (weights.mT @ slope)[:, None]
                else:
                    equation = "hwqc,hkc->hwqk" if input_ == "q" else "hwkc,hqc->hwqk"
                    change = torch.einsum(equation, gone, k if input_ == "q" else q) * scale
                    amounts = weights[:, None] - (scores[:, None] - change).softmax(-1)
                    amounts *= (slope @ v.mT)[:, None]
                for place, row in zip(places, amounts.sum((2, 3)).T.tolist(), strict=True):
                    for head, amount in zip(heads, row, strict=True):
                        edges[Edge(stream.writers[place], head, input_)] = amount
        return edges

    @torch.inference_mode()
    def patched(self, edges: Sequence[Edge], progress: Progress | None = None) -> list[float]:
        """Compute what the log-odds lose without each edge, which is taken out alone, in nats."""
        lost: dict[int, float] = {}
        # those that change the encoder first: all others share its output
        order = sorted(range(len(edges)), key=lambda n: edges[n].reader.kind != "encoder_self")
        source, target, _ = self._pair
        mask = padding_mask(source)
        memory = self._model.encode(source, mask)
        for start in range(0, len(edges), ROWS):
            places = order[start : start + ROWS]
            with self._model.hooks(self._hooks([edges[n] for n in places])):
                if edges[places[0]].reader.kind == "encoder_self":
                    encoded = self._model.encode(source.expand(len(places), -1))
                else:
                    encoded = memory.expand(len(places), -1, -1)
                decoded = self._model.decode(target.expand(len(places), -1), encoded, mask)
            odds = log_odds(self._model.logits(decoded[:, -1:]), self._pair, self._other)
            lost |= zip(places, (self.log_odds - odds).tolist(), strict=True)
            if progress:
                progress(len(lost), len(edges))
        return [lost[n] for n in range(len(edges))]

    def _hooks(self, edges: Sequence[Edge]) -> dict[str, Hook]:
        """Make the hooks that take out one edge in each row of a batch."""
        rows: dict[str, list[tuple[int, int, Tensor]]] = {}
        for row, edge in enumerate(edges):
            name = f"{attention_name(edge.reader.kind, edge.reader.layer)}.hook_{edge.input}"
            stream = self._stream(edge.reader, edge.input)
            gone = stream.parts[stream.writers.index(edge.writer)]
            change = gone @ self._weight(edge.reader, edge.input).T  # [position, d_k]
            rows.setdefault(name, []).append((row, edge.reader.head, change))
        return {name: _taking_out(changes) for name, changes in rows.items()}

    def _stream(self, head: Head, input_: Input) -> Stream:
        place = (
            query_stream(head.kind, head.layer)
            if input_ == "q"
            else key_stream(self._model, head.kind, head.layer)
        )
        if place not in self._streams:
            self._streams[place] = stream_of(self._model, self._cache, *place)
        return self._streams[place]

    def _weight(self, head: Head, input_: Input) -> Tensor:
        """Return the rows of W_Q, W_K or W_V that are a head's, `[d_k or d_v, d_model]`."""
        name = f"{attention_name(head.kind, head.layer)}.W_{input_.upper()}"
        return head_projection(self._model, name, head.head)[0]


def _taking_out(rows: Sequence[tuple[int, int, Tensor]]) -> Hook:
    """Make a hook that subtracts from one head of each row of a batch."""

    def hook(value: Tensor, _name: str) -> Tensor:
        value = value.clone()
        for row, head, change in rows:
            value[row, head] -= change
        return value

    return hook


@dataclass(frozen=True, eq=False)
class PatchedEdges:
    """The strongest edges by attribution, patched one by one beside as many at random; in nats.

    That they change more than random edges shows that attribution finds large ones. So it does in a
    model with random weights: it does not show that the model has learnt them.
    """

    edges: tuple[Edge, ...]  # the one without which the log-odds change most first
    attributed: Floats  # `[edge]`
    lost: Floats  # `[edge]`, what the log-odds lose without it
    random_lost: Floats  # `[random edge]`

    @property
    def beat_random(self) -> Bools:
        """`[edge]`: whether the log-odds change more than without any of the random edges."""
        return np.asarray(np.abs(self.lost) > np.abs(self.random_lost).max(initial=0))

    @property
    def hold(self) -> Bools:
        """`[edge]`: whether it beats the random edges, as attributed to a factor of `FACTOR`."""
        ratio = self.lost / np.where(self.attributed, self.attributed, np.nan)
        result: Bools = self.beat_random & (ratio >= 1 / FACTOR) & (ratio <= FACTOR)
        return result

    @property
    def correlation(self) -> float:
        """Spearman's ρ of attributed and patched, from -1 to 1; NaN with fewer than two edges."""
        return float(spearman(self.attributed[None], self.lost[None])[0])

    @property
    def size_correlation(self) -> float:
        """The same of absolute values: the signs alone order half of the pairs."""
        return float(spearman(np.abs(self.attributed)[None], np.abs(self.lost)[None])[0])


def strongest_edges(attributed: Mapping[Edge, float], count: int = STRONGEST) -> dict[Edge, float]:
    """Select the edges with the largest attribution of either sign; one of 0 is not an edge."""
    ordered = sorted(filter(attributed.__getitem__, attributed), key=lambda e: -abs(attributed[e]))
    return {edge: attributed[edge] for edge in ordered[:count]}


def random_edges(
    attributed: Mapping[Edge, float], chosen: Collection[Edge], seed: int = SEED
) -> list[Edge]:
    """Draw as many edges as are chosen from all others."""
    others = [edge for edge in attributed if edge not in chosen]
    count = min(len(chosen), len(others))
    return [others[n] for n in np.random.default_rng(seed).permutation(len(others))[:count]]


def patch_edges(
    model: Transformer,
    trace: AttentionTrace,
    step: int,
    other: int,
    *,
    seed: int | None = None,
    progress: Progress | None = None,
) -> PatchedEdges:
    """Patch the strongest edges between the written piece of a step and another one.

    With a seed, patch as many random ones, too; see `patch_strongest`.
    """
    circuit = Circuit(model, trace, step, other)
    return patch_strongest(circuit, seed=seed, progress=progress)


def patch_strongest(
    circuit: Circuit,
    count: int = STRONGEST,
    seed: int | None = SEED,
    progress: Progress | None = None,
) -> PatchedEdges:
    """Patch the strongest edges, and as many at random unless the seed is None.

    `progress` counts edges.
    """
    attributed = circuit.attributed()
    chosen = strongest_edges(attributed, count)
    others = [] if seed is None else random_edges(attributed, chosen, seed)
    lost = np.array(circuit.patched([*chosen, *others], progress))
    order = np.argsort(-np.abs(lost[: len(chosen)]), kind="stable")
    edges, amounts = [*chosen], np.array([*chosen.values()])
    return PatchedEdges(
        tuple(edges[n] for n in order), amounts[order], lost[order], lost[len(chosen) :]
    )
