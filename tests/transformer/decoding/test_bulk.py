"""Bulk search finds what beam search finds first, however the sentences lie together."""

from __future__ import annotations

import copy

import pytest
import torch

from transformer.config import EOS, TransformerConfig
from transformer.decoding import beam_search, bulk_search
from transformer.masks import pad_sequences
from transformer.model import Transformer


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Random weights, and a bias by which sentences end after few pieces, many, and never."""
    torch.manual_seed(3)
    config = TransformerConfig(
        vocab_size=300, N=2, d_model=32, d_ff=64, h=4, max_length=64, output_bias=True
    )
    model = Transformer(config).eval()
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[EOS] = 2.5
    return model


def sources(count: int) -> list[list[int]]:
    draw = torch.Generator().manual_seed(5)
    lengths = torch.randint(1, 14, (count,), generator=draw).tolist()
    return [[*torch.randint(4, 300, (n,), generator=draw).tolist(), EOS] for n in lengths]


@pytest.mark.parametrize("beam_size", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.6, 2.5])
def test_it_finds_what_beam_search_finds_first(
    model: Transformer, beam_size: int, alpha: float
) -> None:
    source = pad_sequences(sources(60))
    expected = [
        found[0]
        for found in beam_search(
            model, source, beam_size=beam_size, alpha=alpha, max_extra=12, n_best=1
        )
    ]
    found = bulk_search(model, source, beam_size=beam_size, alpha=alpha, max_extra=12)
    assert found == [list(one.tokens) for one in expected]
    # the text has all cases, or this shows nothing
    lengths = [len(tokens) for tokens in found]
    assert min(lengths) < 8 < max(lengths)
    assert 0 < sum(one.complete for one in expected) < len(expected)


def test_a_sentence_alone_is_translated_as_among_many(model: Transformer) -> None:
    rows = sources(12)
    together = bulk_search(model, pad_sequences(rows), max_extra=12)
    assert together == [bulk_search(model, pad_sequences([row]), max_extra=12)[0] for row in rows]


def test_a_model_in_bfloat16_finds_nearly_the_same(model: Transformer) -> None:
    source = pad_sequences(sources(60))
    exact = bulk_search(model, source, beam_size=2, max_extra=12)
    rounded = copy.deepcopy(model).to(torch.bfloat16)
    found = bulk_search(rounded, source, beam_size=2, max_extra=12)
    # random weights leave many pieces nearly as probable as the best
    first = [a[0] == b[0] for a, b in zip(found, exact, strict=True)]
    assert sum(first) > len(first) / 2
