"""The tokens, and pairs of tokens, to which one head gives most of its weight over the lines."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from transformer.analysis.corpus.measured import Floats, LinePair, MeasuredLines
from transformer.analysis.corpus.passes import batches_of
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.teacher_forcing import ForcedPair
from transformer.config import BOS
from transformer.kinds import attention_name
from transformer.model import Transformer
from transformer.translator import Translator

MAX_PAIRS = 200
"""Rows of each table."""


@dataclass(frozen=True, eq=False)
class HeadTokens:
    """Sums of one head's weights over the lines, the largest first."""

    # columns `key`, `weight` (sum over all rows), `share` (of all weight), `count` (times that it
    # could be seen by a row) and `mean` (weight each time)
    keys: pd.DataFrame
    pairs: pd.DataFrame  # the same by `query` and `key`


def head_tokens(
    translator: Translator,
    lines: MeasuredLines,
    place: Head,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> HeadTokens:
    """Sum the weights of a head by key, and by query and key; rows are named as on its map."""
    require_heads(translator.model, [place])
    config = translator.model.config
    size = max(config.vocab_size, config.source_vocab_size or 0)
    sums: dict[int, tuple[float, int]] = {}
    done = 0
    for rows, batch in batches_of(translator.model, lines.pairs):
        weights = _weights(translator.model, batch, place)
        codes, values = [], []
        for row, weight in zip(rows, weights, strict=True):
            queries, keys = _ids(lines.pairs[row], place)
            own = weight[: len(queries), : len(keys)]
            seen = np.ones(own.shape, dtype=bool)
            if place.kind == "decoder_self":
                seen = np.tril(seen)
            codes.append((np.array(queries)[:, None] * size + np.array(keys))[seen])
            values.append(own[seen])
        _add(sums, np.concatenate(codes), np.concatenate(values))
        done += len(rows)
        progress(done, len(lines))
    return _tables(translator, place, sums, size)


@torch.inference_mode()
def _weights(model: Transformer, batch: ForcedPair, place: Head) -> Floats:
    """Return the weights of one head, `[sentence, query, key]`."""
    point = f"{attention_name(place.kind, place.layer)}.hook_pattern"
    _, cache = model.run_with_cache(batch.source, batch.target, names=point.__eq__)
    return cache[point][:, place.head].double().cpu().numpy()


def _ids(pair: LinePair, place: Head) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the token ids of the rows and of the columns."""
    read = (BOS, *pair.target_ids[:-1])
    return {
        "encoder_self": (pair.source_ids, pair.source_ids),
        "decoder_self": (read, read),
        "cross": (pair.target_ids, pair.source_ids),
    }[place.kind]


def _add(sums: dict[int, tuple[float, int]], codes: np.ndarray, values: Floats) -> None:
    unique, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    totals = np.bincount(inverse.ravel(), weights=values)
    for code, total, count in zip(unique.tolist(), totals, counts.tolist(), strict=True):
        weight, before = sums.get(code, (0.0, 0))
        sums[code] = (weight + float(total), before + count)


def _tables(
    translator: Translator, place: Head, sums: dict[int, tuple[float, int]], size: int
) -> HeadTokens:
    codes = np.array(list(sums))
    table = pd.DataFrame(
        {
            "query": codes // size,
            "key": codes % size,
            "weight": [weight for weight, _ in sums.values()],
            "count": [count for _, count in sums.values()],
        }
    )
    total = table["weight"].sum()
    by_key = table.groupby("key", as_index=False)[["weight", "count"]].sum()
    texts = [
        {piece.id: piece.text for piece in tokenizer.pieces_of(sorted(set(ids.tolist())))}
        for tokenizer, ids in zip(
            (
                translator.tokenizer
                if place.kind == "encoder_self"
                else translator.target_tokenizer,
                translator.target_tokenizer
                if place.kind == "decoder_self"
                else translator.tokenizer,
            ),
            (table["query"], table["key"]),
            strict=True,
        )
    ]
    results = []
    for frame in (by_key, table):
        frame = frame.sort_values("weight", ascending=False, kind="stable").head(MAX_PAIRS)
        for name, names in zip(("query", "key"), texts, strict=True):
            if name in frame:
                frame[name] = frame[name].map(names)
        frame["share"] = frame["weight"] / total
        frame["mean"] = frame["weight"] / frame["count"]
        results.append(frame.reset_index(drop=True))
    return HeadTokens(*results)
