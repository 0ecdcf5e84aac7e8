"""Padding, and the masks of attention: padding, causal, and both together (§3.1, §3.2.3).

Masks are boolean and True where a query may see a key, with shapes that broadcast to
`[batch, head, query, key]`.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from transformer.config import PAD


def pad_sequences(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Pad token ids on the right to the longest sequence: `[batch, position]`, int64."""
    padded = np.full((len(sequences), max(map(len, sequences))), PAD, dtype=np.int64)
    for row, ids in enumerate(sequences):
        padded[row, : len(ids)] = ids
    return torch.from_numpy(padded)


def padding_mask(tokens: Tensor) -> Tensor:
    """Mark the keys that are real tokens, of `[batch, key]` ids, as True: `[batch, 1, 1, key]`."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(
    queries: int, keys: int | None = None, device: torch.device | None = None
) -> Tensor:
    """Mark the keys that do not come later than the query as True (§3.2.3): `[1, 1, query, key]`.

    With more keys than queries, the queries are the last ones, as in decoding from a cache.
    """
    keys = queries if keys is None else keys
    position_of_query = torch.arange(keys - queries, keys, device=device)[:, None]
    position_of_key = torch.arange(keys, device=device)[None, :]
    return (position_of_key <= position_of_query)[None, None]


def padding_and_causal_mask(tokens: Tensor) -> Tensor:
    """Mark the keys that are real tokens and do not come later as True: `[batch, 1, query, key]`.

    The decoder does not need it while padding is on the right, where the causal mask hides it
    from every real query. Sequences padded on the left do, and the app shows it.
    """
    return padding_mask(tokens) & causal_mask(tokens.size(1), device=tokens.device)
