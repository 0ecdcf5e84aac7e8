"""Pieces that do not fit the model are refused in one sentence, whatever is asked of them."""

from dataclasses import replace

import pytest

from tests.transformer.analysis.lens_cases import Case, uneven
from tests.transformer.reference import is_one_sentence
from transformer import InputError, Piece
from transformer.analysis.teacher_forcing import forced_pair, patterns

__all__ = ["uneven"]


def test_what_the_decoder_reads_is_one_step_behind_what_it_writes(uneven: Case) -> None:
    pair = forced_pair(uneven.model, uneven.trace)
    assert pair.source.tolist() == [[piece.id for piece in uneven.trace.source_pieces]]
    assert pair.written.tolist() == [piece.id for piece in uneven.trace.target_pieces]
    assert pair.target.tolist() == [[2, *pair.written.tolist()[:-1]]]


@pytest.mark.parametrize("side", ["source_pieces", "target_pieces"])
@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (Piece(30, "too large", 0),),
        (Piece(-1, "below", 0),),
        (Piece(5, "good", 0), Piece(0, "<pad>", 1)),
        tuple(Piece(5, "x", word) for word in range(1025)),
    ],
)
def test_pieces_that_do_not_fit_are_refused(uneven: Case, side, pieces) -> None:
    with pytest.raises(InputError) as refused:
        patterns(uneven.model, replace(uneven.trace, **{side: pieces}), "cross")
    assert is_one_sentence(str(refused.value))
