"""Heads that were made alike are found alike."""

import numpy as np
import pytest

from tests.viz.planted_trace import HEADS, LAYERS, planted, planted_at
from transformer import KINDS, AttentionTrace
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.importance import IMPORTANCE
from transformer.analysis.stored import Figure
from transformer.corpus.corpus_roles import MEASURES
from transformer.corpus.head_report import HeadFigures, HeadReport
from transformer.corpus.similar_heads import nearest_by_attention, nearest_by_measures

PLACES = [Head(kind, layer, head) for kind in KINDS for layer in range(2) for head in range(3)]
ONE, TWIN = Head("encoder_self", 0, 1), Head("cross", 1, 2)


def report_of(values: dict[str, np.ndarray]) -> HeadReport:
    heads = tuple(
        HeadFigures(place, "", 0, {name: Figure(v[n], v[n], v[n]) for name, v in values.items()
                                   if (name, place.kind) != ("one-to-one", "encoder_self")}, ())
        for n, place in enumerate(PLACES)
    )  # fmt: skip
    nothing = Figure(0.0, 0.0, 0.0)
    return HeadReport("", 1, 0, 1, nothing, nothing, heads, {})


def made_values(seed: int = 0) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    values = {name: draw.random(len(PLACES)) for name in (*MEASURES, *IMPORTANCE)}
    for name in MEASURES:
        values[name][PLACES.index(TWIN)] = values[name][PLACES.index(ONE)]
    return values


def test_a_twin_of_another_kind_comes_first_whatever_it_is_worth() -> None:
    values = made_values()
    values["one-to-one"] = np.arange(18.0)  # the encoder has none, so it is not compared
    values["loss without"][PLACES.index(TWIN)] = 1e6  # importance is not compared
    (first, distance), *others = nearest_by_measures(report_of(values), ONE, 4)
    assert (first, distance) == (TWIN, 0)
    assert len(others) == 3
    assert 0 < others[0][1] <= others[1][1] <= others[2][1]
    assert ONE not in [place for place, _ in others]


def test_the_distance_is_in_standard_deviations() -> None:
    values = {name: np.zeros(18) for name in MEASURES}
    values["entropy"] = np.arange(18.0) * 1000  # in other units than the rest
    nearest = nearest_by_measures(report_of(values), PLACES[0], 17)
    assert [place for place, _ in nearest] == PLACES[1:]
    spread = np.arange(18.0).std()
    # the other measures say the same of all heads; "one-to-one" is not of every kind
    expected = np.arange(1, 18) / spread / np.sqrt(len(MEASURES) - 1)
    assert [distance for _, distance in nearest] == pytest.approx(expected)
    scaled = values | {"entropy": values["entropy"] / 7 + 3}
    again = nearest_by_measures(report_of(scaled), PLACES[0], 17)
    assert [distance for _, distance in again] == pytest.approx(expected)


def test_heads_that_look_alike_on_a_sentence_are_of_one_kind_and_found() -> None:
    trace = planted()
    head = Head("cross", 0, 0)
    trace.cross[1, 2] = trace.cross[0, 0]
    assert planted_at(trace, "cross", 1, 2) != planted_at(trace, "cross", 0, 0)
    (first, distance), *others = nearest_by_attention(trace, head, 99)
    assert (first, distance) == (Head("cross", 1, 2), 0)
    assert len(others) == LAYERS * HEADS - 2
    for place, apart in others:
        rows = np.abs(trace.cross[place.layer, place.head] - trace.cross[0, 0]).sum(-1) / 2
        assert apart == pytest.approx(rows.mean(), abs=1e-6)
        assert place.kind == "cross"


def test_a_head_that_a_layer_does_not_have_is_like_none() -> None:
    layers = [np.full((heads, 2, 2), 0.5) for heads in (1, 3)]
    trace = AttentionTrace.from_arrays(
        cross=layers, source_tokens=["a", "b"], target_tokens=["c", "d"]
    )
    nearest = nearest_by_attention(trace, Head("cross", 1, 0), 99)
    assert nearest == [(Head("cross", 0, 0), 0), (Head("cross", 1, 1), 0), (Head("cross", 1, 2), 0)]
