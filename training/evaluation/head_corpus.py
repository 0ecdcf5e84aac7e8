"""Parallel text for the command `evaluate heads`: pairs, mean outputs of heads, and their BLEU."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import sacrebleu
import torch
from torch import Tensor

from training.bleu_tokens import DEFAULT
from training.data.corpus import ParallelText
from training.data.encoded_text import EncodedText
from training.evaluation.measurement import drawn_rows
from training.validation import translate_all
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, removed
from transformer.analysis.lines.measured import LinePair
from transformer.analysis.lines.passes import batches_of
from transformer.config import EOS, PAD
from transformer.decoding import greedy
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

Floats = npt.NDArray[np.float64]


def sample(text: EncodedText, sentences: int, seed: int) -> EncodedText:
    """Draw at most `sentences` pairs with a seed, in the order of the text."""
    rows = drawn_rows(len(text), sentences, seed)
    return EncodedText(
        text.source.take(rows),
        text.target.take(rows),
        np.asarray(text.lines)[rows],
        text.left_out,
    )


def line_pairs(text: ParallelText, encoded: EncodedText) -> list[LinePair]:
    """Return the pairs that were encoded, with `</s>` behind the token ids of both sides."""
    return [
        LinePair(line + 1, text.source[line], text.target[line], (*source, EOS), (*target, EOS))
        for line, source, target in zip(
            np.asarray(encoded.lines).tolist(), encoded.source, encoded.target, strict=True
        )
    ]


@torch.inference_mode()
def mean_outputs(model: Transformer, pairs: Sequence[LinePair]) -> dict[Kind, Tensor]:
    """Average the output z of every head over all positions, `[layer, head, d_v]`."""
    points = {
        kind: [
            f"{attention_name(kind, layer)}.hook_z" for layer in range(model.config.stack(kind).N)
        ]
        for kind in KINDS
    }
    sums: dict[Kind, Tensor] = dict.fromkeys(KINDS, torch.zeros(()))
    positions = dict.fromkeys(KINDS, 0)
    for _, batch in batches_of(model, pairs):
        _, cache = model.run_with_cache(
            batch.source, batch.target, names=lambda name: name.endswith("hook_z")
        )
        for kind, names in points.items():
            real = (batch.source if kind == "encoder_self" else batch.written) != PAD
            z = torch.stack([cache[name] for name in names]).double()  # [layer, batch, head, q, v]
            sums[kind] = sums[kind] + torch.einsum("lbhqv,bq->lhv", z, real.double()).cpu()
            positions[kind] += int(real.sum())
    return {kind: (sums[kind] / positions[kind]).float() for kind in KINDS}


def bleu_statistics(
    model: Transformer,
    tokenizer: Tokenizer,
    text: EncodedText,
    references: Sequence[str],
    heads: Sequence[Head],
    tokenize: str = DEFAULT,
) -> Floats:
    """Compute BLEU statistics of greedy translations without some heads (Papineni 2002).

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
    """Compute corpus BLEU, 0 to 100, smoothed as sacreBLEU's default, from sums of statistics."""
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
