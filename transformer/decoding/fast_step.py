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
from transformer.decoding.weights import LayerWeights, decoder_weights
from transformer.layers import DecoderLayer
from transformer.masks import padding_mask
from transformer.model import Transformer


class FastDecoder:
    """See `StepDecoder`; the arguments are those of `PlainDecoder`.

    The weights are read when it is made: it serves one search.
    """

    def __init__(self, model: Transformer, source: Tensor, K: int) -> None:
        self.K, self.device = K, source.device
        embedding = model.decoder.embedding
        self.table, self.scale = embedding.table, embedding.scale
        self.positions = embedding.positions  # [position, d_model]
        mask = padding_mask(source)
        memory = model.encode(source, mask)
        # a mask that hides nothing only costs time
        self.mask = None if bool(mask.all()) else mask  # [sentence, 1, 1, source]
        weights = decoder_weights(model)
        self.projection = weights.projection
        self.layers = [
            _Layer(layer, each, memory)  # type: ignore[arg-type]
            for layer, each in zip(model.decoder.layers, weights.layers, strict=True)
        ]
        self.cache = BeamCache(model.config, source.size(0), memory)
        self.beams = 1  # rows of a sentence: all K are alike at the start

    @staticmethod
    def serves(model: Transformer) -> bool:
        """Whether nothing watches the model, and its modules compute no more than the formulas."""
        autocast = torch.is_autocast_enabled(model.device.type)
        return not (model.watched or autocast or model.training)

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


class _Layer:
    """One decoder layer with its keys and values of the source."""

    def __init__(self, layer: DecoderLayer, weights: LayerWeights, memory: Tensor) -> None:
        self.weights = weights
        # each [sentence, head, source, d_k or d_v]
        self.k, self.v = layer.cross_attention.keys_and_values(memory)

    def decode(
        self, x: Tensor, index: int, cache: BeamCache, beams: int, mask: Tensor | None
    ) -> Tensor:
        """As `DecoderLayer.forward`: `[row, position, d_model]` to the same.

        Args:
            index: of the layer in the cache.
            beams: rows of a sentence.
        """
        w, (rows, new, _) = self.weights, x.shape

        q, kv = w.QKV(x).split_with_sizes(w.widths, dim=-1)
        k, v = cache.append(index, kv)
        q = q.view(rows, new, w.h, -1).transpose(1, 2)  # [row, head, position, d_k]
        z = F.scaled_dot_product_attention(q, k, v, is_causal=new > 1)
        x = w.norm(x + w.O(z.transpose(1, 2).flatten(2)))

        # the beams of a sentence, and their positions, are queries of one row
        q = w.cross_Q(x).view(rows // beams, beams * new, w.h, -1).transpose(1, 2)
        z = F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=mask)
        x = w.cross_norm(x + w.cross_O(z.transpose(1, 2).reshape(rows, new, -1)))

        return w.feed_forward_norm(x + w.W_2(w.W_1(x)))
