"""Shares of the source, against plain loops of ALTI+ over the values of another implementation."""

from dataclasses import replace

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from transformer.analysis.source_share import by_words, source_shares


def test_source_and_prefix_sum_to_1_and_none_is_negative(case: Case) -> None:
    shares = source_shares(case.translator, case.trace)
    assert min(shares.source.min(), shares.prefix.min()) >= 0
    np.testing.assert_allclose(shares.from_source + shares.prefix, 1, atol=1e-6)
    assert (shares.from_source > 0).all()


def test_words_sum_their_read_pieces_and_average_their_written_ones(translator, trace):
    tokens = source_shares(translator, trace)
    words = by_words(tokens, trace)
    read, written = (
        [p.word for p in pieces] for pieces in (trace.source_pieces, trace.target_pieces)
    )
    assert len(set(written)) < len(written) or len(set(read)) < len(read)  # one has two pieces
    for (i, row), (j, column) in (
        ((i, row), (j, column))
        for i, row in enumerate(dict.fromkeys(written))
        for j, column in enumerate(dict.fromkeys(read))
    ):
        cells = [
            [tokens.source[n, m] for m, word in enumerate(read) if word == column]
            for n, word in enumerate(written)
            if word == row
        ]
        assert words.source[i, j] == pytest.approx(np.mean([sum(cell) for cell in cells]))
    np.testing.assert_allclose(words.from_source + words.prefix, 1, atol=1e-5)
    texts = enumerate(trace.source_tokens)
    sinks = [n for n, text in texts if text == "</s>" or not any(map(str.isalnum, text))]
    assert len(sinks) > 1
    for step, share in enumerate(tokens.on_sinks):
        rows = [head[step, sinks].sum() for layer in trace.cross for head in layer]
        assert share == pytest.approx(np.mean(rows), rel=1e-5)
    assert words.used == pytest.approx([max(column) for column in words.source.T])


def test_a_beginning_has_the_same_shares_whatever_follows(translator, trace):
    whole = source_shares(translator, trace)
    pieces = trace.target_pieces[:2]
    cut = replace(trace, target_pieces=pieces, cross=trace.cross[:, :, :2])
    first = source_shares(translator, cut)
    np.testing.assert_allclose(first.source, whole.source[:2], atol=1e-6)
    np.testing.assert_allclose(first.on_sinks, whole.on_sinks[:2], atol=1e-6)
