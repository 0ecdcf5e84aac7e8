"""Parts of a logit that each head adds, against the plain model; all parts add up to it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.transformer.analysis import lens_cases, plain_model
from transformer import InputError
from transformer.analysis.logits.direct_logits import direct_logits


def total(parts):
    """The sum of all parts at each step."""
    heads = sum(values.sum((0, 1)) for values in parts.heads.values())
    return heads + parts.feed_forward.sum(0) + parts.tokens + parts.positions + parts.biases


def reached(case: lens_cases.Case, sublayer, step, vector):
    """A vector that was added in one sub-layer, followed forwards through all norms after it."""
    order = [norm.sublayer for norm in case.plain.norms]
    for norm in case.plain.norms[order.index(sublayer) :]:
        vector = plain_model.linearised(norm, step, vector)
    return vector


def test_heads_are_their_own_vectors_through_all_later_norms(case: lens_cases.Case) -> None:
    parts = direct_logits(case.model, case.trace)
    for kind in ("decoder_self", "cross"):
        for layer, head, step in np.ndindex(parts.heads[kind].shape):
            block = case.plain.attention[kind, layer]
            vector = block.pattern[head, step] @ block.v[head] @ block.W_O[head]
            written = case.plain.table[case.trace.target_pieces[step].id]
            expected = reached(case, (kind, layer), step, vector) @ written
            assert parts.heads[kind][layer, head, step] == pytest.approx(
                expected, rel=1e-7, abs=1e-10
            )


def test_embeddings_are_the_stream_s_beginning_through_all_norms(case: lens_cases.Case) -> None:
    parts = direct_logits(case.model, case.trace)
    read = [2, *(piece.id for piece in case.trace.target_pieces[:-1])]
    for step, id_ in enumerate(read):
        written = case.plain.table[case.trace.target_pieces[step].id]
        token = case.plain.table[id_] * math.sqrt(case.model.config.d_model)
        position = case.plain.positions[1][step]
        for value, vector in ((parts.tokens, token), (parts.positions, position)):
            expected = written @ reached(case, ("decoder_self", 0), step, vector)
            assert value[step] == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_biases_are_those_of_the_norms_through_all_later_norms(case: lens_cases.Case) -> None:
    parts = direct_logits(case.model, case.trace)
    for step, piece in enumerate(case.trace.target_pieces):
        vector = np.zeros(case.model.config.d_model)
        for norm in case.plain.norms:
            vector = plain_model.linearised(norm, step, vector + norm.constant) + norm.bias
        expected = vector @ case.plain.table[piece.id]
        expected += case.plain.weights.get("output_bias", np.zeros(len(case.plain.table)))[piece.id]
        assert parts.biases[step] == pytest.approx(expected, rel=1e-7)


def test_all_parts_add_up_to_the_logit(case: lens_cases.Case) -> None:
    parts = direct_logits(case.model, case.trace)
    written = [piece.id for piece in case.trace.target_pieces]
    logits = case.plain.logits[np.arange(len(written)), written]
    np.testing.assert_allclose(parts.logits, logits, rtol=1e-9)
    np.testing.assert_allclose(total(parts), logits, rtol=1e-9, atol=1e-9)


def test_a_difference_of_logits_is_the_difference_of_all_parts(uneven: lens_cases.Case) -> None:
    other = 10
    parts = direct_logits(uneven.model, uneven.trace, against=other)
    written = [piece.id for piece in uneven.trace.target_pieces]
    steps = np.arange(4)
    expected = uneven.plain.logits[steps, written] - uneven.plain.logits[steps, other]
    np.testing.assert_allclose(parts.logits, expected, rtol=1e-9)
    np.testing.assert_allclose(total(parts), expected, rtol=1e-9)
    # the last piece is read by nobody: with another one there, everything else is the same
    *before, last = uneven.trace.target_pieces
    turned = replace(uneven.trace, target_pieces=(*before, replace(last, id=10)))
    first, second = direct_logits(uneven.model, uneven.trace), direct_logits(uneven.model, turned)
    for kind, heads in parts.heads.items():
        apart = first.heads[kind] - second.heads[kind]
        np.testing.assert_allclose(heads[..., -1], apart[..., -1], rtol=1e-7, atol=1e-12)
    assert parts.biases[-1] == pytest.approx(first.biases[-1] - second.biases[-1])


@pytest.mark.parametrize("id_", [-1, 30])
def test_an_id_to_compare_with_that_is_no_piece_is_refused(uneven: lens_cases.Case, id_) -> None:
    with pytest.raises(InputError):
        direct_logits(uneven.model, uneven.trace, against=id_)
