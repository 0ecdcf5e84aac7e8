"""The split, the dictionary and the edges name exactly the circuits that are planted."""

import numpy as np
import pytest
import torch

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.circuits.planted_circuits import DICTIONARY, planted_case
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.dictionary import mean_memories, read_dictionary
from transformer.circuits.edges import Circuit
from transformer.circuits.score import split_scores
from transformer.circuits.writing import (
    copying_score,
    copying_scores,
    written_logits,
)

BEFORE, INDUCTION = Head("decoder_self", 0, 0), Head("decoder_self", 1, 0)
TRANSLATES = Head("cross", 1, 1)
STEP, SEEN, OTHER = 4, 2, 12  # reads the second 4; the 9 after the first one; no token of the text


@pytest.fixture(scope="module")
def planted() -> Case:
    return planted_case()


def largest(values: np.ndarray) -> tuple[int, ...]:
    return tuple(int(n) for n in np.unravel_index(np.abs(values).argmax(), values.shape))


def test_the_heads_look_where_they_were_planted(planted: Case) -> None:
    assert planted.trace.weights("decoder_self")[1, 0, STEP].argmax() == SEEN
    assert planted.trace.weights("decoder_self")[0, 0, STEP].argmax() == STEP - 1
    assert planted.trace.weights("cross")[1, 1, STEP].argmax() == STEP


def test_the_score_comes_from_the_token_meeting_what_the_first_head_wrote(planted: Case) -> None:
    split = split_scores(planted.model, planted.trace, INDUCTION, STEP, [SEEN, 1])
    for values in (split.values[0], split.difference):
        query, key = largest(values)
        assert split.query_writers[query].part == "token"
        assert split.key_writers[key].head == BEFORE
        assert values[query, key] > 0.7 * values.sum() > 0


def test_each_head_writes_what_it_was_given(planted: Case) -> None:
    model, trace = planted.model, planted.trace
    copied = written_logits(model, trace, INDUCTION, STEP, [SEEN])[0]
    assert copied.argmax() == trace.target_pieces[SEEN - 1].id
    for key, piece in enumerate(trace.source_pieces):
        translated = written_logits(model, trace, TRANSLATES, STEP, [key])[0]
        assert translated.argmax() == DICTIONARY[piece.id]
    scores = copying_scores(model)
    assert max(scores, key=scores.__getitem__) == INDUCTION
    assert scores[INDUCTION] == copying_score(model, INDUCTION) > 0.9


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
    assert to_keys[0].writer.head == BEFORE
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
        if (edge.writer.head, edge.reader, edge.input) == (BEFORE, INDUCTION, "k")
    )  # fmt: skip
    block = planted.plain.attention["decoder_self", 1]
    assert block.x.shape == (5, 40)
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
    W_K = model.get_parameter("decoder.layers.1.self_attention.W_K.weight")[:14].detach().numpy()

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
