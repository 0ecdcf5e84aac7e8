"""Edges of “Why this word”: the numbers are the circuit's, and each edge is where its heads are."""

import re
import threading
import time
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, frames, program
from transformer import TransformerConfig
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.edges import Circuit, Edge, PatchedEdges, patch_strongest, strongest_edges
from transformer.circuits.stream import Writer
from viz.app import jobs
from viz.draw.formatting import format_number
from viz.draw.labels import named_head
from viz.findings.passes import INPUT_NAMES
from viz.pages.roles import edges, pieces

pytestmark = pytest.mark.slow

STEP, OTHER = 1, 40  # any piece
URL = {"text": SENTENCE, "roles_view": "Why this word"}


@pytest.fixture
def link(translator) -> dict[str, str]:
    return {"written": str(STEP + 1), "other": pieces.piece_name(translator, OTHER)}


@pytest.fixture
def circuit(translator) -> Circuit:
    return Circuit(translator.model, translator.trace(SENTENCE), STEP, OTHER)


def lines(app):
    """The table of the lines of the graph, the last chart of the view."""
    chart = len(app.get("vega_lite_chart")) - 1
    return next(frame for frame in frames(app, chart) if "edge" in frame)


def test_the_table_has_the_numbers_of_the_circuit(opened, link, circuit) -> None:
    app = opened(**link, removed="L1 H1 encoder")  # which is another view's
    alone = patch_strongest(circuit, seed=None)
    table = app.dataframe[0].value
    assert table["writer"].tolist() == [edge.writer.title for edge in alone.edges]
    assert table["reader"].tolist() == [named_head(*edge.reader) for edge in alone.edges]
    assert [name[0] for name in table[edges.INPUT]] == [edge.input for edge in alone.edges]
    np.testing.assert_allclose(table[edges.ATTRIBUTED], alone.attributed, rtol=1e-4)
    np.testing.assert_allclose(table[edges.PATCHED], alone.lost, atol=1e-5)
    assert edges.HOLDS not in table
    assert lines(app)["holds"].all()
    app.toggle(key=edges.PATCH).set_value(True).run()
    patched = patch_strongest(circuit)
    table, drawn = app.dataframe[0].value, lines(app).drop_duplicates("edge")
    np.testing.assert_allclose(table[edges.PATCHED], patched.lost, atol=1e-5)
    assert table[edges.HOLDS].tolist() == drawn["holds"].tolist() == patched.hold.tolist()
    np.testing.assert_allclose(drawn["patched"], table[edges.PATCHED])
    np.testing.assert_allclose(drawn["size"], np.abs(patched.lost), atol=1e-5)
    numbers = f"{patched.beat_random.sum()} of {len(table)} change"
    assert any(numbers in text and f"{patched.correlation:.2f}" in text for text in texts(app))


def test_the_finding_is_the_strongest_edge_of_the_step_that_the_view_opens_on(
    opened, translator, monkeypatch
) -> None:
    computed: list[Circuit] = []
    attributed = Circuit.attributed

    def counted(self: Circuit) -> dict[Edge, float]:
        computed.append(self)
        return attributed(self)

    monkeypatch.setattr(Circuit, "attributed", counted)
    app = opened()
    assert len(computed) == 1
    trace = translator.trace(SENTENCE)
    scored = translator.score(trace.source, tuple(piece.text for piece in trace.target_pieces))
    best = [step[0] for step in scored.alternatives]
    pairs = zip(scored.log_probs, best, strict=True)
    step = int(np.argmin([log_p - np.log(choice.probability) for log_p, choice in pairs]))
    (other,) = translator.target_tokenizer.ids_of([best[step].piece])
    circuit = Circuit(translator.model, trace, step, other)
    candidates = [*strongest_edges(circuit.attributed())]
    lost = circuit.patched(candidates)
    number = int(np.abs(lost).argmax())
    edge, named = candidates[number], format_number(abs(lost[number]))
    (link,) = [link for link in app.get("page_link") if "Strongest edge" in link.proto.label]
    label = link.proto.label.replace("\\", "").replace("*", "")
    query = dict(parse_qsl(link.proto.query_string))
    phrase = (
        f"{edge.writer.title} through the {INPUT_NAMES[edge.input]} of "
        f"{named_head(*edge.reader)}, {named} nats for"
    )
    assert phrase in label
    pair = (translator.target_tokenizer.pieces_of([ids])[0].text for ids in (
        trace.target_pieces[step].id, other
    ))  # fmt: skip
    favoured, against = map(pieces.shown_piece, pair if lost[number] > 0 else [*pair][::-1])
    assert f"for “\u2068{favoured}\u2069”, not “\u2068{against}\u2069”" in label
    assert any(phrase in text for text in texts(app))  # the view itself
    assert query["written"] == str(step + 1)
    assert (query["layer"], query["head"]) == (
        str(edge.reader.layer + 1),
        str(edge.reader.head + 1),
    )
    assert query["roles_view"] == "Why this word"
    again = opened(**query)
    assert again.number_input(key="written").value == step + 1
    assert len(computed) == 2  # the test's own


