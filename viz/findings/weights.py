"""Findings: what they are, and those from the weights of a trace alone, of any model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
from viz.draw.formatting import format_bound, format_number, listing, per_cent
from viz.draw.labels import (
    KINDS_BY_NAME,
    ROW_NAMES,
    SCREEN_NAMES,
    capitalised,
    display_tokens,
    head_name,
    named_head,
    quoted,
)


@dataclass(frozen=True)
class Finding:
    """One thing that is worth seeing on a sentence: where, how much or what changed, never why."""

    text: str  # one plain sentence
    strength: float  # how much it is worth seeing, from 0 to 1, by which findings are ranked
    page: str  # path of the page that shows it
    choices: Mapping[str, str] = field(default_factory=dict)  # its parameters in the URL


def head_choices(head: Head) -> dict[str, str]:
    """Return the URL parameters that open a head."""
    kind, layer, number = head
    return {"kind": SCREEN_NAMES[kind], "layer": str(layer + 1), "head": str(number + 1)}


def chosen_head(choices: Mapping[str, str]) -> Head:
    """Return the head that URL parameters open; see `head_choices`."""
    layer, number = int(choices["layer"]) - 1, int(choices["head"]) - 1
    return Head(KINDS_BY_NAME[choices["kind"]], layer, number)


MOST = 0.5
"""Share of a row's weight above which a head is said to look at one place, mean over the rows.
Just so much has each of two tokens where a head tells nothing apart."""
MANY = 0.3
"""Share of the heads of a kind of which it is worth saying that they look at the end token."""


def are_shares(trace: AttentionTrace) -> bool:
    """Return whether every row sums to 1: external arrays may not."""
    return all(
        bool((layer[:n] >= 0).all() and (np.abs(layer[:n].sum(-1) - 1) <= TOLERANCE).all())
        for kind in trace.kinds
        for layer, n in zip(trace.weights(kind), trace.head_count(kind), strict=True)
    )


def looked_at(trace: AttentionTrace) -> Finding | None:
    """Find the written and the source word, spelt differently, on which most heads agree."""
    cells = word_cells(trace)
    if cells is None:
        return None
    heads = (trace.cross > MOST).sum((0, 1)) * cells  # [query, key]
    query, key = map(int, np.unravel_index(heads.argmax(), heads.shape))
    weights = trace.cross[:, :, query, key]
    layer, number = map(int, np.unravel_index(weights.argmax(), weights.shape))
    head, weight = Head("cross", layer, number), float(weights.max())
    agreeing, total = int(heads[query, key]), int(trace.existing_heads("cross").sum())
    if not agreeing:
        return None
    written = quoted(display_tokens(trace.target_tokens)[query])
    read = quoted(display_tokens(trace.source_tokens)[key])
    return Finding(
        f"When the model writes {written}, {agreeing} of {total} cross-attention heads "
        f"{'looks' if agreeing == 1 else 'look'} mostly at {read}; {named_head(*head)} gives it "
        f"{per_cent(weight)}.",
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


Marks = npt.NDArray[np.bool_]


def word_cells(trace: AttentionTrace) -> Marks | None:
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
        cells: Marks = queries[:, None] & keys & (spelt[0][:, None] != spelt[1])
        if cells.any():
            return cells
    return None


def _are_words(tokens: Sequence[str], special: SpecialTokens, *, whole: bool) -> Marks:
    """Mark the tokens with a letter, `[token]`; of pieces, with `whole`, those that are a word."""
    marked = any(token.startswith(WORD_START) for token in tokens)
    starts = [not marked or t in special.tokens or t.startswith(WORD_START) for t in tokens]
    alone = [a and (b or not has_letter(t)) for a, b, t in zip(
        starts, [*starts[1:], True], [*tokens[1:], ""], strict=True
    )]  # fmt: skip
    words = [has_letter(t) and t not in special.tokens for t in tokens]
    return np.array(words) & (np.array(alone) if whole else True)


def neighbours(trace: AttentionTrace) -> Finding | None:
    """Find the layer in which most heads look one token back or ahead; it opens two of them."""
    layers: list[tuple[int, float, Kind, int, npt.NDArray[np.float64]]] = [
        (int((shares.max(0) > MOST).sum()), float(shares.max()), kind, layer, shares)
        for kind in trace.kinds
        if kind != "cross"
        for layer, shares in enumerate(neighbour_shares(trace, kind))  # [side, head]
    ]
    if not any(count for count, *_ in layers):
        return None
    count, largest, kind, layer, shares = max(layers, key=lambda entry: entry[:2])
    sides = [
        (where, sorted(np.flatnonzero(side > MOST).tolist(), key=lambda n: -side[n]))
        for where, side in zip(("back", "ahead"), shares, strict=True)
    ]
    least = float(shares[shares > MOST].min())
    texts = [
        f"{listing([named_head(kind, layer, n) for n in sorted(heads)])} "
        f"{'looks' if len(heads) == 1 else 'look'} one token {where}"
        for where, heads in sides
        if heads
    ]
    share = f"{per_cent(least)} of its weight"
    if count > 1:
        share = f"{format_bound(100 * least, 0, lower=True)}\u00a0% or more of their weight"
    first, *others = [head for _, heads in sides for head in heads[:1]]
    return Finding(
        f"{capitalised(', '.join(texts))} ({share}).",
        strength=0.9 * largest,
        page="heads",
        choices={
            **head_choices(Head(kind, layer, first)),
            **({"over": head_name(layer, others[0])} if others else {}),
        },
    )


def neighbour_shares(trace: AttentionTrace, kind: Kind) -> npt.NDArray[np.float64]:
    """Compute the mean share of each head on the token before and after, `[layer, side, head]`."""
    weights = trace.weights(kind)
    if min(weights.shape[2:]) < 2:
        return np.zeros((len(weights), 2, weights.shape[1]))
    sides = [
        np.diagonal(weights, offset, axis1=2, axis2=3).mean(-1, dtype=np.float64)
        for offset in (-1, 1)
    ]
    return np.where(trace.existing_heads(kind)[:, None], np.stack(sides, 1), 0)


def sinks(trace: AttentionTrace) -> Finding | None:
    """Find the kind of which most heads give most of their weight to the end token."""
    values = {kind: end_shares(trace, kind) for kind in trace.kinds}
    existing = {kind: int(trace.existing_heads(kind).sum()) for kind in trace.kinds}
    shares = {kind: float((x > MOST).sum() / existing[kind]) for kind, x in values.items()}
    if not shares or max(shares.values()) < MANY:
        return None
    kind = max(shares, key=shares.__getitem__)
    heads = int((values[kind] > MOST).sum())
    end = next(key for key in trace.labels(kind).keys if key in trace.special.ends)
    layer, head = map(int, np.unravel_index(values[kind].argmax(), values[kind].shape))
    return Finding(
        f"{heads} of {existing[kind]} {SCREEN_NAMES[kind]} heads "
        f"{'gives' if heads == 1 else 'give'} more than half of the weight to {quoted(end)}. "
        "“Without sinks”, under Options, shows the rest.",
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
    return np.where(trace.existing_heads(kind), shares, 0)


def most_confident(trace: AttentionTrace) -> Finding | None:
    """Find the head of most confidence, the end token aside, if it exceeds `MOST`."""
    places: list[tuple[float, Head]] = []
    for kind in trace.kinds:
        values = np.nan_to_num(measure(by_pieces(trace, kind), kind, "confidence"))
        layer, head = map(int, np.unravel_index(values.argmax(), values.shape))
        places.append((float(values[layer, head]), Head(kind, layer, head)))
    value, place = max(places, key=lambda pair: pair[0], default=(0.0, Head("cross", 0, 0)))
    if value <= MOST or len(trace.labels(place.kind).keys) < 2:
        return None
    return Finding(
        f"{capitalised(named_head(*place))} is the most confident head: the largest weight of a "
        f"row is {format_number(value)} on average.",
        strength=0.1,
        page="heads",
        choices=head_choices(place),
    )
