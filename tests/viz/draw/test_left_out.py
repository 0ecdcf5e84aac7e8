"""The line on what maps leave out names its shares, its place and its tokens."""

import re
from dataclasses import replace

import numpy as np
import pytest

from transformer import AttentionTrace
from viz.draw.heads_view import ExplorerOptions
from viz.draw.left_out import left_out, shares_left_out


@pytest.fixture
def trace() -> AttentionTrace:
    """Head h of layer l gives (1 + 2l + h) / 10 to `</s>` in its first row, nothing below."""
    weights = np.zeros((2, 2, 2, 3), np.float32)
    weights[..., 0] = 1
    for layer, head in np.ndindex(2, 2):
        share = (1 + 2 * layer + head) / 10
        weights[layer, head, 0] = [1 - share, 0, share]
    return AttentionTrace.from_arrays(
        cross=weights, source_tokens=["▁a", "▁b", "</s>"], target_tokens=["▁x", "▁y"]
    )


@pytest.mark.parametrize(
    ("layer", "head", "shares"),
    [
        (1, 0, (0.125, 0.15)),
        (1, None, (0.125, 0.175)),
        (None, 1, (0.125, 0.15)),
        (None, None, (0.125,)),
    ],
)
def test_shares_are_of_all_heads_and_of_the_open_map(trace, layer, head, shares) -> None:
    options = ExplorerOptions("cross", layer, head)
    assert shares_left_out(trace, "cross", options) == pytest.approx(shares, rel=1e-6)


@pytest.mark.parametrize(
    ("layer", "head", "place"),
    [
        (1, 0, "15\u00a0% in cross-attention L2 H1, on"),
        (1, None, "18\u00a0% in layer 2"),
        (None, 1, "15\u00a0% in head 2 of all layers"),
    ],
)
def test_the_open_map_is_named_from_1(trace: AttentionTrace, layer, head, place: str) -> None:
    assert place in left_out(trace, "cross", ExplorerOptions("cross", layer, head))


def test_many_signs_are_not_all_named(trace: AttentionTrace) -> None:
    signs = [chr(0x2E00 + n) for n in range(40)]  # punctuation
    many = AttentionTrace.from_arrays(
        encoder_self=np.full((1, 1, 41, 41), 1 / 41, np.float32), source_tokens=["▁a", *signs]
    )
    text = left_out(many, "encoder_self", ExplorerOptions("encoder_self", 0, 0))
    assert len(re.findall("“", text)) == 6
    assert signs[5] in text
    assert "98\u00a0%" in text


def test_nothing_is_left_out_of_words_alone(trace: AttentionTrace) -> None:
    pieces = tuple(replace(piece, text="▁c") for piece in trace.source_pieces)
    words = replace(trace, source_pieces=pieces)
    assert "%" not in left_out(words, "cross", ExplorerOptions("cross", 0, 0))