def test_another_word_has_other_edges_and_patches(opened, link, translator) -> None:
    opened(**link, patch_edges="true")
    link["other"] = pieces.piece_name(translator, OTHER + 1)
    table = opened(**link, patch_edges="true").dataframe[0].value
    patched = patch_strongest(
        Circuit(translator.model, translator.trace(SENTENCE), STEP, OTHER + 1)
    )
    np.testing.assert_allclose(table[edges.ATTRIBUTED], patched.attributed, rtol=1e-4)
    np.testing.assert_allclose(table[edges.PATCHED], patched.lost, atol=1e-5)


def test_an_edge_of_the_other_sign_is_counted_apart() -> None:
    reader = Head("decoder_self", 1, 0)
    ends = [
        Edge(Writer("decoder", "head", 0, Head("decoder_self", 0, n)), reader, "q")
        for n in range(3)
    ]
    amounts = np.array([4.0, -3.0, 2.0])
    made = PatchedEdges(tuple(ends), amounts, np.array([2.0, 3.0, 1.0]), np.array([0.5, -0.90003]))
    table = edges.edges_table(made, compared=True)
    shown = edges._comparison(made)
    assert "3 of 3 " in shown
    assert [*map(float, re.findall(r"-?\d\.\d+", shown.replace("−", "-")))] == [0.901, -0.5, 0.5]
    assert "1 of 3" in edges._legend(table, ("Hund", "Katze"))


def test_who_ends_the_patching_still_has_the_page(opened, link, monkeypatch) -> None:
    go_on, whole = threading.Event(), Circuit.patched

    def patched(circuit, chosen, progress=None):
        # without random edges, the view and its finding do not wait
        assert progress is None or go_on.wait(20)
        return whole(circuit, chosen, progress)

    monkeypatch.setattr(Circuit, "patched", patched)
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    app = opened(**link, patch_edges="true")
    assert app.get("progress")
    assert not app.dataframe
    app.toggle(key=edges.PATCH).set_value(False).run()
    assert edges.HOLDS not in app.dataframe[0].value
    assert program(app)
    go_on.set()
    app.toggle(key=edges.PATCH).set_value(True).run()
    end = time.monotonic() + 20
    while app.get("progress"):
        assert time.monotonic() < end
        app.run()
    assert edges.HOLDS in app.dataframe[0].value


def test_one_word_has_edges_and_a_long_sentence_says_why_not(opened, link, monkeypatch) -> None:
    app = opened(text="Dog.", written="1", patch_edges="true")
    assert np.isfinite(app.dataframe[0].value[edges.PATCHED]).all()
    monkeypatch.setattr(edges, "MAX_SUBWORDS", 3)
    app = opened(**link, patch_edges="true")
    assert not app.dataframe
    assert any("up to 3." in text for text in texts(app))
    assert "evidence = contrast(" in program(app)


def test_heads_of_unequal_stacks_have_places_of_their_own() -> None:
    config = TransformerConfig(vocab_size=30, N=3, h=8, decoder_N=2, decoder_h=2, d_model=16)
    writer, reader = Head("encoder_self", 2, 1), Head("cross", 0, 1)
    edge = Edge(Writer("encoder", "head", 2, writer), reader, "v")
    patched = PatchedEdges((edge,), np.array([0.4]), np.array([0.5]), np.array([]))
    table = edges.edges_table(patched, compared=False)
    chart: Any = edges.edges_chart(config, [edge], table, reader)
    drawn, marks = (chart.layer[n].data for n in (0, 2))
    heads = all_heads(config)
    places = dict(zip(heads, marks[["x", "y"]].itertuples(index=False), strict=True))
    assert len({*places.values()}) == len(heads)
    first, *_, end = drawn.sort_values("point").itertuples()
    assert (first.x, first.y) == places[writer]
    assert (end.x - 0.25, end.y) == places[reader]  # right of its middle: the value
    assert [head for head, on in zip(heads, marks["joined"], strict=True) if on] == [writer, reader]
    last = max(head for head in places if head.kind == "encoder_self")
    assert all(places[head].x > places[last].x for head in heads if head.kind != "encoder_self")
    layers = [places[Head("encoder_self", layer, 0)].y for layer in range(3)]
    assert layers == sorted(layers)
