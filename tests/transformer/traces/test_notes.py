"""What is odd of given weights is said, with how far."""

import numpy as np

from transformer.traces.notes import notes_on


def even(heads, size=4):
    return np.full((heads, size, size), 1 / size, np.float32)


def test_of_ordinary_weights_there_is_nothing_to_say() -> None:
    assert notes_on({"encoder_self": [even(2)], "cross": [even(3)]}) == ()
    assert notes_on({"decoder_self": [np.eye(4, dtype=np.float32)[None]]}) == ()
    assert notes_on({"cross": [even(2) * np.float32(1.004)]}) == ()  # as bfloat16 rounds


def test_rows_that_do_not_sum_to_one_are_named_with_their_sums() -> None:
    layers = [even(2), even(3)]
    layers[1][2, 0] *= 0.93
    layers[1][2, 3] *= 1.02
    assert notes_on({"cross": layers}) == (
        "As given, rows of cross-attention L2 H3 do not sum to 1: 0.93 to 1.02.",
    )
    layers[0][1] *= 0.5
    assert notes_on({"cross": layers}) == (
        "As given, rows of cross-attention do not sum to 1 in 2 heads, L1 H2 the most: "
        "0.5 to 1.02.",
    )
    assert notes_on({"cross": [even(1) * 0]}) == (
        "As given, rows of cross-attention L1 H1 do not sum to 1: 0.",
    )


def test_negative_values_are_named_with_the_least() -> None:
    layers = [even(2), even(2)]
    layers[1][0, 2, :2] = -0.25, 0.75
    assert notes_on({"encoder_self": layers}) == (
        "Values of encoder self-attention L2 H1 are negative, down to −0.25.",
    )
    layers[0][0, 2, :2] = -0.0625, 0.5625
    assert notes_on({"encoder_self": layers}) == (
        "Values of encoder self-attention are negative in 2 heads, down to −0.25 in L2 H1.",
    )


def test_a_decoder_that_looks_ahead_is_told_from_one_that_does_not() -> None:
    layers = [np.tril(even(2)), np.tril(even(2))]
    for layer in layers:
        layer /= layer.sum(-1, keepdims=True)
    layers[1][1, 0] = 0.75, 0, 0, 0.25
    assert notes_on({"decoder_self": layers}) == (
        "The decoder looks ahead: up to 0.25 of a row of L2 H2 lies on later positions.",
    )
    assert notes_on({"encoder_self": layers}) == ()
