"""Edges of “Why this word”: their finding, their job, and the places of their heads."""

import re
import threading
import time
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, program
from transformer import TransformerConfig
from transformer.analysis.heads.head import Head, all_heads
from transformer.analysis.stream import Writer
from transformer.circuits.edges import Circuit, Edge, PatchedEdges
from viz.app import jobs
from viz.pages.roles import edges, pieces

pytestmark = pytest.mark.slow

STEP, OTHER = 1, 40  # any piece
URL = {"text": SENTENCE, "roles_view": "Why this word"}


@pytest.fixture
def link(translator) -> dict[str, str]:
    return {"written": str(STEP + 1), "other": pieces.piece_name(translator, OTHER)}


def test_the_finding_opens_the_view_at_its_step_and_is_computed_once(opened, monkeypatch) -> None:
    computed: list[Circuit] = []
    attributed = Circuit.attributed

    def counted(self: Circuit) -> dict[Edge, float]:
        computed.append(self)
        return attributed(self)

    monkeypatch.setattr(Circuit, "attributed", counted)
    app = opened()
    step = app.number_input(key="written").value
    (link,) = [link for link in app.get("page_link") if "Strongest edge" in link.proto.label]
    query = dict(parse_qsl(link.proto.query_string))
    assert (query["written"], query["roles_view"]) == (str(step), "Why this word")
    again = opened(**query)
    assert again.number_input(key="written").value == step
    assert len(computed) == 1


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
