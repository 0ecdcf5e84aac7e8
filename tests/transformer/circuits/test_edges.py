"""Edges: attribution is the slope of patching, and the strongest are told from chance."""

from typing import Any

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case, random_model
from tests.transformer.circuits.planted_circuits import planted_case
from transformer import AttentionTrace, Piece, TransformerConfig
from transformer.analysis.heads.head import Head
from transformer.analysis.stream import Stream
from transformer.circuits.edges import (
    Circuit,
    PatchedEdges,
    patch_strongest,
    random_edges,
    strongest_edges,
)
from transformer.traces.capture import capture

FAINT = 1e-6


class FaintCircuit(Circuit):
    """A circuit that takes out only a small share of each part."""

    def _stream(self, head, input_):
        stream = super()._stream(head, input_)
        return Stream(stream.writers, stream.parts * FAINT)


def circuit_of(case: Case, kind: type[Circuit] = Circuit) -> Circuit:
    step = len(case.trace.target_pieces) - 1
    other = (case.trace.target_pieces[step].id + 1) % case.model.config.vocab_size
    return kind(case.model, case.trace, step, other)


UNEQUAL = TransformerConfig(
    vocab_size=30, N=3, d_model=16, d_ff=24, h=4, decoder_N=2, decoder_h=2, own_projection=True
)


def test_attribution_is_what_patching_does_to_a_faint_edge(case: Case) -> None:
    """Edges of the encoder, the decoder and between them; query, key and value."""
    _is_slope(case)


def test_stacks_may_be_unequal() -> None:
    model = random_model(UNEQUAL)
    pieces = [[Piece(id_, f"▁{id_}", word) for word, id_ in enumerate((4, 9, 7))]] * 2
    trace = AttentionTrace.from_fields(capture(model, "", "", *pieces))
    _is_slope(Case(model, trace, None, None))  # type: ignore[arg-type]


def _is_slope(case: Case) -> None:
    circuit = circuit_of(case, FaintCircuit)
    attributed = circuit.attributed()
    lost, estimates = np.array(circuit.patched([*attributed])), np.array([*attributed.values()])
    np.testing.assert_allclose(lost / FAINT, estimates / FAINT, rtol=1e-3, atol=1e-5)
    heads = [(edge.writer.head, edge) for edge in attributed if edge.writer.head]
    kinds = {(writer.kind, edge.reader.kind, edge.input) for writer, edge in heads}
    assert {("encoder_self", "cross", "k"), ("encoder_self", "cross", "v")} <= kinds
    assert len(heads) == len(attributed)


def test_edges_are_patched_alike_alone_and_among_others(uneven: Case) -> None:
    circuit = circuit_of(uneven)
    attributed = circuit.attributed()
    edges = random_edges(attributed, [*attributed][:40])
    assert {edge.reader.kind for edge in edges} == {"encoder_self", "decoder_self", "cross"}
    counts: list[tuple[int, int]] = []
    together = circuit.patched(edges, lambda *progress: counts.append(progress))
    assert counts[-1] == (40, 40)
    np.testing.assert_allclose(together, [circuit.patched([edge])[0] for edge in edges], atol=1e-12)


def test_the_planted_edge_is_the_strongest_and_beats_all_random_ones() -> None:
    case = planted_case()
    circuit = Circuit(case.model, case.trace, 4, 10)
    attributed = circuit.attributed()
    patched = patch_strongest(circuit, 8)
    first = patched.edges[0]
    assert first.writer.head == Head("decoder_self", 0, 0)
    assert (first.reader, first.input) == (Head("decoder_self", 1, 0), "k")
    assert patched.hold[0]
    assert {*patched.edges} == {*strongest_edges(attributed, 8)}
    assert [*np.abs(patched.lost)] == sorted(np.abs(patched.lost), reverse=True)
    assert patched.attributed.tolist() == [attributed[edge] for edge in patched.edges]
    others = random_edges(attributed, patched.edges)
    assert not {*others} & {*patched.edges}
    assert [*patched.lost, *patched.random_lost] == pytest.approx(
        circuit.patched([*patched.edges, *others])
    )
    assert random_edges(attributed, patched.edges, seed=2) != others
    alone = patch_strongest(circuit, 8, seed=None)
    assert (alone.edges, alone.random_lost.size) == (patched.edges, 0)


def test_an_edge_holds_above_chance_and_as_it_was_estimated() -> None:
    attributed = np.array([4.0, -3.0, 2.0, -1.0])
    made = PatchedEdges((), attributed, np.array([2.0, 3.0, 1.0, -5.0]), np.array([0.5, -1.0]))
    assert made.beat_random.tolist() == [True, True, False, True]
    assert made.hold.tolist() == [True, False, False, False]  # the last is five times as much
    saturated = PatchedEdges((), np.array([1e-9, 0]), np.array([2.0, 2.0]), np.array([0.5]))
    assert saturated.hold.tolist() == [False, False]
    # ranks 4 1 3 2 and 3 4 2 1; of sizes 4 3 2 1 and 2 3 1 4
    assert made.correlation == pytest.approx(-0.2)
    assert made.size_correlation == pytest.approx(-0.4)
    amounts: Any = {"a": 0.0, "b": -2.0, "c": 1.0}
    few = strongest_edges(amounts)
    assert list(map(str, few)) == ["b", "c"]
    assert list(map(str, random_edges(amounts, few))) == ["a"]
