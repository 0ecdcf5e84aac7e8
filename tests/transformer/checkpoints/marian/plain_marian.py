"""A MarianMT folder in plain NumPy and float64, in Marian's own order of d_model and of the pieces.

From the published description and the tensors' names alone; nothing of the package runs here.
"""

import json
import math
from pathlib import Path

import numpy as np
import safetensors.torch
import torch

from tests.transformer.reference import attention_weights, layer_norm

_erf = np.vectorize(math.erf)
ACTIVATIONS = {
    "relu": lambda x: np.maximum(0, x),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
}


class PlainMarian:
    """`run` gives the logits; `memory` and `patterns` then hold what was met."""

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        if (path := folder / "model.safetensors").exists():
            stored = safetensors.torch.load_file(path)
        else:
            stored = torch.load(folder / "pytorch_model.bin", weights_only=True)
        self.weights = {name: tensor.double().numpy() for name, tensor in stored.items()}
        self.memory = np.empty(0)
        self.patterns: dict[str, list[np.ndarray]] = {}

    def run(self, source: list[int], written: list[int]) -> np.ndarray:
        """Logits of each next piece, `[target, piece]`, by Marian's numbers.

        Args:
            source: Marian's numbers, ending with `</s>`.
            written: likewise, after the start.
        """
        self.patterns = {"encoder_self": [], "decoder_self": [], "cross": []}
        x = self.embed("encoder", source)
        for n in range(self.config["encoder_layers"]):
            layer = f"model.encoder.layers.{n}"
            x = self.attend(f"{layer}.self_attn", x, x, None, "encoder_self")
            x = self.network(layer, x)
        self.memory = x
        x = self.embed("decoder", [self.config["decoder_start_token_id"], *written])
        causal = np.tril(np.ones((len(x), len(x)), dtype=bool))
        for n in range(self.config["decoder_layers"]):
            layer = f"model.decoder.layers.{n}"
            x = self.attend(f"{layer}.self_attn", x, x, causal, "decoder_self")
            x = self.attend(f"{layer}.encoder_attn", x, self.memory, None, "cross")
            x = self.network(layer, x)
        return x @ self.table("decoder").T + self.weights["final_logits_bias"][0]

    def greedy(self, source: list[int], limit: int) -> list[int]:
        """The most probable piece at each step; `<pad>` and `<unk>` are never written."""
        written: list[int] = []
        while len(written) < limit and 0 not in written:
            logits = self.run(source, written)[-1]
            logits[[1, self.config["pad_token_id"]]] = -np.inf
            written.append(int(logits.argmax()))
        return written

    def table(self, stack: str) -> np.ndarray:
        own = self.weights.get(f"model.{stack}.embed_tokens.weight")
        return self.weights["model.shared.weight"] if own is None else own

    def embed(self, stack: str, ids: list[int]) -> np.ndarray:
        d = self.config["d_model"]
        positions = self.weights.get(f"model.{stack}.embed_positions.weight")
        if positions is None:
            at = np.arange(len(ids))[:, None]
            angle = at / 10_000 ** (np.arange(d // 2) * 2 / d)
            positions = np.concatenate((np.sin(angle), np.cos(angle)), 1)
        scale = math.sqrt(d) if self.config["scale_embedding"] else 1
        scaled: np.ndarray = self.table(stack)[ids] * scale
        return scaled + positions[: len(ids)]

    def attend(
        self, name: str, x: np.ndarray, keys: np.ndarray, mask: np.ndarray | None, kind: str
    ) -> np.ndarray:
        h = self.config[f"{name.split('.')[1]}_attention_heads"]
        q, k, v = (
            np.stack(np.split(self.linear(f"{name}.{part}_proj", rows), h, 1))
            for part, rows in (("q", x), ("k", keys), ("v", keys))
        )
        pattern = attention_weights(q, k, mask)
        self.patterns[kind].append(pattern)
        z = np.concatenate(list(pattern @ v), 1)
        return self.norm(f"{name}_layer_norm", x + self.linear(f"{name}.out_proj", z))

    def network(self, name: str, x: np.ndarray) -> np.ndarray:
        hidden = ACTIVATIONS[self.config["activation_function"]](self.linear(f"{name}.fc1", x))
        return self.norm(f"{name}.final_layer_norm", x + self.linear(f"{name}.fc2", hidden))

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        product: np.ndarray = x @ self.weights[f"{name}.weight"].T
        return product + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        normalised: np.ndarray = layer_norm(
            x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        )
        return normalised
