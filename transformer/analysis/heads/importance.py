"""Importance of each head for the loss: by its gradient, and by removing the head."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from transformer import config, kinds, masks
from transformer.analysis.heads import head, removal
from transformer.model import Transformer

Floats = npt.NDArray[np.float64]

IMPORTANCE: dict[str, str] = {
    "gradient": "how much the loss depends on a gate of the head, within its layer",
    "loss without": "how much the loss of a subword grows without the head, in nats",
    "BLEU without": "how much BLEU changes without the head",
}
"""`gradient` is normalised within its layer (l2); its order is that of Michel et al. 2019."""


def sentence_losses(model: Transformer, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """Compute -log P of each translation, the sum over its pieces, `[sentence]`, in nats.

    `source`, `[sentence, source]`, is padded on the right; `target` and `labels`, `[sentence,
    target]`, are what the decoder reads and writes.
    """
    return _summed_losses(model(source, target), labels)


def _summed_losses(logits: Tensor, labels: Tensor) -> Tensor:
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    nats = F.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=config.PAD, reduction="none"
    )
    return nats.view(labels.shape).sum(-1)


def gradient_importance(
    model: Transformer, source: Tensor, target: Tensor, labels: Tensor
) -> Floats:
    """Compute |Att_h(x)ᵀ ∂L(x)/∂Att_h(x)|, `[sentence, head]` (Michel et al. 2019, §4.1).

    That is |∂L/∂ξ_h| of a gate ξ_h = 1 on the head's output; L is the loss of the sentence in nats
    for each of its pieces. The heads are in the order of `all_heads`.
    """
    size = len(source), len(head.all_heads(model.config))
    gates = torch.ones(size, device=source.device, requires_grad=True)
    with torch.enable_grad():
        losses = gated_losses(model, gates, source, target, labels)
        losses = losses / (labels != config.PAD).sum(-1)
        (gradients,) = torch.autograd.grad(losses.sum(), gates)
    return gradients.abs().double().cpu().numpy()


def gated_losses(
    model: Transformer, gates: Tensor, source: Tensor, target: Tensor, labels: Tensor
) -> Tensor:
    """Compute `sentence_losses` with the heads' outputs times each row of gates, `[row, head]`."""
    columns: dict[str, list[int]] = {}
    for column, place in enumerate(head.all_heads(model.config)):
        point = f"{kinds.attention_name(place.kind, place.layer)}.hook_z"
        columns.setdefault(point, []).append(column)

    def gate(z: Tensor, name: str) -> Tensor:
        return z * gates[:, columns[name], None, None].to(z.dtype)

    with model.hooks(dict.fromkeys(columns, gate)):
        return sentence_losses(model, source, target, labels)


@torch.inference_mode()
def losses_without(
    model: Transformer, source: Tensor, target: Tensor, labels: Tensor, heads: Sequence[head.Head]
) -> Iterable[Tensor]:
    """Compute `sentence_losses` without each of these heads; earlier layers run once for all."""
    mask = masks.padding_mask(source)
    encoded = list(accumulate(model.encoder.layers, lambda x, layer: layer(x, mask),
                              initial=model.encoder.embedding(source)))  # fmt: skip
    decoded = list(accumulate(model.decoder.layers, lambda x, layer: layer(x, encoded[-1], mask),
                              initial=model.decoder.embedding(target)))  # fmt: skip
    for place in heads:
        with removal.removed(model, [removal.Removal(*place)]):
            if place.kind == "encoder_self":
                memory, first = encoded[place.layer], 0
                for layer in model.encoder.layers[place.layer :]:
                    memory = layer(memory, mask)
            else:
                memory, first = encoded[-1], place.layer
            x = decoded[first]
            for layer in model.decoder.layers[first:]:
                x = layer(x, memory, mask)
            losses = _summed_losses(model.logits(x), labels)
        yield losses  # outside the block: the head is there again for who takes them
