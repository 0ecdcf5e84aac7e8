"""Every head on a corpus: what it does, and how much the loss and BLEU depend on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sacrebleu
import torch
from torch import Tensor
from tqdm import tqdm

from training.bleu_tokens import DEFAULT
from training.data.batches import Batch, TokenBatches, make_batch
from training.data.encoded_text import EncodedText
from training.evaluation.measurement import drawn_rows
from training.validation import translate_all
from transformer.analysis.axes import LabelledWeights
from transformer.analysis.corpus.corpus_roles import SentenceMeasures, measure_sentence
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.heads.importance import (
    gradient_importance,
    losses_without,
    sentence_losses,
)
from transformer.analysis.heads.removal import Removal, removed
from transformer.config import PAD
from transformer.decoding import greedy
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.trace import Labels

Floats = npt.NDArray[np.float64]

BATCH_TOKENS = 2_000


@dataclass(frozen=True, eq=False)
class CorpusMeasures:
    """All heads on all sentences.

    Args:
        measures: of each kind and sentence, what the heads do.
        gradients: `[sentence, layer, head]` of each kind, in nats for each piece.
        losses: `[sentence]`, nats of each translation with all heads.
        losses_without: `[sentence, head]`, with one of `all_heads` taken away.
        pieces: `[sentence]`, of its translation.
        mean_z: `[layer, head, d_v]` of each kind, the mean over all positions.
    """

    measures: dict[Kind, list[SentenceMeasures]]
    gradients: dict[Kind, Floats]
    losses: Floats
    losses_without: Floats
    pieces: Floats
    mean_z: dict[Kind, Tensor]


def sample(text: EncodedText, sentences: int, seed: int) -> EncodedText:
    """Draw at most `sentences` pairs with a seed, in the order of the text."""
    rows = drawn_rows(len(text), sentences, seed)
    return EncodedText(
        text.source.take(rows),
        text.target.take(rows),
        np.asarray(text.lines)[rows],
        text.left_out,
    )


def measure_corpus(
    model: Transformer, tokenizer: Tokenizer, target_tokenizer: Tokenizer, text: EncodedText
) -> CorpusMeasures:
    """Measure every head of a model in evaluation mode on every sentence."""
    heads, stacks = all_heads(model.config), {kind: model.config.stack(kind) for kind in KINDS}
    pieces_of = {
        "encoder_self": (tokenizer, tokenizer),
        "decoder_self": (target_tokenizer, target_tokenizer),
        "cross": (target_tokenizer, tokenizer),
    }
    piece_counts = _piece_counts(text, tokenizer, target_tokenizer)
    measures: dict[Kind, dict[int, SentenceMeasures]] = {kind: {} for kind in KINDS}
    gradients = {kind: np.zeros((len(text), stack.N, stack.h)) for kind, stack in stacks.items()}
    losses, pieces = np.zeros(len(text)), np.zeros(len(text))
    without = np.zeros((len(text), len(heads)))
    sums = {kind: torch.zeros(s.N, s.h, s.d_v).double() for kind, s in stacks.items()}
    positions = dict.fromkeys(KINDS, 0)
    batches = TokenBatches(text, BATCH_TOKENS, seed=0).epoch(0)
    for rows in tqdm(batches, "heads", unit="batch", disable=None):
        batch = make_batch(text, rows).to(model.device)
        tensors = (batch.source, batch.target, batch.labels)
        pieces[rows] = (batch.labels != PAD).sum(-1).cpu().numpy()
        losses[rows], cache = _watched(model, batch)
        for kind, gradient in gradient_importance(model, *tensors).items():
            gradients[kind][rows] = gradient
        for number, lost in enumerate(losses_without(model, *tensors, heads)):
            without[rows, number] = lost.double().cpu().numpy()
        for kind in KINDS:
            real = (batch.source if kind == "encoder_self" else batch.labels) != PAD
            z = _stacked(cache, kind, stacks[kind].N, "hook_z").double()
            sums[kind] += torch.einsum("lbhqv,bq->lhv", z, real.double()).cpu()
            positions[kind] += int(real.sum())
            patterns = _stacked(cache, kind, stacks[kind].N, "hook_pattern")
            weights = patterns.float().cpu().numpy()
            for index, row in enumerate(rows):
                ids = _ids(batch, kind, index)
                measures[kind][int(row)] = _measured(
                    pieces_of[kind], weights[:, index], kind, ids, piece_counts
                )
    return CorpusMeasures(
        measures={kind: [rows[row] for row in sorted(rows)] for kind, rows in measures.items()},
        gradients=gradients,
        losses=losses,
        losses_without=without,
        pieces=pieces,
        mean_z={kind: (sums[kind] / positions[kind]).float() for kind in KINDS},
    )


def bleu_statistics(
    model: Transformer,
    tokenizer: Tokenizer,
    text: EncodedText,
    references: Sequence[str],
    heads: Sequence[Head],
    tokenize: str = DEFAULT,
) -> Floats:
    """Compute BLEU statistics of greedy translations without some heads (Papineni 2002).

    Returns:
        `[sentence, 10]`: matches of one to four tokens, n-grams of each length, and both lengths.
    """
    with removed(model, [Removal(*place) for place in heads]):
        translations = translate_all(
            text.source[:], lambda batch: greedy(model, batch), tokenizer, model.device
        )
    metric = sacrebleu.BLEU(tokenize=tokenize, effective_order=True)
    scores = [
        metric.sentence_score(translation, [reference])
        for translation, reference in zip(translations, references, strict=True)
    ]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=float)


def bleu(statistics: Floats) -> Floats:
    """Compute corpus BLEU, smoothed as sacreBLEU's default, from sums of `bleu_statistics`.

    Args:
        statistics: `[..., 10]`.

    Returns:
        `[...]`, 0 to 100.
    """
    matches, totals = statistics[..., :4], statistics[..., 4:8]
    written, wanted = statistics[..., 8], statistics[..., 9]
    # each n-gram length without a match counts half as much as the one before (Chen & Cherry 2014)
    smoothed = 0.5 ** (matches == 0).cumsum(-1)
    precision = np.where(matches > 0, matches, smoothed) / np.maximum(totals, 1)
    brevity = np.exp(np.minimum(1 - wanted / np.maximum(written, 1), 0))
    score = 100 * brevity * np.exp(np.log(precision).mean(-1))
    none = (totals == 0).any(-1) | (matches == 0).all(-1)
    bleu_scores: Floats = np.where(none, 0, score)
    return bleu_scores


@torch.inference_mode()
def _watched(model: Transformer, batch: Batch) -> tuple[Floats, dict[str, Tensor]]:
    """Run a batch; return its losses, `[sentence]`, and the values at the hook points."""
    cache: dict[str, Tensor] = {}

    def keep(value: Tensor, name: str) -> None:
        cache[name] = value

    points = [
        f"{attention_name(kind, layer)}.{point}"
        for kind in KINDS
        for layer in range(model.config.stack(kind).N)
        for point in ("hook_pattern", "hook_z")
    ]
    with model.hooks(dict.fromkeys(points, keep)):
        losses = sentence_losses(model, batch.source, batch.target, batch.labels)
    return losses.double().cpu().numpy(), cache


def _stacked(cache: dict[str, Tensor], kind: Kind, layers: int, point: str) -> Tensor:
    """Stack the values of a hook point by layer, `[layer, sentence, head, query, ...]`."""
    return torch.stack([cache[f"{attention_name(kind, n)}.{point}"] for n in range(layers)])


def _ids(batch: Batch, kind: Kind, index: int) -> tuple[list[int], list[int]]:
    """Return the token ids of the queries and of the keys of one sentence."""
    source, target, labels = (
        [int(token) for token in row if token != PAD]
        for row in (t[index].tolist() for t in (batch.source, batch.target, batch.labels))
    )
    return {
        "encoder_self": (source, source),
        "decoder_self": (target, target),
        "cross": (labels, source),
    }[kind]


def _measured(
    tokenizers: tuple[Tokenizer, Tokenizer],
    weights: npt.NDArray[np.float32],
    kind: Kind,
    ids: tuple[list[int], list[int]],
    piece_counts: Mapping[str, int],
) -> SentenceMeasures:
    """Measure the heads of one kind on one sentence, whose weights may be padded."""
    queries, keys = (
        tuple(piece.text for piece in tokenizer.pieces_of(side))
        for tokenizer, side in zip(tokenizers, ids, strict=True)
    )
    axes = LabelledWeights(weights[:, :, : len(queries), : len(keys)], Labels(queries, keys))
    return measure_sentence(axes, kind, [piece_counts[key] for key in keys])


def _piece_counts(
    text: EncodedText, tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Mapping[str, int]:
    """Count each piece in the corpus, both languages together."""
    counts: Counter[str] = Counter()
    for side, side_tokenizer in ((text.source, tokenizer), (text.target, target_tokenizer)):
        id_counts = Counter(id_ for ids in side for id_ in ids)
        for piece in side_tokenizer.pieces_of(list(id_counts)):
            counts[piece.text] += id_counts[piece.id]
    return counts
