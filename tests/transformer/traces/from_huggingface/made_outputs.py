"""Outputs in the layout of transformers, made by hand from maps that are known."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from transformer import AttentionTrace, Kind

HOT = 0.9125
PAD, BOS, EOS, UNK = range(4)
FIRST = 10  # of the ids that stand for text; each stands once in a sentence


class MadeTokenizer:
    """A tokenizer of transformers with what is asked of it, and nothing else."""

    all_special_tokens = ("<s>", "</s>", "<pad>", "<unk>")
    pad_token, bos_token, eos_token, unk_token = "<pad>", "<s>", "</s>", "<unk>"
    pad_token_id, bos_token_id, eos_token_id = PAD, BOS, EOS

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        names = {PAD: "<pad>", BOS: "<s>", EOS: "</s>", UNK: "<unk>"}
        return [names.get(i, f"▁t{i}" if i >= FIRST else None) for i in ids]


TOKENIZER = MadeTokenizer()
SOURCES = torch.tensor([[11, 12, 13, 14, EOS], [21, 22, EOS, PAD, PAD]])
SOURCE_MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
INPUTS = {"input_ids": SOURCES, "attention_mask": SOURCE_MASK}


def rows(
    layers: int, heads: int, queries: int, keys: int, *, seed: int, causal: bool = False
) -> np.ndarray:
    """`[layer, head, query, key]`, no two values alike, rows that sum to 1."""
    values = np.random.default_rng(seed).random((layers, heads, queries, keys)) + 0.05
    values = np.tril(values) if causal else values
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def plant(maps: np.ndarray, at: tuple[int, int, int, int]) -> np.ndarray:
    """The same with one cell that has more of its row than any other cell of any row."""
    layer, head, query, key = at
    maps = maps * np.float32(0.5)  # so no first row, which sees one key alone, has 1
    maps[layer, head, query] = 0
    maps[layer, head, query, key] = HOT
    return maps


def per_layer(sentences: list[np.ndarray]) -> tuple[torch.Tensor, ...]:
    """`[layer, head, query, key]` of each sentence as a forward pass returns them."""
    return tuple(torch.tensor(np.stack(layer)) for layer in zip(*sentences, strict=True))


@dataclass
class Sequence:
    """One sequence that was generated, and where each of its positions looked."""

    ids: list[int]  # the prompt, then what was written: position i reads ids[i], writes the next
    prompt: int  # tokens of the prompt
    own: np.ndarray  # [layer, head, position, position] of all positions that were read
    cross: np.ndarray | None = None  # [layer, head, position, source]; None of a decoder alone


def generated(
    sequences: list[Sequence],
    *,
    beams: list[list[int]] | None = None,
    size: int = 0,
    style: str = "cache",
    window: int = 0,
) -> SimpleNamespace:
    """Build the outputs of `generate`: for each step, layer and row what that step looked at.

    `beams` is the row of each step that each sequence came through. `style` is `cache`, a row for
    the new token alone; `whole`, rows for all; `static`, with keys of later positions; or `window`,
    the last keys.
    """
    prompt = sequences[0].prompt
    longest = max(len(entry.ids) for entry in sequences)
    steps = [
        [
            _rows_of_step(sequences, beams, size or len(sequences), step, style, window, name)
            for name in ("own", "cross")
        ]
        for step in range(longest - prompt)
    ]
    own, cross = (tuple(step[n] for step in steps) for n in range(2))
    outputs: dict[str, Any] = {
        "sequences": torch.tensor(
            [entry.ids + [PAD] * (longest - len(entry.ids)) for entry in sequences]
        )
    }
    if beams is not None:
        longest_beam = max(map(len, beams))
        outputs["beam_indices"] = torch.tensor([b + [-1] * (longest_beam - len(b)) for b in beams])
    if sequences[0].cross is None:
        return SimpleNamespace(**outputs, attentions=own)
    return SimpleNamespace(**outputs, decoder_attentions=own, cross_attentions=cross)


def _rows_of_step(
    sequences: list[Sequence],
    beams: list[list[int]] | None,
    size: int,
    step: int,
    style: str,
    window: int,
    name: str,
) -> tuple[torch.Tensor, ...]:
    truth = getattr(sequences[0], name)
    if truth is None:
        return ()
    end = sequences[0].prompt + step
    first = 0 if step == 0 or style == "whole" else end - 1
    keys = end if name == "own" else truth.shape[-1]
    weights = np.full((size, *truth.shape[:2], end - first, keys), 1 / keys, np.float32)
    for number, entry in enumerate(sequences):
        maps = getattr(entry, name)
        came = number if beams is None else (*beams[number], *[-1] * size * 99)[step]
        if came >= 0 and end <= maps.shape[2]:
            weights[came] = maps[:, :, first:end, : end if name == "own" else None]
    if name == "own" and style == "static":
        longest = max(len(entry.ids) for entry in sequences)
        weights = np.pad(weights, [(0, 0)] * 4 + [(0, longest - end)])
    if name == "own" and style == "window" and step:
        weights = weights[..., -window:]
    return tuple(torch.tensor(weights[:, layer]) for layer in range(weights.shape[1]))


def sequence(ids: list[int], prompt: int, seed: int, source: int = 0) -> Sequence:
    """Its own map has the row of the last position at the first, and cross the same at key 1."""
    read = len(ids) - 1
    own = plant(rows(2, 4, read, read, seed=seed, causal=True), (1, 2, read - 1, 0))
    cross = rows(2, 3, read, source, seed=seed + 50) if source else None
    return Sequence(ids, prompt, own, None if cross is None else plant(cross, (0, 1, read - 1, 1)))


def read_back(trace: AttentionTrace, kind: Kind) -> tuple[int, int, str, str]:
    """Layer, head and tokens of the largest weight, from the frame; the labels say the same."""
    frame = trace.to_frame()
    cells = frame[frame["kind"] == kind]
    row = cells.iloc[int(np.argmax(cells["weight"]))]
    assert row.weight == np.float32(HOT)
    layer, head, query, key = (int(row[name]) for name in ("layer", "head", "query", "key"))
    labels = trace.labels(kind)
    assert trace.weights(kind)[layer, head, query, key] == np.float32(HOT)
    assert (labels.queries[query], labels.keys[key]) == (row.query_token, row.key_token)
    return layer, head, row.query_token, row.key_token
