"""The numbers of findings computed again from the model, by other, plainer code."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from transformer import AttentionTrace, Kind, Translator
from transformer.analysis.heads.head import Head
from transformer.config import BOS, EOS
from viz.findings import PAGES, Claim, findings

TOLERANCE = 1e-4


class Recomputation:
    """One sentence with the values of a plain pass of the model over it."""

    def __init__(self, translator: Translator, trace: AttentionTrace) -> None:
        self.model = translator.model
        self.source = [piece.id for piece in trace.source_pieces]
        self.target = [piece.id for piece in trace.target_pieces]
        self.source_words = [piece.word for piece in trace.source_pieces]
        self.target_words = [piece.word for piece in trace.target_pieces]
        self.heads = {kind: trace.weights(kind).shape[:2] for kind in trace.kinds}
        self.logits, self.values = self.run()

    @torch.inference_mode()
    def run(self, edits: dict[str, Callable[[Tensor, str], Tensor]] | None = None) -> tuple:
        """Run the model over the pair; return its logits and the values at its hook points."""
        inputs = torch.tensor([self.source]), torch.tensor([[BOS, *self.target[:-1]]])
        with self.model.hooks(edits or {}):
            logits, values = self.model.run_with_cache(*inputs)
        return logits[0].double(), values

    def attention(self, kind: Kind, layer: int) -> str:
        """Return the dotted name of an attention sub-layer."""
        stack = "encoder" if kind == "encoder_self" else "decoder"
        return f"{stack}.layers.{layer}.{'cross' if kind == 'cross' else 'self'}_attention"

    def maps(self, kind: Kind) -> list[np.ndarray]:
        """Return the weights of every head of a kind, `[query, key]` each, layer by layer."""
        layers, _ = self.heads[kind]
        points = [f"{self.attention(kind, n)}.hook_pattern" for n in range(layers)]
        return [head for point in points for head in self.values[point][0].double().numpy()]

    def map(self, head: Head) -> np.ndarray:
        """Return the weights of a head, `[query, key]`."""
        return self.maps(head.kind)[head.layer * self.heads[head.kind][1] + head.head]

    def log_p(self, logits: Tensor) -> float:
        """Sum the log probabilities of the written pieces."""
        steps = range(len(self.target))
        return sum(float(logits[n].log_softmax(-1)[self.target[n]]) for n in steps)

    def scores(self, head: Head, query: int) -> np.ndarray:
        """Compute q·k of one row of a head, `[key]`."""
        name = self.attention(head.kind, head.layer)
        q = self.values[f"{name}.hook_q"][0, head.head, query].double()
        return (self.values[f"{name}.hook_k"][0, head.head].double() @ q).numpy()

    def value(self, claim: Claim) -> float:
        """Compute the value of a claim again."""
        return _MEASURES[claim.measure](self, *claim.arguments)


def _weight(s: Recomputation, head: Head, query: int, key: int) -> float:
    return float(s.map(head)[query, key])


def _agreeing(s: Recomputation, query: int, key: int) -> float:
    return sum(weights[query, key] > 0.5 for weights in s.maps("cross"))


def _neighbour_shares(s: Recomputation, kind: Kind, layer: int) -> list[float]:
    h = s.heads[kind][1]
    shares = []
    for weights in s.maps(kind)[layer * h : layer * h + h]:
        rows = range(1, len(weights))
        before = sum(weights[n, n - 1] for n in rows) / len(rows)
        after = sum(weights[n - 1, n] for n in rows) / len(rows)
        shares.append(float(max(before, after)))
    return [share for share in shares if share > 0.5]


def _on_the_end(s: Recomputation, kind: Kind) -> float:
    keys = s.target if kind == "decoder_self" else s.source
    ends = [n for n, piece in enumerate(keys) if piece == EOS]
    first = 1 if kind == "decoder_self" and len(keys) > 1 else 0
    return sum(weights[first:, ends].sum(-1).mean() > 0.5 for weights in s.maps(kind))


def _largest(s: Recomputation, head: Head) -> float:
    weights = s.map(head)
    first = 1 if head.kind == "decoder_self" and len(weights) > 1 else 0
    keys = [BOS, *s.target[:-1]] if head.kind == "decoder_self" else s.source
    words = [n for n, piece in enumerate(keys) if piece != EOS]
    return float(np.mean([max(row[words], default=0) for row in weights[first:]]))


def _rescaled(s: Recomputation, head: Head, query: int, key: int, d_k: float) -> float:
    scores = s.scores(head, query) * d_k**0.5
    exponents = np.exp(scores - scores.max())
    return float(exponents[key] / exponents.sum())


def _later(s: Recomputation) -> float:
    names = [s.attention("decoder_self", layer) for layer in range(s.heads["decoder_self"][0])]
    _, values = s.run({f"{n}.hook_mask": lambda mask, _: torch.ones_like(mask) for n in names})
    maps = [values[f"{name}.hook_pattern"][0].double().numpy() for name in names]
    return float(np.mean([np.triu(rows, 1).sum(-1).mean() for heads in maps for rows in heads]))


def _without_positions(s: Recomputation) -> float:
    point = "encoder.embedding.hook_positions"
    return s.log_p(s.run({point: lambda positions, _: positions * 0})[0])


def _without_head(s: Recomputation, head: Head) -> float:
    def silence(z: Tensor, _name: str) -> Tensor:
        z = z.clone()
        z[:, head.head] = 0
        return z

    edited, _ = s.run({f"{s.attention(head.kind, head.layer)}.hook_z": silence})
    return s.log_p(edited) - s.log_p(s.logits)


def _layer_shares(s: Recomputation, kind: Kind, layer: int) -> np.ndarray:
    """ALTI: how much nearer each key, and in cross-attention the residual last, brings the row."""
    name = s.attention(kind, layer)
    at = {point: s.values[f"{name}.hook_{point}"][0].double().numpy() for point in ("pattern", "v")}
    added, y = (
        s.values[f"{name}_norm.hook_{point}"][0].double().numpy() for point in ("sum", "normalised")
    )
    sublayer = s.values[f"{name}_norm.hook_sublayer"][0].double().numpy()
    W_O = dict(s.model.named_parameters())[f"{name}.W_O.weight"].detach().double().numpy()
    gain = dict(s.model.named_parameters())[f"{name}_norm.norm.weight"].detach().double().numpy()
    eps = s.model.get_submodule(f"{name}_norm.norm").eps
    heads, rows, keys = at["pattern"].shape
    d_v = W_O.shape[1] // heads
    brought = [at["v"][h] @ W_O[:, h * d_v : (h + 1) * d_v].T for h in range(heads)]
    shares = np.zeros((rows, keys + (kind == "cross")))
    for i in range(rows):
        for j in range(shares.shape[1]):
            if kind == "decoder_self" and j > i:
                continue
            part = np.zeros(len(gain))
            if j < keys:
                part = sum(at["pattern"][h, i, j] * brought[h][j] for h in range(heads))
            if j == (keys if kind == "cross" else i):
                part = part + added[i] - sublayer[i]
            part = gain * (part - part.mean()) / np.sqrt(added[i].var() + eps)
            shares[i, j] = max(0, np.abs(y[i]).sum() - np.abs(y[i] - part).sum())
    return shares / shares.sum(1, keepdims=True)


def token_shares(s: Recomputation) -> np.ndarray:
    """ALTI+: the share of each source token in each written one, by one matrix for each layer."""
    source, target = len(s.source), len(s.target)
    memory = np.eye(source)
    for layer in range(s.heads["encoder_self"][0]):
        memory = _layer_shares(s, "encoder_self", layer) @ memory
    whole = np.eye(source + target)
    whole[:source, :source] = memory
    for layer in range(s.heads["cross"][0]):
        own, cross = (_layer_shares(s, kind, layer) for kind in ("decoder_self", "cross"))
        step = np.eye(source + target)
        step[source:] = np.hstack([cross[:, :source], cross[:, source:] * own])
        whole = step @ whole
    return whole[source:, :source]


def _used(s: Recomputation, word: int) -> float:
    """The largest share of a source word in a written one."""
    shares = token_shares(s)[:, np.array(s.source_words) == word].sum(1)
    written = set(s.target_words)
    return max(
        np.mean([x for x, n in zip(shares, s.target_words, strict=True) if n == w]) for w in written
    )


def _parameters(s: Recomputation, part: str = "") -> float:
    return sum(p.numel() for name, p in s.model.named_parameters() if part in name)


def _parameter_share(s: Recomputation, part: str) -> float:
    return (_parameters(s, f"{part}.")) / _parameters(s)


_MEASURES: dict[str, Callable[..., float]] = {
    "weight": _weight,
    "heads that agree on a cell": _agreeing,
    "heads that look at a neighbour": lambda s, *place: len(_neighbour_shares(s, *place)),
    "share on a neighbour": lambda s, head, by: np.diagonal(s.map(head), by).mean(dtype=float),
    "least of their shares": lambda s, *place: min(_neighbour_shares(s, *place)),
    "heads on the end token": _on_the_end,
    "largest weight of a row": _largest,
    "score": lambda s, head, query, key: s.scores(head, query)[key] / s.model.config.d_k**0.5,
    "weight at another scale": _rescaled,
    "share on later words": _later,
    "log probability": lambda s: s.log_p(s.logits),
    "log probability without encoder positions": _without_positions,
    "change of log probability without a head": _without_head,
    "use of a source word": _used,
    "parameters": _parameters,
    "share of parameters": _parameter_share,
}


def wrong_claims(translator: Translator, trace: AttentionTrace) -> tuple[int, list[str]]:
    """Compute every number of all findings again; return their count and the wrong ones."""
    again = Recomputation(translator, trace)
    results = [f for page in PAGES for f in findings(page, trace, translator)]
    wrong = [
        f"{finding.text} {claim.measure}{claim.arguments}: {claim.value}, not {value}"
        for finding in results
        for claim in finding.claims
        if abs((value := again.value(claim)) - claim.value) > TOLERANCE * max(1, abs(value))
    ]
    return len(results), wrong
