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
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.dictionary import mean_memories, read_dictionary
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


def test_the_heads_look_where_they_were_planted(planted: Case) -> None:
    assert planted.trace.weights("decoder_self")[1, 0, STEP].argmax() == SEEN
    assert planted.trace.weights("decoder_self")[0, 0, STEP].argmax() == STEP - 1
    assert planted.trace.weights("cross")[1, 1, STEP].argmax() == STEP


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


def test_a_constant_under_every_key_is_the_largest_part_of_a_score_and_of_no_difference(
    planted: Case,
) -> None:
    split = split_scores(planted.model, planted.trace, BY_PLACE_AND_CONSTANT, STEP, [3, 2])
    first, second = largest(split.values[0])
    assert split.values[0].max() == pytest.approx(40, abs=0.1)
    assert (split.query_writers[first].part, split.key_writers[second].part) == ("biases",) * 2
    assert abs(split.difference()[first, second]) < 0.01


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


def test_a_dictionary_is_read_from_its_head_alone(planted: Case) -> None:
    lines = [list(DICTIONARY), list(DICTIONARY)[::-1]]
    memories = mean_memories(planted.model, lines)
    held = {
        head: np.mean([
            best == DICTIONARY[piece]
            for piece, (best, *_) in zip(*_entries(planted.model, head, memories), strict=True)
        ])
        for head in all_heads(planted.model.config)
        if head.kind == "cross"
    }  # fmt: skip
    assert held.pop(TRANSLATES) == 1
    assert max(held.values()) < 0.5


def _entries(model, head, memories):
    entries, _ = read_dictionary(model, head, memories)
    return tuple(memories), entries.tolist()


def test_the_strongest_edge_is_that_of_the_circuit_and_patching_it_agrees(planted: Case) -> None:
    circuit = Circuit(planted.model, planted.trace, STEP, OTHER)
    attributed = circuit.attributed()
    strongest = sorted(attributed, key=lambda edge: -abs(attributed[edge]))
    to_keys = [edge for edge in strongest if edge.reader == INDUCTION and edge.input == "k"]
    assert to_keys[0].writer.head == WRITES_BEFORE
    assert to_keys[0] == strongest[0]
    lost = circuit.patched(strongest)
    assert lost[0] == max(lost)
    assert lost[0] > 5 * np.median(np.abs(lost))


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
