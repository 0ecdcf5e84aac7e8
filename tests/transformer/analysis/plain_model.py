"""The whole model in plain NumPy and float64, from the weights alone, with all that passes inside.

Nothing of the package under test runs here; LayerNorm, softmax and the network are the formulas of
`reference`.
"""

import math
from typing import NamedTuple

import numpy as np

from tests.transformer.reference import attention_weights, feed_forward, layer_norm

EPS = 1e-5


class Attention(NamedTuple):
    """One attention sub-layer: its input, the weights, v and z, what it adds, and its output."""

    x: np.ndarray  # [query, d_model], the residual
    pattern: np.ndarray  # [head, query, key]
    v: np.ndarray  # [head, key, d_v]
    W_O: np.ndarray  # [head, d_v, d_model]
    added: np.ndarray  # [query, d_model], before the norm
    y: np.ndarray  # [query, d_model], after it
    gain: np.ndarray
    bias: np.ndarray
    constant: np.ndarray | int  # [d_model], the bias of W_O; 0 where there is none


class Norm(NamedTuple):
    """Values that one norm of the decoder reads, and what it multiplies and adds."""

    sublayer: tuple[str, int]  # kind of attention or "feed_forward", and layer
    added: np.ndarray  # [target, d_model]
    gain: np.ndarray
    bias: np.ndarray
    constant: np.ndarray | int = 0  # [d_model], what no head adds before it


class Network(NamedTuple):
    """One feed-forward sub-layer: what it adds, and its norm."""

    output: np.ndarray  # [position, d_model]
    added: np.ndarray  # [position, d_model], before the norm
    gain: np.ndarray
    bias: np.ndarray


class PlainModel:
    """Run it once over token ids; `attention`, `layers` and `norms` then hold what was met."""

    def __init__(self, model, source, target):
        self.weights = {
            name: tensor.double().numpy() for name, tensor in model.state_dict().items()
        }
        self.config = model.config
        self.positions = [
            stack.embedding.positions.detach().double().numpy()
            for stack in (model.encoder, model.decoder)
        ]
        self.attention: dict[tuple[str, int], Attention] = {}
        self.layers: dict[tuple[str, int], np.ndarray] = {}
        self.networks: dict[tuple[str, int], Network] = {}
        self.norms: list[Norm] = []  # of the decoder, in order
        self.table = self.weights["shared_embedding"]
        tables = [self.weights.get("source_embedding", self.table), self.table]
        memory = self.embed(tables[0], source, 0)
        for n in range(self.config.N):
            memory = self.attend("encoder_self", n, memory, memory, None)
            memory = self.layers["encoder", n] = self.network("encoder", n, memory)
        x = self.embed(tables[1], target, 1)
        causal = np.tril(np.ones((len(target), len(target)), dtype=bool))
        for n in range(self.config.N):
            x = self.attend("decoder_self", n, x, x, causal)
            x = self.attend("cross", n, x, memory, None)
            x = self.layers["decoder", n] = self.network("decoder", n, x)
        self.logits = x @ self.table.T + self.weights.get("output_bias", 0)

    def embed(self, table, ids, stack):
        scaled = table[ids] * math.sqrt(self.config.d_model)
        return scaled + self.positions[stack][: len(ids)]

    def attend(self, kind, n, x, keys, mask):
        stack, part = {
            "encoder_self": ("encoder", "self"),
            "decoder_self": ("decoder", "self"),
            "cross": ("decoder", "cross"),
        }[kind]
        name = f"{stack}.layers.{n}.{part}_attention"
        q, k, v = (
            np.stack(
                np.split(
                    rows @ self.weights[f"{name}.W_{w}.weight"].T
                    + self.weights.get(f"{name}.W_{w}.bias", 0),
                    self.config.h,
                    1,
                )
            )
            for w, rows in (("Q", x), ("K", keys), ("V", keys))
        )
        pattern = attention_weights(q, k, mask)
        W_O = np.stack(np.split(self.weights[f"{name}.W_O.weight"].T, self.config.h))
        added = x + sum(pattern[h] @ v[h] @ W_O[h] for h in range(self.config.h))
        constant = self.weights.get(f"{name}.W_O.bias", 0)
        added = added + constant
        gain, bias = (self.weights[f"{name}_norm.norm.{w}"] for w in ("weight", "bias"))
        y = layer_norm(added, gain, bias)
        self.attention[kind, n] = Attention(x, pattern, v, W_O, added, y, gain, bias, constant)
        if stack == "decoder":
            self.norms.append(Norm((kind, n), added, gain, bias, constant))
        return y

    def network(self, stack, n, x):
        name = f"{stack}.layers.{n}"
        W_1, b_1, W_2, b_2 = (
            self.weights[f"{name}.feed_forward.W_{i}.{w}"]
            for i in (1, 2)
            for w in ("weight", "bias")
        )
        gain, bias = (
            self.weights[f"{name}.feed_forward_norm.norm.{w}"] for w in ("weight", "bias")
        )
        inner = x @ W_1.T + b_1
        if self.config.activation == "swish":
            added = x + inner / (1 + np.exp(-inner)) @ W_2.T + b_2
        else:
            added = x + feed_forward(x, W_1.T, b_1, W_2.T, b_2)
        self.networks[stack, n] = Network(added - x, added, gain, bias)
        if stack == "decoder":
            self.norms.append(Norm(("feed_forward", n), added, gain, bias))
        return layer_norm(added, gain, bias)


def brought(block: Attention, h: int, i: int, j: int) -> np.ndarray:
    """α_ij x_j W_V W_O of one head: one vector of d_model, by the formula."""
    return block.pattern[h, i, j] * (block.v[h, j] @ block.W_O[h])


def linearised(block: Attention | Network | Norm, i: int, part: np.ndarray) -> np.ndarray:
    """One part of row i through the norm, with the row's own deviation."""
    deviation = math.sqrt(((block.added[i] - block.added[i].mean()) ** 2).mean() + EPS)
    return block.gain * (part - part.mean()) / deviation
