"""Oddities of given weights are named, with how far they go."""

import numpy as np
import pytest

from transformer.traces.notes import notes_on


def even(heads, size=4):
    return np.full((heads, size, size), 1 / size, np.float32)


def test_of_ordinary_weights_there_is_nothing_to_say() -> None:
    assert notes_on({"encoder_self": [even(2)], "cross": [even(3)]}) == ()
    assert notes_on({"decoder_self": [np.eye(4, dtype=np.float32)[None]]}) == ()
    assert notes_on({"cross": [even(2) * np.float32(1.004)]}) == ()  # as bfloat16 rounds


def changed(*changes, heads=(2, 3)):
    """Even layers, each with some rows set: layer, head, row and its values or a factor."""
    layers = [even(count) for count in heads]
    for layer, head, row, values in changes:
        layers[layer][head, row] = values if isinstance(values, tuple) else values / 4
    return layers


NEGATIVE = (1, 0, 2, (-0.25, 0.75, 0.25, 0.25))


@pytest.mark.parametrize(
    ("kind", "layers", "note"),
    [
        ("cross", changed((1, 2, 0, 0.93), (1, 2, 3, 1.02), (0, 1, slice(None), 0.5)),
         "As given, rows of cross-attention do not sum to 1 in 2 heads, L1 H2 the most: "
         "0.5 to 1.02."),
        ("cross", [even(1) * 0], "As given, rows of cross-attention do not sum to 1 in L1 H1: 0."),
        ("encoder_self", changed(NEGATIVE, (0, 0, 2, (-0.0625, 0.5625, 0.25, 0.25))),
         "Values of encoder self-attention are negative in 2 heads, down to −0.25 in L2 H1."),
        ("decoder_self", [np.stack([np.eye(4)] * 2),
                          np.stack([np.eye(4), np.eye(4)[[3, 1, 2, 3]] / 4 + np.eye(4) * 0.75])],
         "The decoder looks ahead: up to 0.25 of a row of L2 H2 lies on later positions."),
    ],
)  # fmt: skip
def test_what_is_odd_is_named_with_how_far(kind, layers, note) -> None:
    assert notes_on({kind: layers}) == (note,)
