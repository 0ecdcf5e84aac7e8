"""Dictionaries of the cross-attention: which pieces a head writes for each piece of the source.

A head is read alone, at the mean output of the encoder for a piece, and compared with the pieces
that the translations of many lines have where the links of the lines say that they belong to it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import AlignmentSettings, read_alignment
from transformer.analysis.heads.head import Head, all_heads, require_heads
from transformer.analysis.lenses.decomposition import head_W_O
from transformer.analysis.stream import norm_of, query_stream, sublayers
from transformer.analysis.teacher_forcing import Progress, no_progress, to_array
from transformer.arrays import AnyFloats, Bools, Floats, Ints
from transformer.attention import MultiHeadAttention, split_heads
from transformer.circuits.writing import centre_logits, copying_scores
from transformer.corpus import resampling
from transformer.corpus.measured import MeasuredLines, places_table
from transformer.corpus.measuring import trace_of
from transformer.errors import InputError
from transformer.kinds import attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translator import Translator

MAX_PIECES = 2_000  # of the source, the most frequent ones of the lines
SHUFFLES, SEED = 2_000, 2
PIECES_AT_ONCE = 256  # whose logits a dictionary computes


@dataclass(frozen=True, eq=False)
class Dictionaries:
    """Dictionaries of every head of the cross-attention for the pieces of many lines."""

    heads: tuple[Head, ...]
    linked: int  # how many pieces of the source have a link
    pieces: tuple[int, ...]  # their token ids, the most frequent first, at most `MAX_PIECES`
    places: tuple[int, ...]  # how often the lines have each piece
    translations: tuple[tuple[int, ...], ...]  # of each, the most frequent first
    entries: Ints  # `[head, piece, entry]`, ids of the pieces that it raises most
    logits: AnyFloats  # `[head, piece, entry]`, by how much, above the mean of the vocabulary
    hits: Bools  # `[head, piece]`, whether the first entry is a translation
    chance: Floats  # `[head]`, the share of hits where translations are shuffled among the pieces
    p: Floats  # `[head]`, of as many hits by chance, corrected for all heads (Holm 1979)


@torch.inference_mode()
def mean_memories(model: Transformer, sources: Sequence[Sequence[int]]) -> dict[int, Tensor]:
    """Average the encoder's output over every place of each source piece, `[d_model]`.

    `sources` are the token ids of lines.
    """
    sums: dict[int, Tensor] = {}
    counts: Counter[int] = Counter()
    for ids in sources:
        row = torch.tensor([ids], device=model.device)
        for id_, vector in zip(ids, model.encode(row)[0].double(), strict=True):
            sums[id_] = sums[id_] + vector if id_ in sums else vector
            counts[id_] += 1
    return {id_: sums[id_] / count for id_, count in counts.items()}


@torch.inference_mode()
def read_dictionary(
    model: Transformer, head: Head, memories: Mapping[int, Tensor], entries: int = 5
) -> tuple[Ints, AnyFloats]:
    """Return what a head of the cross-attention raises most for each source piece, and how much.

    Both are `[piece, entry]`: ids of the target's pieces, and logits above the vocabulary's mean.
    Each deviation of a later norm only scales the logits, so the order needs none: it is 1 here.
    """
    require_heads(model, [head])
    if head.kind != "cross":
        raise InputError(f"{head.title} reads no source: choose a head of the cross-attention.")
    name = attention_name("cross", head.layer)
    attention = model.get_submodule(name)
    assert isinstance(attention, MultiHeadAttention)
    memory = torch.stack(list(memories.values())).to(model.projection.dtype)
    v = split_heads(attention.W_V(memory[None]), attention.h)[0, head.head]
    written = v @ head_W_O(model, "cross", head.layer)[:, head.head].T
    stack, end = query_stream("cross", head.layer)
    for sublayer in sublayers(model, stack)[end:]:
        written = (written - written.mean(-1, keepdim=True)) * norm_of(model, sublayer).weight
    parts = [
        centre_logits(part @ model.projection.T).topk(entries)
        for part in written.split(PIECES_AT_ONCE)
    ]
    values, indices = (torch.cat(parts) for parts in zip(*parts, strict=True))
    return indices.cpu().numpy(), to_array(values)


def linked_pieces(
    translator: Translator, trace: AttentionTrace, settings: AlignmentSettings
) -> Iterator[tuple[int, int]]:
    """Pair the token ids of all pieces whose words are linked."""
    for pair in align(translator, trace, settings):
        for piece in trace.source_pieces:
            if piece.word == pair.source:
                for other in trace.target_pieces:
                    if other.word == pair.target:
                        yield piece.id, other.id


def measure_dictionaries(
    translator: Translator,
    lines: MeasuredLines,
    progress: Progress = no_progress,
) -> Dictionaries:
    """Read the dictionary of every head of the cross-attention over lines and their translations.

    Raises:
        InputError: if fewer than two pieces have a link.
    """
    heads = tuple(head for head in all_heads(translator.model.config) if head.kind == "cross")
    total = len(lines) + len(heads)
    settings = read_alignment(translator)
    links: dict[int, Counter[int]] = {}
    for number, pair in enumerate(lines.pairs, start=1):
        for source, target in linked_pieces(translator, trace_of(translator, pair), settings):
            links.setdefault(source, Counter())[target] += 1
        progress(number, total)
    if len(links) < 2:
        raise InputError("These lines have fewer than two pieces with a link: add lines.")
    counts = Counter(id_ for pair in lines.pairs for id_ in pair.source_ids)
    pieces = sorted(links, key=lambda id_: (-counts[id_], id_))[:MAX_PIECES]
    memories = mean_memories(translator.model, [pair.source_ids for pair in lines.pairs])
    read = []
    for number, head in enumerate(heads, start=1):
        read.append(read_dictionary(translator.model, head, {id_: memories[id_] for id_ in pieces}))
        progress(len(lines) + number, total)
    entries, logits = (np.stack(arrays) for arrays in zip(*read, strict=True))
    translations = [tuple(id_ for id_, _ in links[piece].most_common()) for piece in pieces]
    hits, chance, p = compare_with_chance(
        entries[..., 0], translations, translator.model.config.vocab_size
    )
    return Dictionaries(
        heads,
        len(links),
        tuple(pieces),
        tuple(counts[piece] for piece in pieces),
        tuple(translations),
        entries,
        logits,
        hits,
        chance,
        p,
    )


def compare_with_chance(
    first: Ints, translations: Sequence[Sequence[int]], vocab_size: int
) -> tuple[Bools, Floats, Floats]:
    """Test whether first entries, `[head, piece]`, are translations more often than by chance.

    Each shuffle gives every piece the translations of another at random.
    """
    is_translation = np.zeros((len(translations), vocab_size), dtype=np.bool_)
    for row, ids in enumerate(translations):
        is_translation[row, list(ids)] = True
    rows = np.arange(len(translations))
    hits = is_translation[rows, first]
    draw = np.random.default_rng(SEED)
    shuffled = np.stack(
        [is_translation[draw.permutation(rows), first].mean(-1) for _ in range(SHUFFLES)]
    )  # [shuffle, head]
    p = (1 + (shuffled >= hits.mean(-1)).sum(0)) / (1 + SHUFFLES)
    return hits, shuffled.mean(0), resampling.holm(p)


def dictionaries_table(dictionaries: Dictionaries) -> pd.DataFrame:
    """Return one row a head: its place from 1, its share of hits, that by chance, and p (Holm).

    The interval of the share is that of a bootstrap over the pieces.
    """
    pieces = len(dictionaries.pieces)
    weights = resampling.resampled_weights(pieces, SEED)
    hits = dictionaries.hits.T.astype(np.float64)
    shares = resampling.mean_interval(hits, weights, np.ones(pieces))
    return places_table(dictionaries.heads).assign(
        share=shares.value,
        low=shares.low,
        high=shares.high,
        shuffled=dictionaries.chance,
        p=dictionaries.p,
    )


def entries_table(translator: Translator, dictionaries: Dictionaries, head: Head) -> pd.DataFrame:
    """Return the dictionary of one head: a row for each piece of the source."""
    row = dictionaries.heads.index(head)

    def texts(ids: Sequence[int]) -> str:
        return " ".join(piece.text for piece in translator.target_tokenizer.pieces_of(ids))

    pieces = translator.tokenizer.pieces_of(dictionaries.pieces)
    return pd.DataFrame(
        {
            "piece": [piece.text for piece in pieces],
            "places": dictionaries.places,
            "writes": [texts(ids) for ids in dictionaries.entries[row].tolist()],
            "logit": dictionaries.logits[row, :, 0],
            "translations": [texts(ids) for ids in dictionaries.translations],
            "first is one": dictionaries.hits[row],
        }
    )


def copying_table(model: Transformer) -> pd.DataFrame:
    """Return one row a self-attention head: its place from 1, and its copying score."""
    scores = copying_scores(model)
    return places_table(scores).assign(**{"copying score": list(scores.values())})
