"""Findings from the weights of a trace alone: our own model's, or anybody's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from transformer import AttentionTrace, Kind
from transformer.analysis.axes import by_pieces, first_counted_row
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import measure
from transformer.text.special_tokens import SpecialTokens
from transformer.text.tokenizer import WORD_START
from transformer.text.words import has_letter
from transformer.traces.notes import TOLERANCE
from viz.draw.formatting import format_number, listing, per_cent
from viz.draw.labels import ROW_NAMES, SCREEN_NAMES, display_tokens, head_name, head_title, quoted
from viz.findings.finding import Claim, Finding, head_choices

MOST = 0.5
"""Share of a row's weight above which a head is said to look at one place, mean over the rows.
Just so much has each of two tokens where a head tells nothing apart."""
MANY = 0.3
"""Share of the heads of a kind of which it is worth saying that they look at the end token."""


def are_shares(trace: AttentionTrace) -> bool:
    """Return whether every row is shares that sum to 1: arrays from elsewhere may hold others."""
    return all(
        bool((heads >= 0).all() and (np.abs(heads.sum(-1) - 1) <= TOLERANCE).all())
        for kind in trace.kinds
        for heads in (
            layer[:count]
            for layer, count in zip(trace.weights(kind), trace.head_count(kind), strict=True)
        )
    )


def looked_at(trace: AttentionTrace) -> Finding | None:
    """Find the written word and the source word between which most heads of cross-attention agree.

    Both are spelt differently, and words of one piece come first.
    """
    cells = word_cells(trace)
    if cells is None:
        return None
    heads = (trace.cross > MOST).sum((0, 1)) * cells  # [query, key]
    query, key = map(int, np.unravel_index(heads.argmax(), heads.shape))
    weights = trace.cross[:, :, query, key]
    layer, number = map(int, np.unravel_index(weights.argmax(), weights.shape))
    head, weight = Head("cross", layer, number), float(weights.max())
    agreeing, total = int(heads[query, key]), int(trace.has_head("cross").sum())
    if not agreeing:
        return None
    written = quoted(display_tokens(trace.target_tokens)[query])
    read = quoted(display_tokens(trace.source_tokens)[key])
    return Finding(
        f"While writing {written}, {agreeing} of {total} cross-attention heads give more than "
        f"half of their weight to {read}; {head_name(layer, number)} gives {per_cent(weight)}.",
        (
            Claim("heads that agree on a cell", (query, key), float(agreeing)),
            Claim("weight", (head, query, key), weight),
        ),
        strength=min(1.0, 0.5 + agreeing / total),
        page="heads",
        choices={
            **head_choices(head),
            # the row as the sentence names it, on a map of subwords
            "heads-map-row": str(query + 1),
            "rows": ROW_NAMES["writes"],
            "words": "false",
        },
    )


def word_cells(trace: AttentionTrace) -> npt.NDArray[np.bool_] | None:
    """Mark the cells of cross-attention between two words that are spelt differently.

    `[query, key]`; between words that are one piece where there are some. None where there is no
    such cell, no cross-attention, or where it is not known what the decoder writes.
    """
    if not len(trace.cross) or not trace.writes_known:
        return None
    labels = trace.labels("cross")
    spelt = [np.array([t.removeprefix(WORD_START).casefold() for t in tokens]) for tokens in labels]
    for whole in (True, False):
        queries, keys = (_are_words(tokens, trace.special, whole=whole) for tokens in labels)
        cells: npt.NDArray[np.bool_] = queries[:, None] & keys & (spelt[0][:, None] != spelt[1])
        if cells.any():
            return cells
    return None


def _are_words(
    tokens: tuple[str, ...], special: SpecialTokens, *, whole: bool
) -> npt.NDArray[np.bool_]:
    """Mark the tokens with a letter, `[token]`; of pieces, with `whole`, those that are a word."""
    marked = any(token.startswith(WORD_START) for token in tokens)
    starts = [not marked or t in special.tokens or t.startswith(WORD_START) for t in tokens]
    alone = [a and (b or not has_letter(t)) for a, b, t in zip(
        starts, [*starts[1:], True], [*tokens[1:], ""], strict=True
    )]  # fmt: skip
    words = [has_letter(t) and t not in special.tokens for t in tokens]
    return np.array(words) & (np.array(alone) if whole else True)


def neighbours(trace: AttentionTrace) -> Finding | None:
    """Find the layer in which most heads look one token back or ahead."""
    layers: list[tuple[float, Kind, int, list[int], float]] = []
    for kind in trace.kinds:
        if kind == "cross":
            continue
        shares = neighbour_shares(trace, kind)  # [layer, head]
        for layer, row in enumerate(shares):
            heads = np.flatnonzero(row > MOST).tolist()
            if heads:
                layers.append((float(row.max()), kind, layer, heads, float(row[heads].min())))
    if not layers:
        return None
    largest, kind, layer, heads, least = max(layers, key=lambda entry: (len(entry[3]), entry[0]))
    names = [head_name(layer, head) for head in heads]
    verb, share = ("looks", "with") if len(names) == 1 else ("look", "each with")
    where = "back or ahead" if kind == "encoder_self" or not trace.causal else "back"
    best = int(neighbour_shares(trace, kind)[layer].argmax())
    return Finding(
        f"In layer {layer + 1} of {SCREEN_NAMES[kind]} self-attention, {listing(names)} {verb} one "
        f"token {where}, {share} at least {per_cent(least)} of its weight.",
        (
            Claim("heads that look at a neighbour", (kind, layer), float(len(heads))),
            Claim("least of their shares", (kind, layer), least),
        ),
        strength=0.9 * largest,
        page="heads",
        choices=head_choices(Head(kind, layer, best)),
    )


def neighbour_shares(trace: AttentionTrace, kind: Kind) -> npt.NDArray[np.float64]:
    """Compute the share of each head on the token before or after, whichever is larger.

    `[layer, head]`, the mean over the rows that have such a neighbour; 0 where no row has one.
    """
    weights = trace.weights(kind)
    if min(weights.shape[2:]) < 2:
        return np.zeros(weights.shape[:2])
    before, after = (
        np.diagonal(weights, offset, axis1=2, axis2=3).mean(-1, dtype=np.float64)
        for offset in (-1, 1)
    )
    shares: npt.NDArray[np.float64] = np.maximum(before, after)
    return np.where(trace.has_head(kind), shares, 0)


def sinks(trace: AttentionTrace) -> Finding | None:
    """Find the kind of which most heads give most of their weight to the end token."""
    counts = {kind: end_shares(trace, kind) for kind in trace.kinds}
    shares = {
        kind: float((values > MOST).sum() / trace.has_head(kind).sum())
        for kind, values in counts.items()
    }
    if not shares or max(shares.values()) < MANY:
        return None
    kind = max(shares, key=lambda name: shares[name])
    heads = int((counts[kind] > MOST).sum())
    end = next(key for key in trace.labels(kind).keys if key in trace.special.ends)
    layer, head = map(int, np.unravel_index(counts[kind].argmax(), counts[kind].shape))
    return Finding(
        f"{heads} of {int(trace.has_head(kind).sum())} {SCREEN_NAMES[kind]} heads "
        f"{'gives' if heads == 1 else 'give'} more than half of the weight to {quoted(end)}; "
        "“Without sinks” shows the rest.",
        (Claim("heads on the end token", (kind,), float(heads)),),
        strength=0.3 + shares[kind] / 2,
        page="heads",
        choices=head_choices(Head(kind, layer, head)),
    )


def end_shares(trace: AttentionTrace, kind: Kind) -> npt.NDArray[np.float64]:
    """Compute the share of each head on tokens that end a text, `[layer, head]`, mean over rows."""
    queries, keys = trace.labels(kind)
    first = first_counted_row(len(queries), causal=kind == "decoder_self" and trace.causal)
    ends = np.array([key in trace.special.ends for key in keys])
    shares: npt.NDArray[np.float64] = (
        trace.weights(kind)[:, :, first:, ends].astype(np.float64).sum(-1).mean(-1)
    )
    return np.where(trace.has_head(kind), shares, 0)


def most_decided(trace: AttentionTrace) -> Finding | None:
    """Find the head whose largest weights are largest, the end token aside, if it is decided."""
    values = {
        kind: np.nan_to_num(measure(by_pieces(trace, kind), kind, "confidence"))
        for kind in trace.kinds
    }
    if not values:
        return None
    kind = max(values, key=lambda name: float(values[name].max()))
    layer, head = map(int, np.unravel_index(values[kind].argmax(), values[kind].shape))
    value = float(values[kind][layer, head])
    if value <= MOST or len(trace.labels(kind).keys) < 2:
        return None
    place = Head(kind, layer, head)
    return Finding(
        f"The most decided head is {head_title(*place)}: the largest weight of a row is "
        f"{format_number(value)} on average.",
        (Claim("largest weight of a row", (place,), value),),
        strength=0.1,
        page="heads",
        choices=head_choices(place),
    )
