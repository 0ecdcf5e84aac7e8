"""One step of a search without the modules: the same formulas in as few operations as possible.

Three things make it fast. The source's keys, values and mask stand once for each sentence: its K
beams are K queries of one row. W_Q, W_K and W_V are one matrix. The decoder's own keys and values
grow in place, and only those rows are copied that another beam has taken over.

Nothing can watch it: where a hook is on any point of the model, `PlainDecoder` is used instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.decoding.beam_cache import BeamCache
from transformer.layers import DecoderLayer
from transformer.masks import padding_mask
from transformer.model import Transformer


class FastDecoder:
    """See `StepDecoder`; the arguments are those of `PlainDecoder`.

    The weights are read when it is made: it serves one search.
    """

    def __init__(self, model: Transformer, source: Tensor, K: int) -> None:
        self.K, self.device = K, source.device
        self.embedding, self.projection = model.decoder.embedding, model.shared_embedding
        mask = padding_mask(source)
        memory = model.encode(source, mask)
        # a mask that hides nothing only costs time
        self.mask = None if bool(mask.all()) else mask  # [sentence, 1, 1, source]
        self.layers = [_Layer(layer, memory) for layer in model.decoder.layers]
        self.cache = BeamCache(model.config, source.size(0), memory)
        self.beams = 1  # rows of a sentence: all K are alike at the start

    @staticmethod
    def serves(model: Transformer) -> bool:
        """Whether nothing watches the model, and its modules compute no more than the formulas."""
        watched = any(point.watched for point in model.hook_points().values())
        autocast = torch.is_autocast_enabled(model.device.type)
        return not (watched or autocast or model.training)

    def start(self, written: Tensor) -> Tensor:
        """See `StepDecoder.start`."""
        return self._logits(written)

    def step(self, rows: Sequence[int], pieces: Sequence[int]) -> Tensor:
        """See `StepDecoder.step`."""
        self._select_sentences([row // self.K for row in rows[:: self.K]])
        self.cache.select(rows if self.beams == self.K else [row // self.K for row in rows])
        self.beams = self.K
        return self._logits(torch.tensor(pieces, device=self.device)[:, None])[:, 0]

    def _logits(self, tokens: Tensor) -> Tensor:
        """`[row, position]` to `[row, position, vocab]`."""
        new = tokens.size(1)
        self.cache.make_room(new)
        x = self.embedding(tokens, start=self.cache.length)  # [row, position, d_model]
        for index, layer in enumerate(self.layers):
            x = layer.decode(x, index, self.cache, self.beams, self.mask)
        self.cache.length += new
        return F.linear(x, self.projection)

    def _select_sentences(self, sentences: Sequence[int]) -> None:
        if sentences != list(range(self.layers[0].k.size(0))):
            for layer in self.layers:
                layer.k, layer.v = layer.k[sentences], layer.v[sentences]
            if self.mask is not None:
                self.mask = self.mask[sentences]


class _Layer:
    """The matrices of one decoder layer, and its keys and values of the source."""

    def __init__(self, layer: DecoderLayer, memory: Tensor) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self.h = own.h
        self.W_QKV = torch.cat((own.W_Q.weight, own.W_K.weight, own.W_V.weight))
        self.widths = (own.W_Q.out_features, own.W_K.out_features + own.W_V.out_features)
        self.W_O = own.W_O.weight
        self.cross_W_Q, self.cross_W_O = cross.W_Q.weight, cross.W_O.weight
        self.k, self.v = cross.keys_and_values(memory)  # [sentence, head, source, d_k or d_v]
        self.W_1, self.W_2 = layer.feed_forward.W_1, layer.feed_forward.W_2
        self.norms = (
            layer.self_attention_norm.norm,
            layer.cross_attention_norm.norm,
            layer.feed_forward_norm.norm,
        )

    def decode(
        self, x: Tensor, index: int, cache: BeamCache, beams: int, mask: Tensor | None
    ) -> Tensor:
        """As `DecoderLayer.forward`: `[row, position, d_model]` to the same.

        Args:
            index: of the layer in the cache.
            beams: rows of a sentence.
        """
        rows, new, _ = x.shape
        norm, cross_norm, feed_forward_norm = self.norms

        q, kv = F.linear(x, self.W_QKV).split(self.widths, dim=-1)
        k, v = cache.append(index, kv)
        q = q.unflatten(-1, (self.h, -1)).transpose(1, 2)  # [row, head, position, d_k]
        z = F.scaled_dot_product_attention(q, k, v, is_causal=new > 1)
        x = norm(x + F.linear(z.transpose(1, 2).flatten(2), self.W_O))

        # the beams of a sentence, and their positions, are queries of one row
        q = F.linear(x, self.cross_W_Q).view(rows // beams, beams * new, self.h, -1)
        z = F.scaled_dot_product_attention(q.transpose(1, 2), self.k, self.v, attn_mask=mask)
        z = z.transpose(1, 2).reshape(rows, new, -1)
        x = cross_norm(x + F.linear(z, self.cross_W_O))

        return feed_forward_norm(x + self.W_2(self.W_1(x).relu()))
