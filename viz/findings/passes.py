"""Findings that take one more pass of the model over the sentence and its translation."""

from collections.abc import Mapping, Sequence

import numpy as np

from transformer import AttentionTrace, Translator
from transformer.analysis import source_share, teacher_forcing
from transformer.analysis.heads import removal, removal_text
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal_order import RemovalOrder, with_next_place
from transformer.circuits.edges import Edge, Input, PatchedEdges
from transformer.circuits.score import split_scores
from transformer.circuits.writing import written_logits
from transformer.paper import arithmetic, costs, scaling
from transformer.paper.masking import leak
from transformer.paper.positions import Edit
from viz.draw import word_links
from viz.draw.formatting import format_number, per_cent
from viz.draw.labels import capitalised, display_tokens, named_head, quoted
from viz.findings.weights import MOST, Finding, head_choices, word_cells

ATTENTION = (costs.ENCODER_ATTENTION, costs.DECODER_ATTENTION, costs.CROSS_ATTENTION)
SHARPENED = 0.85  # largest weight that another scale still changes visibly
NOTABLE_PART = 0.2  # share of a score that one part gives
NOTABLE = 0.005  # change of a log probability that its two decimals show
WRITTEN = 0.1  # logit from which a head writes more than hardly anything, as the page says
READ = 3  # heads of the last layer whose writing is read, each with a pass of the model

LETTERS = 4
"""Letters from which a word counts there: shorter ones are mostly articles and auxiliaries."""


