"""Shares of the source, against plain loops of ALTI+ over the values of another implementation."""

from dataclasses import replace

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.analysis.plain_model import brought, linearised
from transformer import AttentionTrace, Translator
from transformer.analysis.source_share import by_words, source_shares


def attributed(case: Case, kind: str, layer: int, i: int) -> list[float]:
    """Shares of one row by Ferrando et al. 2022, equation 8: keys, then the residual of `cross`."""
    plain = case.plain.attention[kind, layer]
    heads, _, keys = plain.pattern.shape
    parts = [np.sum([brought(plain, h, i, j) for h in range(heads)], 0) for j in range(keys)]
    if kind == "cross":
        parts.append(plain.x[i])
    else:
        parts[i] = parts[i] + plain.x[i]
    seen = parts[: i + 1] if kind == "decoder_self" else parts
    length = np.abs(plain.y[i]).sum()
    near = [
        max(0.0, length - np.abs(plain.y[i] - linearised(plain, i, part)).sum()) for part in seen
    ]
    return [value / sum(near) for value in near]


def share_of(case: Case, source: int, step: int, layer: int) -> float:
    """Share of a source token in a position of the decoder, by recursion over all paths."""
    if layer < 0:
        return 0.0
    *cross, residual = attributed(case, "cross", layer, step)
    own = attributed(case, "decoder_self", layer, step)
    before = sum(own[j] * share_of(case, source, j, layer - 1) for j in range(step + 1))
    last = case.model.config.N - 1
    through = sum(cross[j] * encoded(case, source, j, last) for j in range(len(cross)))
    return residual * before + through


def encoded(case: Case, source: int, position: int, layer: int) -> float:
    """Share of a source token in a position of the encoder."""
    if layer < 0:
        return float(source == position)
    own = attributed(case, "encoder_self", layer, position)
    return sum(own[j] * encoded(case, source, j, layer - 1) for j in range(len(own)))


def test_shares_are_those_of_the_paths_through_all_layers(uneven: Case) -> None:
    shares = source_shares(uneven.translator, uneven.trace)
    layer = uneven.model.config.N - 1
    for step, source in np.ndindex(shares.source.shape):
        expected = share_of(uneven, source, step, layer)
        assert shares.source[step, source] == pytest.approx(expected, rel=1e-6)
    assert shares.prefix == pytest.approx(1 - shares.source.sum(1))


def test_source_and_prefix_sum_to_1_and_none_is_negative(case: Case) -> None:
    shares = source_shares(case.translator, case.trace)
    assert min(shares.source.min(), shares.prefix.min()) >= 0
    np.testing.assert_allclose(shares.from_source + shares.prefix, 1, atol=1e-6)
    assert (shares.from_source > 0).all()


def test_words_sum_their_read_pieces_and_average_their_written_ones(
    translator: Translator, trace: AttentionTrace
) -> None:
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


def test_a_beginning_has_the_same_shares_whatever_follows(
    translator: Translator, trace: AttentionTrace
) -> None:
    whole = source_shares(translator, trace)
    pieces = trace.target_pieces[:2]
    cut = replace(trace, target_pieces=pieces, cross=trace.cross[:, :, :2])
    first = source_shares(translator, cut)
    np.testing.assert_allclose(first.source, whole.source[:2], atol=1e-6)
    np.testing.assert_allclose(first.on_sinks, whole.on_sinks[:2], atol=1e-6)
