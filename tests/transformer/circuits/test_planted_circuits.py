"""The split, the dictionary and the edges name exactly the circuits that are planted."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.circuits.planted_circuits import (
    ALIGNS,
    BY_BIAS,
    BY_FEATURE,
    BY_PLACE,
    BY_PLACE_AND_CONSTANT,
    BY_QUERY,
    DICTIONARY,
    EMPTY,
    INDUCTION,
    MARKED,
    TOKENS,
    TRANSLATES,
    WRITES_BEFORE,
    planted_case,
)
from transformer.analysis.heads.head import Head
from transformer.circuits.edges import Circuit, patch_strongest
from transformer.circuits.score import split_scores
from transformer.circuits.writing import (
    copying_score,
    copying_scores,
    written_logits,
)

STEP, SEEN, OTHER = 4, 2, 10  # reads the second 4; the 9 after the first one; no token of the text


@pytest.fixture(scope="module")
def planted() -> Case:
    return planted_case()


def largest(values: np.ndarray) -> tuple[int, ...]:
    return tuple(int(n) for n in np.unravel_index(np.abs(values).argmax(), values.shape))


CAUSES = (
    (BY_PLACE, "position", "position", STEP - 1),
    (BY_BIAS, "biases", "token", 2),
    (BY_PLACE_AND_CONSTANT, "position", "position", STEP - 1),
    (BY_FEATURE, "position", "encoder L1 feed-forward", 2),
    (WRITES_BEFORE, "position", "position", STEP - 1),
    (INDUCTION, "token", "decoder L1 H1", SEEN),
    (BY_QUERY, "decoder L1 H1", "token", STEP - 1),
    (TRANSLATES, "position", "position", STEP),
    (ALIGNS, "position", "position", STEP),
)
"""By head: what of its query meets what of the key that it looks at."""


@pytest.mark.parametrize(("head", "asks", "asked", "key"), CAUSES)
def test_the_score_beyond_the_mean_comes_from_what_was_planted(
    planted: Case, head: Head, asks: str, asked: str, key: int
) -> None:
    trace = planted.trace
    assert trace.source_pieces[2].id == MARKED
    weights = trace.weights(head.kind)[head.layer, head.head, STEP]
    assert weights.argmax() == key
    split = split_scores(planted.model, trace, head, STEP, [key], mean_over=range(len(weights)))
    first, second = largest(split.difference())
    assert (split.query_writers[first].title, split.key_writers[second].title) == (asks, asked)
    assert split.difference()[first, second] > 0.7 * split.difference().sum() > 0
    rest = split_scores(planted.model, trace, head, STEP, range(len(weights)))
    np.testing.assert_allclose(split.values[1], rest.values.mean(0), atol=1e-9)
    assert split.scores == pytest.approx([rest.scores[key], rest.scores.mean()])


def test_of_a_head_of_zeros_every_part_is_0(planted: Case) -> None:
    for head in EMPTY:
        split = split_scores(planted.model, planted.trace, head, STEP, [1], mean_over=range(5))
        assert not split.values.any()
        assert not written_logits(planted.model, planted.trace, head, STEP, [1]).any()


def test_composition_through_the_query_of_a_saturated_softmax_is_attributed_and_patched() -> None:
    case = planted_case(target=(4, 9, 7, 9, 5))
    circuit = Circuit(case.model, case.trace, 3, 10)  # the step reads 7, and 9 stood before it
    assert case.trace.weights("decoder_self")[1, 1, 3, 2] > 0.9999
    patched = patch_strongest(circuit, 8)
    first = patched.edges[0]
    assert (first.writer.head, first.reader, first.input) == (WRITES_BEFORE, BY_QUERY, "q")
    assert patched.lost[0] > 1
    assert patched.attributed[0] > 0.5
    assert patched.hold[0]


def test_each_head_writes_what_it_was_given(planted: Case) -> None:
    model, trace = planted.model, planted.trace
    copied = written_logits(model, trace, INDUCTION, STEP, [SEEN])[0]
    assert copied.argmax() == trace.target_pieces[SEEN - 1].id
    for key, piece in enumerate(trace.source_pieces):
        translated = written_logits(model, trace, TRANSLATES, STEP, [key])[0]
        assert translated.argmax() == DICTIONARY[piece.id]
    scores = copying_scores(model)
    assert {head for head, score in scores.items() if score > 0.9} == {INDUCTION, BY_QUERY}
    assert scores[INDUCTION] == copying_score(model, INDUCTION)
    assert {head for head, score in scores.items() if np.isnan(score)} == {*EMPTY[:2]}


def test_an_edge_that_is_patched_is_the_model_without_that_part(planted: Case) -> None:
    """By another way: the reader's keys are computed anew from the stream without the part."""
    model, trace = planted.model, planted.trace
    circuit = Circuit(model, trace, STEP, OTHER)
    edge = next(
        edge for edge in circuit.attributed()
        if (edge.writer.head, edge.reader, edge.input) == (WRITES_BEFORE, INDUCTION, "k")
    )  # fmt: skip
    block = planted.plain.attention["decoder_self", 1]
    assert block.x.shape == (5, 52)
    vector = np.stack([
        sum(
            planted.plain.attention["decoder_self", 0].pattern[0, row, key]
            * planted.plain.attention["decoder_self", 0].v[0, key]
            @ planted.plain.attention["decoder_self", 0].W_O[0]
            for key in range(5)
        )
        for row in range(5)
    ])  # fmt: skip
    for norm in planted.plain.norms[:3]:
        for row in range(5):
            part = vector[row] - vector[row].mean()
            deviation = np.sqrt(norm.added[row].var() + 1e-5)
            vector[row] = norm.gain * part / deviation
    W_K = (
        model.get_parameter("decoder.layers.1.self_attention.W_K.weight")[:TOKENS].detach().numpy()
    )

    def without(value, _name):
        value = value.clone()
        value[0, 0] -= torch.from_numpy(vector @ W_K.T)
        return value

    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    target = torch.tensor([[2, *(piece.id for piece in trace.target_pieces[:-1])]])
    with torch.inference_mode(), model.hooks({"decoder.layers.1.self_attention.hook_k": without}):
        logits = model(source, target)[0, STEP]
    expected = circuit.log_odds - float(logits[trace.target_pieces[STEP].id] - logits[OTHER])
    assert circuit.patched([edge]) == [pytest.approx(expected)]
