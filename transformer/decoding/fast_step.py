"""A search without the modules: the same formulas in as few operations as possible.

Three things make it fast. The source's keys, values and mask stand once for each sentence: its K
beams are K queries of one row. W_Q, W_K and W_V are one matrix. The decoder's own keys and values
grow in place, and only those rows are copied that another beam has taken over.

It is the second implementation of attention beside `transformer/attention.py`;
`tests/transformer/decoding/test_fast_step.py` holds the two equal.

Nothing can watch it: where a hook is on any point of the model, `PlainDecoder` is used instead. A
hook that only silences heads (`Silence`) is known for what it does, and is done here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.attention import attention_scores, split_heads
from transformer.config import TransformerConfig
from transformer.decoding.weights import DecoderLayerWeights, EncoderLayerWeights, search_weights
from transformer.embedding import Embedding
from transformer.kinds import KINDS, Kind, attention_name
from transformer.masks import causal_mask, padding_mask
from transformer.model import Transformer

Patterns: TypeAlias = Mapping[Kind, list[Tensor]]
"""Lists that get the weights of each layer, by kind, `[sentence, head, query, key]`."""


class FastDecoder:
    """See `StepDecoder`; the arguments are those of `PlainDecoder`.

    The weights are read when it is made: it serves one search.

    Args:
        patterns: lists for the attention weights of a pass that `start` makes over a translation.
    """

    def __init__(
        self, model: Transformer, source: Tensor, K: int, patterns: Patterns | None = None
    ) -> None:
        self.K, self.device = K, source.device
        embedding = model.decoder.embedding
        self.table, self.scale = embedding.table, embedding.scale
        self.positions = embedding.positions  # [position, d_model]
        self.require_positions = embedding.require_positions
        mask = padding_mask(source)
        # a mask that hides nothing only costs time
        self.mask = None if bool(mask.all()) else mask  # [sentence, 1, 1, source]
        weights = search_weights(model)
        silenced = _silenced(model)
        memory = _encode(
            model.encoder.embedding,
            weights.encoder,
            source,
            self.mask,
            silenced["encoder_self"],
            None if patterns is None else patterns["encoder_self"],
        )
        self.projection = weights.projection
        self.layers = [
            _Layer(layer, memory, patterns, own, cross)
            for layer, own, cross in zip(
                weights.decoder, silenced["decoder_self"], silenced["cross"], strict=True
            )
        ]
        self.cache = BeamCache(model.config, source.size(0), memory)
        self.beams = 1  # rows of a sentence: all K are alike at the start

    @staticmethod
    def serves(model: Transformer) -> bool:
        """Return whether no hook but `Silence` is set, and the modules compute only the formulas.

        Heads may be silenced. Only hook points count: PyTorch's own hooks are not called in a
        search.
        """
        autocast = torch.is_autocast_enabled(model.device.type)
        return not (model.silenced() is None or autocast or model.training)

    def start(self, written: Tensor) -> Tensor:
        """See `StepDecoder.start`.

        Raises:
            InputError: if it is longer than the model accepts.
        """
        self.require_positions(written.size(1))
        return self._logits(written)

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """See `StepDecoder.step`."""
        self._select_sentences([row // self.K for row in rows[:: self.K]])
        self.cache.select(rows if self.beams == self.K else [row // self.K for row in rows])
        self.beams = self.K
        return self._logits(torch.tensor(pieces, device=self.device)[:, None])[:, 0]

    def _logits(self, tokens: Tensor) -> Tensor:
        """Compute the logits `[row, position, vocab]` of tokens `[row, position]`."""
        new = tokens.size(1)
        self.cache.make_room(new)
        position = self.positions[self.cache.length : self.cache.length + new]
        x = torch.add(position, F.embedding(tokens, self.table), alpha=self.scale)
        for index, layer in enumerate(self.layers):
            x = layer.decode(x, index, self.cache, self.beams, self.mask)
        self.cache.length += new
        return self.projection(x)

    def _select_sentences(self, sentences: Sequence[int]) -> None:
        if sentences != list(range(self.layers[0].k.size(0))):
            for layer in self.layers:
                layer.k, layer.v = layer.k[sentences], layer.v[sentences]
            if self.mask is not None:
                self.mask = self.mask[sentences]


def _silenced(model: Transformer) -> dict[Kind, list[tuple[int, ...]]]:
    """List the heads that the hooks of this context silence, of each layer.

    Raises:
        HookError: if there is no such head.
    """
    hooks = model.silenced() or {}
    by_kind: dict[Kind, list[tuple[int, ...]]] = {}
    for kind in KINDS:
        names = [f"{attention_name(kind, layer)}.hook_z" for layer in range(model.config.N)]
        for name in names:
            for hook in hooks.get(name, ()):
                hook.require_heads(model.config.h, name)
        by_kind[kind] = [
            tuple(head for hook in hooks.get(name, ()) for head in hook.heads) for name in names
        ]
    return by_kind


def _encode(
    embedding: Embedding,
    layers: Sequence[EncoderLayerWeights],
    source: Tensor,
    mask: Tensor | None,
    silenced: Sequence[Sequence[int]],
    patterns: list[Tensor] | None,
) -> Tensor:
    """Encode as `Transformer.encode`, where no hook is set.

    Args:
        embedding: the embedding of the encoder.
        layers: the weights of the encoder's layers.
        source: `[sentence, source]` token ids.
        mask: `[sentence, 1, 1, source]`, True at real tokens; None where all are.
        silenced: the heads of each layer whose output is 0.
        patterns: a list for the weights of each layer, `[sentence, head, source, source]`.

    Returns:
        `[sentence, source, d_model]`.
    """
    x: Tensor = embedding(source)
    for layer, silent in zip(layers, silenced, strict=True):
        w = layer.self_attention
        # each [sentence, head, source, d_k or d_v]
        q, k, v = (split_heads(part, w.h) for part in w.QKV(x).split_with_sizes(w.widths, dim=-1))
        x = w.output_add_norm(x, attend(q, k, v, mask, patterns=patterns, silenced=silent))
        x = layer.feed_forward(x)
    return x


class _Layer:
    """One decoder layer with its keys and values of the source."""

    def __init__(
        self,
        weights: DecoderLayerWeights,
        memory: Tensor,
        patterns: Patterns | None,
        own_silenced: Sequence[int],
        cross_silenced: Sequence[int],
    ) -> None:
        self.weights = weights
        self.own_silenced, self.cross_silenced = own_silenced, cross_silenced
        self.own_patterns = None if patterns is None else patterns["decoder_self"]
        self.cross_patterns = None if patterns is None else patterns["cross"]
        w = weights.cross_attention
        kv = w.KV(memory).split_with_sizes(w.widths, dim=-1)
        # each [sentence, head, source, d_k or d_v]
        self.k, self.v = (split_heads(part, w.h) for part in kv)

    def decode(
        self, x: Tensor, index: int, cache: BeamCache, beams: int, mask: Tensor | None
    ) -> Tensor:
        """Decode as `DecoderLayer.forward`, `[row, position, d_model]`.

        Args:
            x: `[row, position, d_model]`.
            index: the index of the layer in the cache.
            cache: the keys and values of the decoder's own attention.
            beams: the number of rows of a sentence.
            mask: `[sentence, 1, 1, source]`, True at real tokens; None where all are.
        """
        rows, new, _ = x.shape

        own = self.weights.self_attention
        d_q, d_k, d_v = own.widths
        q, kv = own.QKV(x).split_with_sizes((d_q, d_k + d_v), dim=-1)
        k, v = cache.append(index, kv)
        z = attend(
            split_heads(q, own.h), k, v, is_causal=new > 1, patterns=self.own_patterns,
            silenced=self.own_silenced,
        )  # fmt: skip
        x = own.output_add_norm(x, z)

        # the beams of a sentence, and their positions, are queries of one row
        cross = self.weights.cross_attention
        q = split_heads(cross.Q(x).view(rows // beams, beams * new, -1), cross.h)
        z = attend(
            q, self.k, self.v, mask, patterns=self.cross_patterns, silenced=self.cross_silenced
        )
        x = cross.output_add_norm(x, z.view(rows, new, -1))

        return self.weights.feed_forward(x)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    patterns: list[Tensor] | None = None,
    silenced: Sequence[int] = (),
) -> Tensor:
    """Compute softmax(QKᵀ / √d_k) V (§3.2.1, equation 1), side by side for all heads.

    Args:
        q: `[row, head, query, d_k]`.
        k: `[row, head, key, d_k]`.
        v: `[row, head, key, d_v]`.
        mask: `[row, head, query, key]` or broadcast to it, True where seen.
        is_causal: whether no query sees a later key; then there are as many keys as queries, and no
            mask.
        patterns: a list to which the weights are added, `[row, head, query, key]`; without it they
            are never a tensor.
        silenced: the heads whose output is 0.

    Returns:
        `[row, query, head * d_v]`.
    """
    if patterns is None:
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)
    else:
        seen = causal_mask(q.size(2), k.size(2), q.device) if is_causal else mask
        scores = attention_scores(q, k, seen)
        pattern = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32))
        patterns.append(pattern)
        z = pattern.to(v.dtype) @ v
    if silenced:
        z[:, silenced] = 0
    return z.transpose(1, 2).flatten(2)


FIRST_ROOM = 32  # positions; doubled whenever they are full


class BeamCache:
    """Keys and values of all layers, side by side in one tensor.

    Args:
        rows: the number of rows of the first step.
        like: a tensor of the type and device that keys and values have.
    """

    def __init__(self, config: TransformerConfig, rows: int, like: Tensor) -> None:
        self.h, self.d_k, self.d_v = config.h, config.d_k, config.d_v
        self.rows, self.length = rows, 0
        width = config.h * (config.d_k + config.d_v)
        # [layer, row, position, width]; the first `rows` rows and `length` positions are in use
        self._buffer = like.new_empty(config.N, rows, FIRST_ROOM, width)
        self._view()

    def append(self, layer: int, keys_and_values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the new positions of one layer and return all of its keys and values.

        Args:
            layer: the layer, from 0.
            keys_and_values: `[row, position, h * (d_k + d_v)]`.

        Returns:
            K and V, each `[row, head, key, d_k or d_v]`.
        """
        new = keys_and_values.size(1)
        self._written[layer].narrow(1, self.length, new).copy_(keys_and_values)
        end = self.length + new
        return self._keys[layer].narrow(2, 0, end), self._values[layer].narrow(2, 0, end)

    def make_room(self, new: int) -> None:
        """See that so many positions fit after those in use."""
        room = self._buffer.size(2)
        if self.length + new > room:
            N, rows, _, width = self._buffer.shape
            buffer = self._buffer.new_empty(N, rows, max(2 * room, self.length + new), width)
            buffer[:, :, : self.length] = self._buffer[:, :, : self.length]
            self._buffer = buffer
            self._view()

    def select(self, rows: Sequence[int]) -> None:
        """Let row i go on from what is row `rows[i]` now; rows may be repeated and left out."""
        if len(rows) > self._buffer.size(1):
            self._buffer = self._buffer[:, rows]
        else:
            moved = [to for to, row in enumerate(rows) if row != to]
            used = self._buffer[:, :, : self.length]
            if any(rows[to] in moved for to in moved):  # one is overwritten before it is read
                used[:, moved] = used[:, [rows[to] for to in moved]]
            else:
                for to in moved:
                    used.select(1, to).copy_(used.select(1, rows[to]))
        if len(rows) != self.rows:
            self.rows = len(rows)
            self._view()

    def gather(self, rows: Tensor) -> None:
        """Select with the rows as a tensor on the device: nothing waits for it."""
        used = self._buffer[:, :, : self.length].index_select(1, rows)
        if len(rows) > self._buffer.size(1):
            N, _, room, width = self._buffer.shape
            self._buffer = self._buffer.new_empty(N, len(rows), room, width)
        self._buffer[:, : len(rows), : self.length] = used
        self.rows = len(rows)
        self._view()

    def _view(self) -> None:
        """Renew the views of the rows in use, by layer: whole, and its keys and values by head."""
        used = self._buffer[:, : self.rows]
        keys, values = used.split((self.h * self.d_k, self.h * self.d_v), dim=-1)
        self._written = used.unbind(0)
        self._keys = keys.unflatten(-1, (self.h, self.d_k)).transpose(2, 3).unbind(0)
        self._values = values.unflatten(-1, (self.h, self.d_v)).transpose(2, 3).unbind(0)
