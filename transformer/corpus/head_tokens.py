"""The tokens, and pairs of tokens, to which one head gives most of its weight over the lines."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from transformer import config, kinds
from transformer.analysis import teacher_forcing
from transformer.analysis.heads.head import Head, require_heads
from transformer.analysis.teacher_forcing import Progress, no_progress
from transformer.arrays import Floats
from transformer.corpus import measured, passes
from transformer.model import Transformer
from transformer.translator import Translator

MAX_PAIRS = 200  # rows of each table


@dataclass(frozen=True, eq=False)
class HeadTokens:
    """Sums of one head's weights over the lines, the largest first."""

    # columns `key`, `weight` (sum over all rows), `share` (of all weight), `count` (times that it
    # could be seen by a row) and `mean` (weight each time)
    keys: pd.DataFrame
    pairs: pd.DataFrame  # the same by `query` and `key`


def head_tokens(
    translator: Translator,
    lines: measured.MeasuredLines,
    place: Head,
    *,
    progress: Progress = no_progress,
) -> HeadTokens:
    """Sum the weights of a head by key, and by query and key; rows are named as on its map."""
    require_heads(translator.model, [place])
    tables = []
    done = 0
    for rows, batch in passes.batches_of(translator.model, lines.pairs):
        weights = _weights(translator.model, batch, place)
        cells = []
        for row, weight in zip(rows, weights, strict=True):
            source, written = lines.pairs[row].source_ids, lines.pairs[row].target_ids
            read = (config.BOS, *written[:-1])
            queries, keys = kinds.axes(place.kind, source, read, written)
            seen = np.ones((len(queries), len(keys)), dtype=bool)
            at = np.nonzero(np.tril(seen) if place.kind == "decoder_self" else seen)
            cells.append((np.array(queries)[at[0]], np.array(keys)[at[1]], weight[at]))
        columns = (np.concatenate(parts) for parts in zip(*cells, strict=True))
        table = pd.DataFrame(dict(zip(("query", "key", "weight"), columns, strict=True)))
        tables.append(table.assign(count=1).groupby(["query", "key"], as_index=False).sum())
        done += len(rows)
        progress(done, len(lines))
    pairs = pd.concat(tables).groupby(["query", "key"], as_index=False).sum()
    keys_alone = pairs.groupby("key", as_index=False)[["weight", "count"]].sum()
    return HeadTokens(*(_largest_rows(translator, place, table) for table in (keys_alone, pairs)))


@torch.inference_mode()
def _weights(model: Transformer, batch: teacher_forcing.ForcedPair, place: Head) -> Floats:
    """Return the weights of one head, `[sentence, query, key]`."""
    point = f"{kinds.attention_name(place.kind, place.layer)}.hook_pattern"
    _, cache = model.run_with_cache(batch.source, batch.target, names=point.__eq__)
    return cache[point][:, place.head].double().cpu().numpy()


def _largest_rows(translator: Translator, place: Head, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of most weight, their tokens as text, with share and mean."""
    total = table["weight"].sum()
    table = table.sort_values("weight", ascending=False, kind="stable").head(MAX_PAIRS)
    source, target = translator.tokenizer, translator.target_tokenizer
    for name, tokenizer in (
        ("query", source if place.kind == "encoder_self" else target),
        ("key", target if place.kind == "decoder_self" else source),
    ):
        if name in table:
            table[name] = [piece.text for piece in tokenizer.pieces_of(table[name].tolist())]
    table["share"] = table["weight"] / total
    table["mean"] = table["weight"] / table["count"]
    return table.reset_index(drop=True)
