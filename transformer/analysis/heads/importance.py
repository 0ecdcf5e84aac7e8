"""Importance of each head for the loss: by its gradient, and by removing the head."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from transformer import config, kinds, masks
from transformer.analysis import teacher_forcing
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
    return _nats(logits.flatten(0, 1), labels.flatten()).view(labels.shape).sum(-1)


def _nats(logits: Tensor, labels: Tensor) -> Tensor:
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return F.cross_entropy(logits, labels, ignore_index=config.PAD, reduction="none")


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
    columns = _columns(model)

    def gate(z: Tensor, name: str) -> Tensor:
        return z * gates[:, columns[name], None, None].to(z.dtype)

    with model.hooks(dict.fromkeys(columns, gate)):
        return sentence_losses(model, source, target, labels)


def _columns(model: Transformer) -> dict[str, list[int]]:
    """Return the columns of gates at each point that has outputs of heads."""
    columns: dict[str, list[int]] = {}
    for column, place in enumerate(head.all_heads(model.config)):
        point = f"{kinds.attention_name(place.kind, place.layer)}.hook_z"
        columns.setdefault(point, []).append(column)
    return columns


MAX_TOKENS = 4096
"""Tokens of a batch of copies of one sentence: larger ones take memory and save no time."""


@torch.inference_mode()
def losses_of_gates(
    model: Transformer,
    pair: teacher_forcing.ForcedPair,
    gates: Floats,
    progress: teacher_forcing.Progress = lambda _done, _total: None,
) -> Floats:
    """Compute `gated_losses` of one sentence, `[row]`; what rows have in common runs once.

    `progress` is called with the rows done, and all, after each batch of bounded size.
    """
    size = max(1, MAX_TOKENS // max(pair.source.size(1), pair.target.size(1)))
    losses: list[Tensor] = []
    for first in range(0, len(gates), size):
        rows = torch.tensor(gates[first : first + size], device=model.device)
        losses.append(_batch_losses(model, pair, rows))
        progress(min(first + size, len(gates)), len(gates))
    return torch.cat(losses).double().cpu().numpy()


def _batch_losses(model: Transformer, pair: teacher_forcing.ForcedPair, gates: Tensor) -> Tensor:
    """Compute the losses of a batch that grows: a row enters at the first layer where it differs.

    The first row has the gates that all rows have in common.
    """
    columns, rows = _columns(model), [0]
    gates = torch.cat([gates.amax(0, keepdim=True), gates])
    apart = (gates != gates[0]).cpu()

    def gate(z: Tensor, name: str) -> Tensor:
        return z * gates[rows][:, columns[name], None, None].to(z.dtype)

    def enter(x: Tensor, layer: int, *in_layer: kinds.Kind) -> Tensor:
        names = (f"{kinds.attention_name(kind, layer)}.hook_z" for kind in in_layer)
        here = apart[:, [column for name in names for column in columns[name]]].any(1)
        rows.extend(new := [n for n in here.nonzero().flatten().tolist() if n not in rows])
        return torch.cat([x, x[:1].expand(len(new), -1, -1)])

    with model.hooks(dict.fromkeys(columns, gate)):
        memory = model.encoder.embedding(pair.source)
        for n, layer in enumerate(model.encoder.layers):
            memory = layer(enter(memory, n, "encoder_self"))
        x = model.decoder.embedding(pair.target).expand(len(rows), -1, -1)
        for n, layer in enumerate(model.decoder.layers):
            x = enter(x, n, "decoder_self", "cross")
            more = memory[:1].expand(len(rows) - len(memory), -1, -1)
            x = layer(x, torch.cat([memory, more]))
    # a few positions at a time: the logits of all would be the largest tensor by far
    size = max(1, teacher_forcing.MAX_TENSOR_SIZE // model.config.vocab_size)
    parts = x.flatten(0, 1).split(size), pair.written.repeat(len(rows)).split(size)
    nats = [_nats(model.logits(part), labels) for part, labels in zip(*parts, strict=True)]
    losses = torch.cat(nats).view(len(rows), -1).sum(-1)
    found = dict(zip(rows, losses, strict=True))
    # what differs nowhere is the first row
    return torch.stack([found.get(n, losses[0]) for n in range(1, len(gates))])


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
