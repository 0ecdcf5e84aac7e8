"""Pieces that do not fit the model are refused in one sentence, whatever is asked of them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from tests.transformer.analysis.lens_cases import Case, uneven
from tests.transformer.reference import is_one_sentence
from transformer import InputError, Piece, Tokenizer, Translator
from transformer.analysis.corpus.faithfulness import drops_without_each_word
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import patched
from transformer.analysis.lenses import lens
from transformer.analysis.logits.logit_lens import alternatives
from transformer.analysis.paper.arithmetic import sublayer_values
from transformer.analysis.paper.flow import flow
from transformer.analysis.paper.positions import Edit, embedding_parts, log_probs, moved_log_probs
from transformer.analysis.teacher_forcing import forced_pair

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
        lens("weights", uneven.translator, replace(uneven.trace, **{side: pieces}), "cross")
    assert is_one_sentence(str(refused.value))


@pytest.mark.parametrize(
    "ask",
    [
        flow,
        lambda model, trace: sublayer_values(model, trace, "cross", 0),
        lambda model, trace: embedding_parts(model, trace, "encoder"),
        lambda model, trace: log_probs(model, trace, Edit("removed", ("encoder",))),
        lambda model, trace: moved_log_probs(model, trace, ("encoder",), [1]),
        drops_without_each_word,
        lambda model, donor: patched(model, donor, [Head("cross", 0, 0)]).__enter__(),
        lambda model, trace: alternatives(model, cast("Tokenizer", None), trace, 1),
        lambda model, trace: effect(
            cast("Translator", SimpleNamespace(model=model, hooks=model.hooks)), trace, []
        ),
    ],
)
def test_whatever_runs_the_pieces_of_a_trace_refuses_those_of_another_model(uneven: Case, ask):
    pieces = (Piece(5, "good", 0), Piece(9_000, "foreign", 1))
    with pytest.raises(InputError, match="has the id 9000, which is no piece of this model"):
        ask(uneven.model, replace(uneven.trace, source_pieces=pieces))
