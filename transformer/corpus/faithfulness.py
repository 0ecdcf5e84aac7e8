"""Does the model do without the source words that a lens ranks first?

The tests of the debate on attention as explanation: erasing words (comprehensiveness and
sufficiency of DeYoung et al. 2020, §4.2, here in log P), uniform and permuted weights (Jain &
Wallace 2019, Wiegreffe & Pinter 2019). They say what changed when something was erased, never why
the model decided.
"""

from dataclasses import astuple, dataclass

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.heads.head import all_heads
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.lenses import SIGNED, LensName, as_rows, lens
from transformer.analysis.teacher_forcing import ForcedPair, forced_pair
from transformer.arrays import AnyFloats, Bools, Floats, Ints
from transformer.choices import check_choices
from transformer.errors import InputError
from transformer.kinds import Kind
from transformer.model import Transformer
from transformer.trace import AttentionTrace
from transformer.translator import Translator

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the source words that are erased or kept, at least one word."""

RANDOM_ORDERS, PERMUTATIONS = 3, 3
BATCH_PIECES = 2_000


@dataclass(frozen=True, eq=False)
class Erasing:
    """The fall of log P of each written piece, in nats, `[target, fraction]` each."""

    comprehensiveness: Floats  # with the first words of the order erased; high where they mattered
    sufficiency: Floats  # with all others erased; low where the first words were enough


@dataclass(frozen=True, eq=False)
class LensFaithfulness:
    """One lens on one sentence."""

    erasing: Erasing  # in the lens's order of the source words
    kendall: Floats  # `[target]`, τ-b of the lens's scores and the falls without each word, or NaN
    spearman: Floats  # `[target]`, ρ, likewise


def lens_faithfulness(
    translator: Translator,
    trace: AttentionTrace,
    name: LensName,
    without_each: Floats | None = None,
    targets: Ints | None = None,
) -> LensFaithfulness:
    """Test the ranking of the source words that a lens reads off cross-attention."""
    scores = word_scores(lens(name, translator, trace, "cross"), trace, signed=name in SIGNED)
    if without_each is None:
        without_each = drops_without_each_word(translator.model, trace)
    order = np.argsort(-scores, axis=-1, kind="stable")
    return LensFaithfulness(
        erase(translator.model, trace, order, targets),
        kendall(scores, without_each),
        spearman(scores, without_each),
    )


def random_erasing(
    model: Transformer, trace: AttentionTrace, seed: int = 0, targets: Ints | None = None
) -> Erasing:
    """Erase the words in random orders, and average over several of them."""
    words, draw = len(source_words(trace)), np.random.default_rng(seed)
    some = np.argsort(draw.random((RANDOM_ORDERS, len(trace.target_pieces), words)), axis=-1)
    curves = [astuple(erase(model, trace, order, targets)) for order in some]
    return Erasing(*np.mean(curves, axis=0))


def source_words(trace: AttentionTrace) -> list[list[int]]:
    """List the positions of the pieces of each source word; a special token is not a word."""
    words: dict[int, list[int]] = {}
    for position, piece in enumerate(trace.source_pieces):
        if piece.text not in trace.special.tokens:
            words.setdefault(piece.word, []).append(position)
    if len(words) < 2:
        raise InputError("The sentence has fewer than two words to erase: type a longer one.")
    return list(words.values())


def word_scores(values: AnyFloats, trace: AttentionTrace, *, signed: bool = False) -> Floats:
    """Sum the values of each source word in the row that writes each piece, `[target, word]`.

    `values` are of cross-attention, `[layer, (head,) target, source]`: shares unless signed.
    """
    rows = np.asarray(values if signed else as_rows(values), dtype=np.float64)
    mean = rows.reshape(-1, *rows.shape[-2:]).mean(0)  # [target, source]
    return np.stack([mean[:, positions].sum(-1) for positions in source_words(trace)], axis=-1)


def erase(
    model: Transformer, trace: AttentionTrace, order: Ints, targets: Ints | None = None
) -> Erasing:
    """Erase the first words of an order, and all others, for each written piece by itself.

    `order`, `[target, word]`, holds numbers of `source_words`, the most important first; `targets`
    are its rows that are measured, all unless given.
    """
    words = source_words(trace)
    targets = np.arange(len(order)) if targets is None else np.asarray(targets)
    counts = [max(1, round(fraction * len(words))) for fraction in FRACTIONS]
    levels = sorted(set(counts))
    word_pieces = np.zeros((len(words), len(trace.source_pieces)), dtype=bool)
    for number, positions in enumerate(words):
        word_pieces[number, positions] = True
    first = np.stack(
        [[word_pieces[row[:count]].any(0) for count in levels] for row in order[targets]]
    )  # [target, level, source]
    others = word_pieces.any(0) & ~first
    cases = np.concatenate([first, others], axis=1).reshape(-1, first.shape[-1])
    rows = np.repeat(targets, 2 * len(levels))
    log_p = erased_log_probs(model, trace, cases, rows).reshape(-1, 2, len(levels))
    whole = _log_probs(model, trace)[targets]
    at = [levels.index(count) for count in counts]
    drops = whole[:, None, None] - log_p
    return Erasing(drops[:, 0, at], drops[:, 1, at])


def drops_without_each_word(model: Transformer, trace: AttentionTrace) -> Floats:
    """Measure the fall of log P of each written piece per hidden source word, `[target, word]`."""
    words = source_words(trace)
    erased = np.zeros((1 + len(words), len(trace.source_pieces)), dtype=bool)
    for number, positions in enumerate(words, start=1):
        erased[number, positions] = True
    log_p = erased_log_probs(model, trace, erased)
    return (log_p[:1] - log_p[1:]).T


@torch.inference_mode()
def erased_log_probs(
    model: Transformer,
    trace: AttentionTrace,
    erased: Bools,
    rows: Ints | None = None,
) -> Floats:
    """Compute log P of written pieces with source positions hidden from encoder and decoder.

    `erased` is `[case, source]` and leaves one position at least; `rows`, `[case]`, has the one
    written piece that is asked for in each case, all unless given: then `[case, target]`
    is returned, else `[case]`.
    """
    if erased.all(-1).any():
        raise InputError("Nothing of the sentence would be left: erase fewer words.")
    pair = forced_pair(model, trace)
    at_once = max(1, BATCH_PIECES // max(pair.source.size(1), pair.target.size(1)))
    # by length: a pass reads the target up to the last piece that is asked for in it
    order = np.arange(len(erased)) if rows is None else np.argsort(rows, kind="stable")
    log_p = np.empty((len(erased), pair.target.size(1)) if rows is None else len(erased))
    for n in range(0, len(erased), at_once):
        cases = order[n : n + at_once]
        asked = None if rows is None else rows[cases]
        log_p[cases] = _log_probs_without(model, pair, erased[cases], asked)
    return log_p


def _log_probs_without(
    model: Transformer, pair: ForcedPair, erased: Bools, rows: Ints | None
) -> Floats:
    cases, device = len(erased), model.device
    mask = torch.from_numpy(~erased).to(device)[:, None, None]  # [case, 1, 1, source]
    # what comes later changes nothing
    length = pair.target.size(1) if rows is None else int(rows.max()) + 1
    source, target, written = (
        ids.expand(cases, -1)
        for ids in (pair.source, pair.target[:, :length], pair.written[:length])
    )
    decoded = model.decode(target, model.encode(source, mask), mask)  # [case, target, d_model]
    if rows is not None:
        at = torch.from_numpy(rows).to(device)[:, None]
        decoded = decoded[torch.arange(cases, device=device)[:, None], at]
        written = written.gather(1, at)
    log_p = model.logits(decoded).float().log_softmax(-1)
    own: Floats = log_p.gather(-1, written[..., None])[..., 0].double().cpu().numpy()
    return own if rows is None else own[:, 0]


# uniform and permuted attention


@check_choices
def uniform_changes(model: Transformer, trace: AttentionTrace, kind: Kind) -> Floats:
    """Measure the change of log P of each written piece with uniform weights, `[target]`."""
    places = [place for place in all_heads(model.config) if place.kind == kind]
    with removed(model, [Removal(*place, "uniform") for place in places]):
        return _log_probs(model, trace) - trace.log_probs


def permuted_changes(
    model: Transformer,
    trace: AttentionTrace,
    kind: Kind,
    *,
    seed: int = 0,
) -> Floats:
    """Measure the mean change of log P over random orders of each row's weights, `[target]`."""
    generator = torch.Generator().manual_seed(seed)

    def permute(scores: Tensor, _name: str) -> Tensor:
        # in one sentence every mask hides only the last keys, so visible keys come first
        noise = torch.rand(scores.shape, generator=generator).to(scores.device)
        order = noise.masked_fill(scores.isneginf(), 2).argsort(-1)
        return scores.gather(-1, order)

    with model.hooks(dict.fromkeys(model.attention_points(kind, "attn_scores"), permute)):
        log_probs = [_log_probs(model, trace) for _ in range(PERMUTATIONS)]
    return np.mean(log_probs, axis=0) - trace.log_probs


