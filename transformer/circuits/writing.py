"""Output of a head at one key, taken alone, in the words of the vocabulary.

A key j brings v_j W_O to the stream of a query that looks at nothing else. Carried through the
norms after the head, with their deviations held, and through the projection, it raises some logits
and lowers others (the OV circuit of Elhage et al. 2021). The encoder's heads write into a stream
that ends in no logits: theirs is read in the pieces of the source, by the encoder's embedding.
"""

import torch
from torch import Tensor

from transformer.analysis.heads.head import Head, all_heads, require_heads
from transformer.analysis.lenses.decomposition import head_W_O
from transformer.analysis.stream import linearise_norm, norm_of, query_stream, sublayers
from transformer.analysis.teacher_forcing import forced_pair, to_array, values_at
from transformer.arrays import AnyFloats
from transformer.attention import MultiHeadAttention
from transformer.choices import require_number
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind, attention_name
from transformer.model import Transformer
from transformer.trace import AttentionTrace


@torch.inference_mode()
def written_logits(
    model: Transformer, trace: AttentionTrace, head: Head, query: int, keys: list[int]
) -> AnyFloats:
    """Compute what each key would bring to the logits of a query, `[key, vocab]`.

    The mean over the vocabulary is taken off, which changes no probability.
    """
    require_heads(model, [head])
    kind, layer, number = head
    name = attention_name(kind, layer)
    stack, end = query_stream(kind, layer)
    after = sublayers(model, stack)[end:]
    names = {f"{name}.hook_v"} | {f"{sublayer.name}_norm.hook_sum" for sublayer in after}
    _, cache = values_at(model, forced_pair(model, trace), names)
    values = cache[f"{name}.hook_v"][0, number]
    require_number("query", query, cache[f"{name}_norm.hook_sum"].size(1))
    for key in keys:
        require_number("key", key, len(values))
    written = values[keys] @ head_W_O(model, kind, layer)[:, number].T
    for sublayer in after:
        added = cache[f"{sublayer.name}_norm.hook_sum"][0, query]
        written = linearise_norm(norm_of(model, sublayer), added, written)
    return to_array(centre_logits(written @ _table(model, stack).T))


def copying_score(model: Transformer, head: Head) -> float:
    """Compute Σλ / Σ|λ| of W_E W_V W_O W_Eᵀ of a self-attention head, from -1 to 1.

    Near 1, a head raises the pieces that it looks at (Elhage et al. 2021); norms are left out.
    """
    require_heads(model, [head])
    if head.kind == "cross":
        raise InputError(
            f"{head.title} reads another language than it writes: choose a self-attention head."
        )
    return _copying_score(model, head, _gram(model, head.kind))


def copying_scores(model: Transformer) -> dict[Head, float]:
    """Compute the copying score of every self-attention head."""
    grams = {kind: _gram(model, kind) for kind in KINDS if kind != "cross"}
    return {
        head: _copying_score(model, head, grams[head.kind])
        for head in all_heads(model.config)
        if head.kind in grams
    }


@torch.inference_mode()
def _copying_score(model: Transformer, head: Head, gram: Tensor) -> float:
    attention = model.get_submodule(attention_name(head.kind, head.layer))
    assert isinstance(attention, MultiHeadAttention)
    W_V = attention.W_V.weight.view(attention.h, -1, attention.W_V.in_features)[head.head]
    W_O = head_W_O(model, head.kind, head.layer)[:, head.head]
    # the eigenvalues that are not 0 are those of the product that begins with W_O: d_v by d_v
    values = torch.linalg.eigvals(W_V.double() @ gram @ W_O.double())
    return float(values.real.sum() / values.abs().sum())


@torch.inference_mode()
def _gram(model: Transformer, kind: Kind) -> Tensor:
    table = _table(model, query_stream(kind, 0)[0]).double()
    return table.T @ table


def _table(model: Transformer, stack: str) -> Tensor:
    """Return the matrix that reads a stream in pieces, `[vocab, d_model]`."""
    if stack == "decoder":
        return model.projection
    return model.shared_embedding if model.source_embedding is None else model.source_embedding


def centre_logits(logits: Tensor) -> Tensor:
    """Subtract the mean over the vocabulary, which changes no probability."""
    return logits - logits.mean(-1, keepdim=True)