def hardly_used(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Find the least used source word, of several letters and unique in its sentence."""
    words = word_links.word_texts(trace.source_pieces)
    candidates = [
        n
        for n, word in enumerate(words)
        if len(word) >= LETTERS and word.isalpha() and words.count(word) == 1
    ]
    if not candidates or not trace.target_pieces:
        return None
    used = source_share.by_words(source_share.source_shares(translator, trace), trace).used
    number = min(candidates, key=lambda n: float(used[n]))
    value = float(used[number])
    if value > source_share.HARDLY_USED:
        return None
    return Finding(
        f"The translation hardly uses {quoted(words[number])}: its largest share in a written word "
        f"is {format_number(value)}.",
        strength=1 - value,
        page="translate",
        choices={"where_from": "true"},
    )


def _confident_cell(trace: AttentionTrace) -> tuple[Head, int, int] | None:
    """Find a head of the cross-attention, a query and the word that it mostly looks at."""
    cells = word_cells(trace)
    if cells is None:
        return None
    weights = np.where(cells & (trace.cross <= SHARPENED), trace.cross, 0)
    layer, number, query, key = map(int, np.unravel_index(weights.argmax(), weights.shape))
    return (Head("cross", layer, number), query, key) if weights.max() > MOST else None


def split_score(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Find what gives most to the score of the word of `scaled_score`, beyond that of its row."""
    if (cell := _confident_cell(trace)) is None:
        return None
    head, query, key = cell
    keys = range(len(trace.source_tokens))
    split = split_scores(translator.model, trace, head, query, [key], mean_over=keys)
    beyond, by_writer = float(split.scores[0] - split.scores[1]), split.difference().sum(0)
    most = int(by_writer.argmax())  # of the key, over all parts of the query
    if not NOTABLE < NOTABLE_PART * beyond <= by_writer[most]:
        return None
    word, writer = quoted(display_tokens(trace.source_tokens)[key]), split.key_writers[most]
    own = {"token": "its token", "position": "its position", "biases": "the biases"}
    return Finding(
        f"In {named_head(*head)}, {word} scores {format_number(beyond)} above the mean of its row; "
        f"the largest part, {format_number(float(by_writer[most]))}, is from "
        f"{own.get(writer.part, writer.title)}.",
        strength=min(float(by_writer[most]) / beyond, 1.0) / 2,
        page="inside",
        choices={**head_choices(head), "word": str(query + 1)},
    )


def written_word(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Find a head that writes, at the one word that it looks at, just what the translation has.

    Of the last layer, which writes most directly, those heads are read that look hardest at a word.
    """
    cells, layer = word_cells(trace), len(trace.cross) - 1
    if cells is None:
        return None
    weights = np.where(cells, trace.cross[layer], 0)
    pieces = [piece.id for piece in trace.target_pieces]
    results = []
    for number in np.argsort(-weights.max((1, 2)), kind="stable")[:READ].tolist():
        query, key = map(int, np.unravel_index(weights[number].argmax(), cells.shape))
        if weights[number, query, key] <= MOST:
            break
        head = Head("cross", layer, number)
        logits = written_logits(translator.model, trace, head, query, [key])[0]
        second, first = map(float, np.partition(logits, -2)[-2:])
        if int(logits.argmax()) == pieces[query] and first >= WRITTEN:
            results.append((1 - max(second, 0) / first, head, query, key, first))
    if not results:
        return None
    lead, head, query, key, logit = max(results)
    read = quoted(display_tokens(trace.source_tokens)[key])
    written = quoted(display_tokens(trace.target_tokens)[query])
    return Finding(
        f"{capitalised(named_head(*head))} looks at {read} and pushes for {written}, the word "
        f"that the model writes: {format_number(logit, sign=True)} in its logit, more than for any "
        f"other.",
        strength=lead / 2,
        page="inside",
        choices={**head_choices(head), "word": str(query + 1)},
    )


INPUT_NAMES: Mapping[Input, str] = {"q": "query", "k": "key", "v": "value"}


def edge_text(edge: Edge, lost: float, names: Sequence[str]) -> str:
    """Describe an edge, and for which of two subwords it speaks with how many nats."""
    favoured, other = map(quoted, names if lost > 0 else names[::-1])
    return (
        f"{edge.writer.title} through the {INPUT_NAMES[edge.input]} of {named_head(*edge.reader)}, "
        f"{format_number(abs(lost))} nats for {favoured}, not {other}."
    )


def strongest_edge(patched: PatchedEdges, step: int, names: Sequence[str]) -> Finding | None:
    """Find the strongest of some patched edges at a step, for one of two subwords."""
    lost = float(patched.lost[0]) if len(patched.lost) else 0.0
    if abs(lost) < NOTABLE:
        return None
    edge = patched.edges[0]
    return Finding(
        f"Strongest edge, patched: {edge_text(edge, lost, names)}",
        strength=1 - float(np.exp(-abs(lost))),
        page="roles",
        choices={
            **head_choices(edge.reader),
            "roles_view": "Why this word",
            "written": str(step + 1),
        },
    )


def scaled_score(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Compare the weight of a word with what √d_k, multiplied instead of divided, would give it."""
    if (cell := _confident_cell(trace)) is None:
        return None
    head, query, key = cell
    layer, number = head.layer, head.head
    values = arithmetic.sublayer_values(translator.model, trace, "cross", layer)
    scores = values.scores[number, query].astype(np.float64)
    weight, score = float(values.weights[number, query, key]), float(scores[key])
    d_k = values.q.shape[-1]
    sharper = float(scaling.softmax(scores * d_k)[key])  # q·k / √d_k times d_k is q·k times √d_k
    word = quoted(display_tokens(trace.source_tokens)[key])
    return Finding(
        f"In {named_head(*head)}, {word} scores {format_number(score)} and gets "
        f"{per_cent(weight)}. With q · k multiplied by √dₖ instead of divided, it would get "
        f"{per_cent(sharper)}.",
        strength=sharper - weight,
        page="inside",
        choices={**head_choices(head), "word": str(query + 1)},
    )


def unmasked(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Measure the attention that would go to later words without the causal mask."""
    if len(trace.target_pieces) < 2:
        return None
    batch = teacher_forcing.batch_traces([trace])
    share = float(leak(translator.model, batch, "decoder_self", masked=False).mean_shares[0])
    return Finding(
        f"Without its mask, the decoder would give {per_cent(share)} of its attention on this "
        f"sentence to words that come later.",
        strength=share,
        page="masks",
        choices={"kind": "decoder", "mask-view": "remove the mask"},
    )


def without_positions(translator: Translator, trace: AttentionTrace) -> Finding | None:
    """Measure how log P of the translation changes when the encoder does not see positions."""
    if not len(trace.log_probs):
        return None
    before = float(trace.log_probs.sum())
    edit = Edit("removed", ("encoder",))
    after = float(teacher_forcing.log_probs(translator.model, trace, edit.hooks()).sum())
    if abs(after - before) < NOTABLE:
        return None
    return Finding(
        f"Without positions in the encoder, the log probability of this translation goes from "
        f"{format_number(before)} to {format_number(after)}.",
        strength=1 - float(np.exp(-abs(after - before))),
        page="positions",
        choices={"pe_view": "Remove positions"},
    )


def costliest_head(
    translator: Translator, trace: AttentionTrace, order: RemovalOrder | None = None
) -> Finding | None:
    """Find the head whose removal lowers log P of this translation most, the first of its order."""
    if not len(trace.log_probs):
        return None
    order = order or with_next_place(translator.model, trace, RemovalOrder())
    head, before, after = order.removed[0], float(trace.log_probs.sum()), order.log_p[0]
    if before - after < NOTABLE:
        return None
    return Finding(
        f"No head matters more to this sentence than {named_head(*head)}. Without it, the log "
        f"probability of the translation falls from {format_number(before)} to "
        f"{format_number(after)}.",
        strength=1 - float(np.exp(after - before)) / 2,
        page="roles",
        choices={
            **head_choices(head),
            "roles_view": "Remove heads",
            "removed": removal_text.format_removals([removal.Removal(*head)]),
        },
    )


def shares_of_parameters(translator: Translator, _trace: AttentionTrace) -> Finding:
    """Compare the parameters of attention with those of the feed-forward networks."""
    parts = costs.parameters_of_model(translator.model)
    total = sum(parts.values())
    attention = sum(parts[part] for part in ATTENTION) / total
    feed_forward = parts[costs.FEED_FORWARD] / total
    return Finding(
        f"Attention holds {per_cent(attention)} of the parameters, the feed-forward networks "
        f"{per_cent(feed_forward)}.",
        strength=0.3,
        page="architecture",
        choices={},
    )
