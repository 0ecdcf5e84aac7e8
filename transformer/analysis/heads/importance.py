"""Importance of each head for the loss: by its gradient, and by removing the head."""

from collections.abc import Collection, Iterable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer import config, kinds, masks
from transformer.analysis import teacher_forcing
from transformer.analysis.heads import head
from transformer.arrays import Floats
from transformer.model import Transformer

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
    logits = model(source, target)
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
    columns, size = _columns(model), (len(source), len(head.all_heads(model.config)))
    gates = torch.ones(size, device=source.device, requires_grad=True)

    def gate(z: Tensor, name: str) -> Tensor:
        return z * gates[:, columns[name], None, None].to(z.dtype)

    with torch.enable_grad(), model.hooks(dict.fromkeys(columns, gate)):
        losses = sentence_losses(model, source, target, labels)
        losses = losses / (labels != config.PAD).sum(-1)
        (gradients,) = torch.autograd.grad(losses.sum(), gates)
    return gradients.abs().double().cpu().numpy()


def _columns(model: Transformer) -> dict[str, list[int]]:
    """Return the columns of the gates at each point that has outputs of heads."""
    columns: dict[str, list[int]] = {}
    for column, place in enumerate(head.all_heads(model.config)):
        point = f"{kinds.attention_name(place.kind, place.layer)}.hook_z"
        columns.setdefault(point, []).append(column)
    return columns


MAX_TOKENS = 4096
"""Tokens of a batch of copies of sentences: more of them take memory, and save no time."""


@torch.inference_mode()
def losses_without(
    model: Transformer,
    source: Tensor,
    target: Tensor,
    labels: Tensor,
    removals: Sequence[Collection[head.Head]],
) -> Iterable[Tensor]:
    """Compute `sentence_losses` without each of several sets of heads, in batches of them."""
    size = max(1, MAX_TOKENS // max(source.numel(), target.numel()))
    heads = head.all_heads(model.config)
    for first in range(0, len(removals), size):
        gates = [[n not in off for n in heads] for off in removals[first : first + size]]
        yield from _batch_losses(model, source, target, labels, torch.tensor(gates))


def _batch_losses(
    model: Transformer, source: Tensor, target: Tensor, labels: Tensor, gates: Tensor
) -> Tensor:
    """Compute the losses with the heads whose gates are True, `[row, head]`: `[row, sentence]`.

    The batch grows: its first row has the heads that any row has, and each other row enters at the
    first layer in which it differs. So the layers before run once.
    """
    gates = torch.cat([gates.any(0, keepdim=True), gates])
    apart, factors = gates != gates[0], gates.to(model.device)
    columns, rows, sentences = _columns(model), [0], len(source)

    def gate(z: Tensor, name: str) -> Tensor:
        return z * factors[rows][:, columns[name], None, None].repeat_interleave(sentences, 0)

    def enter(x: Tensor, layer: int, *in_layer: kinds.Kind) -> Tensor:
        names = [f"{kinds.attention_name(kind, layer)}.hook_z" for kind in in_layer]
        here = apart[:, [column for name in names for column in columns[name]]].any(1)
        new = [n for n in here.nonzero().flatten().tolist() if n not in rows]
        rows.extend(new)
        return torch.cat([x, x[:sentences].repeat(len(new), 1, 1)])

    def copied(part: Tensor) -> Tensor:
        return part.repeat(len(rows), *[1] * (part.dim() - 1))

    mask = masks.padding_mask(source)
    with model.hooks(dict.fromkeys(columns, gate)):
        memory = model.encoder.embedding(source)
        for n, layer in enumerate(model.encoder.layers):
            memory = enter(memory, n, "encoder_self")
            memory = layer(memory, copied(mask))
        x = copied(model.decoder.embedding(target))
        for n, layer in enumerate(model.decoder.layers):
            x = enter(x, n, "decoder_self", "cross")
            same = memory[:sentences].repeat(len(rows) - len(memory) // sentences, 1, 1)
            x = layer(x, torch.cat([memory, same]), copied(mask))
    # a few positions at a time: the logits of all would be the largest tensor by far
    size = max(1, teacher_forcing.MAX_TENSOR_SIZE // model.config.vocab_size)
    parts = zip(x.flatten(0, 1).split(size), copied(labels).flatten().split(size), strict=True)
    nats = torch.cat([_nats(model.logits(part), label) for part, label in parts])
    losses = nats.view(len(rows), sentences, -1).sum(-1)
    place = {row: n for n, row in enumerate(rows)}
    return losses[[place.get(row, 0) for row in range(1, len(gates))]]
