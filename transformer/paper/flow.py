"""The value at each place of Figure 1 while the model reads and writes one sentence."""

from dataclasses import dataclass

import torch

from transformer.analysis.teacher_forcing import forced_pair
from transformer.arrays import Singles
from transformer.model import Transformer
from transformer.trace import AttentionTrace

LOGITS, PROBABILITIES = "logits", "probabilities"
"""Names of the values after the last hook point: the projection, and its softmax."""

_WATCHED = frozenset((
    "tokens", "positions", "sum", "q", "k", "v", "pattern", "z", "hidden", "sublayer", "normalised",
))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Flow:
    """The values of one teacher-forced pass at the places of Figure 1."""

    # By hook point, without the axis of the batch: `[position, d_model]` in the residual stream,
    # `[head, query, key]` for weights, `[position, d_ff]` in the feed-forward network; for `LOGITS`
    # and `PROBABILITIES` `[target, column]`.
    values: dict[str, Singles]
    columns: tuple[str, ...]  # the pieces of the translation, each once, in the order of writing
    vocab_size: int


@torch.inference_mode()
def flow(model: Transformer, trace: AttentionTrace) -> Flow:
    """Run the model once over a sentence and its translation, for the places of Figure 1."""
    pair = forced_pair(model, trace)
    logits, cache = model.run_with_cache(
        pair.source,
        pair.target,
        names=lambda name: name.rpartition(".hook_")[2] in _WATCHED,
    )
    written = {piece.id: piece.text for piece in trace.target_pieces}
    values = {name: value[0] for name, value in cache.items()}
    values[LOGITS] = logits[0][:, list(written)]
    values[PROBABILITIES] = logits[0].float().softmax(-1)[:, list(written)]
    return Flow(
        values={name: value.float().cpu().numpy() for name, value in values.items()},
        columns=tuple(written.values()),
        vocab_size=logits.size(-1),
    )