def _log_probs(model: Transformer, trace: AttentionTrace) -> Floats:
    nothing = np.zeros((1, len(trace.source_pieces)), dtype=bool)
    return erased_log_probs(model, trace, nothing)[0]


# agreement of two rankings


def kendall(a: Floats, b: Floats) -> Floats:
    """Compute Kendall's τ-b of each pair of rows, `[row]`; NaN where all are tied."""
    return _cosine(*(_orders(x).reshape(len(x), -1) for x in (a, b)))


def spearman(a: Floats, b: Floats) -> Floats:
    """Compute Spearman's ρ of each pair of rows, ties at mean rank; NaN where all are tied."""
    return _cosine(*(_orders(x).sum(-1) / 2 for x in (a, b)))  # ranks, less their mean


def _orders(x: Floats) -> Floats:
    """Return 1 where the first of two values of a row is larger, −1 where it is smaller."""
    return np.sign(x[:, :, None] - x[:, None])


def _cosine(a: Floats, b: Floats) -> Floats:
    norm = np.sqrt((a**2).sum(-1) * (b**2).sum(-1))
    return np.divide((a * b).sum(-1), norm, out=np.full(len(a), np.nan), where=norm > 0)


def mean_agreement(rows: Floats) -> float:
    """Average the agreements of many rows, a row of ties as 0; NaN where all rows are NaN."""
    return float("nan") if np.isnan(rows).all() else float(np.nan_to_num(rows).mean())
