"""Most probable pieces at each step, of the model and of each layer (nostalgebraist 2020)."""

from dataclasses import dataclass

import torch

from transformer.analysis.teacher_forcing import forced_pair, to_array, values_at
from transformer.arrays import AnyFloats, Ints
from transformer.decoding import NEVER_WRITTEN
from transformer.errors import InputError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.trace import AttentionTrace
from transformer.translation.score import Choice, forced_log_probs, most_probable_others
from transformer.translator import Translator


@dataclass(frozen=True, eq=False)
class LayerPredictions:
    """The most probable pieces after each decoder layer, at each step."""

    pieces: tuple[tuple[tuple[str, ...], ...], ...]  # `[layer][target][k]`, most probable first
    probabilities: AnyFloats  # `[layer, target, k]`, theirs, among all pieces of the vocabulary
    written: AnyFloats  # `[layer, target]`, the probability of the piece that was written
    rank: Ints  # `[layer, target]`, how many pieces are more probable; 0 is first


@torch.inference_mode()
def layer_predictions(
    translator: Translator, trace: AttentionTrace, k: int = 5
) -> LayerPredictions:
    """Project the output of each decoder layer, normed in a post-norm model, to the vocabulary."""
    model = translator.model
    most = model.config.vocab_size - len(NEVER_WRITTEN)
    if not 1 <= k <= most:
        raise InputError(f"The {k} most probable pieces are asked for: choose from 1 to {most:,}.")
    layers = range(model.config.decoder.N)
    names = [f"decoder.layers.{n}.feed_forward_norm.hook_normalised" for n in layers]
    pair = forced_pair(model, trace)
    _, cache = values_at(model, pair, names)
    tops, probabilities, written, ranks = [], [], [], []
    for name in names:
        logits = model.logits(cache[name][0])
        exact = torch.promote_types(logits.dtype, torch.float32)
        p = logits.softmax(-1, dtype=exact)  # [target, vocab]
        own = p.gather(-1, pair.written[:, None])  # [target, 1]
        written.append(own[:, 0])
        p[:, list(NEVER_WRITTEN)] = -1
        ranks.append((p > own).sum(-1))
        best = p.topk(k)
        probabilities.append(best.values)
        tops.append(best.indices)
    texts = translator.target_tokenizer.pieces_of
    return LayerPredictions(
        pieces=tuple(
            tuple(tuple(piece.text for piece in texts(ids)) for ids in steps)
            for steps in torch.stack(tops).tolist()
        ),
        probabilities=to_array(torch.stack(probabilities)),
        written=to_array(torch.stack(written)),
        rank=torch.stack(ranks).cpu().numpy(),
    )


def alternatives(
    model: Transformer, tokenizer: Tokenizer, trace: AttentionTrace, count: int
) -> list[tuple[Choice, ...]]:
    """List for each target position the piece that was written, then the most probable others."""
    forced_pair(model, trace)
    written = [piece.id for piece in trace.target_pieces]
    log_p = forced_log_probs(model, [piece.id for piece in trace.source_pieces], written)
    own = log_p[range(len(written)), written].exp().tolist()
    others = most_probable_others(tokenizer, log_p, written, count)
    return [
        (Choice(piece.text, probability), *choices)
        for piece, probability, choices in zip(trace.target_pieces, own, others, strict=True)
    ]
