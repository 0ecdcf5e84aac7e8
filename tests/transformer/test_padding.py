"""Padding stands on the right and changes nothing else."""

import torch

from transformer.config import PAD
from transformer.padding import pad_sequences, round_up


def test_shorter_rows_are_filled_up_on_the_right() -> None:
    padded = pad_sequences([[7, 8, 9], [5], [6, 4]])
    assert padded.tolist() == [[7, 8, 9], [5, PAD, PAD], [6, 4, PAD]]
    assert padded.dtype == torch.long


def test_the_length_is_a_multiple_where_one_is_asked_for() -> None:
    assert pad_sequences([[7] * 8], multiple=8).shape == (1, 8)
    assert pad_sequences([[7] * 9], multiple=8).tolist() == [[7] * 9 + [PAD] * 7]
    assert [round_up(length, 8) for length in (1, 8, 9)] == [8, 8, 16]
