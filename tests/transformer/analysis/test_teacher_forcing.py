"""Pieces of a trace for the model, alone or as a padded batch; what does not fit is refused."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from tests.transformer.analysis.lens_cases import Case
from transformer import InputError, Piece, Tokenizer, Translator
from transformer.analysis import lenses, teacher_forcing
from transformer.analysis.heads import head, removal
from transformer.analysis.heads.effect import effect
from transformer.analysis.logits import logit_lens
from transformer.analysis.logits.decoder_lens import decoder_lens
from transformer.corpus import faithfulness
from transformer.paper import arithmetic
from transformer.paper.flow import flow
from transformer.paper.positions import embedding_parts


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
    with pytest.raises(InputError):
        lenses.lens("weights", uneven.translator, replace(uneven.trace, **{side: pieces}), "cross")


@pytest.mark.parametrize(
    "ask",
    [
        flow,
        lambda model, trace: arithmetic.sublayer_values(model, trace, "cross", 0),
        lambda model, trace: embedding_parts(model, trace, "encoder"),
        lambda model, trace: teacher_forcing.log_probs(model, trace, {}),
        faithfulness.drops_without_each_word,
        lambda model, donor: removal.patched(model, donor, [head.Head("cross", 0, 0)]).__enter__(),
        lambda model, trace: logit_lens.alternatives(model, cast("Tokenizer", None), trace, 1),
        lambda model, trace: decoder_lens(
            cast("Translator", SimpleNamespace(model=model)), trace, 0
        ),
        lambda model, trace: effect(
            cast("Translator", SimpleNamespace(model=model, hooks=model.hooks)), trace, []
        ),
    ],
)
def test_whatever_runs_the_pieces_of_a_trace_refuses_those_of_another_model(uneven: Case, ask):
    pieces = (Piece(5, "good", 0), Piece(9_000, "foreign", 1))
    with pytest.raises(InputError, match="has the id 9000, which is not a piece of this model"):
        ask(uneven.model, replace(uneven.trace, source_pieces=pieces))


def test_each_row_is_its_sentence_and_then_padding(traces):
    made = teacher_forcing.batch_traces(traces)
    sources, targets = (
        [[piece.id for piece in pieces] for pieces in sides]
        for sides in zip(
            *((trace.source_pieces, trace.target_pieces) for trace in traces), strict=True
        )
    )
    # the decoder reads `<s>`, then what was written one step before
    rows = ((made.source, sources), (made.written, targets),
            (made.target, [[2, *ids[:-1]] for ids in targets]))  # fmt: skip
    for tensor, sentences in rows:
        longest = max(map(len, sentences))
        assert tensor.tolist() == [ids + [0] * (longest - len(ids)) for ids in sentences]


def test_without_a_sentence_there_is_no_batch():
    with pytest.raises(InputError, match=r"no sentence.*type one\.$"):
        teacher_forcing.batch_traces([])
