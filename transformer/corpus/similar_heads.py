"""Heads that are similar to a given one, by their measures or by their weights."""

import numpy as np

from transformer.analysis.heads.head import Head
from transformer.analysis.heads.measures import total_variation
from transformer.arrays import Floats
from transformer.corpus.corpus_roles import MEASURES
from transformer.corpus.head_report import HeadReport
from transformer.trace import AttentionTrace


def nearest_by_measures(report: HeadReport, place: Head, count: int) -> list[tuple[Head, float]]:
    """Find the heads of all kinds with the nearest measures, and their distances, nearest first.

    The root mean square of the differences in standard deviations, over the measures of all kinds.
    """
    names = [name for name in MEASURES if all(name in figures.measures for figures in report.heads)]
    places = [figures.place for figures in report.heads]
    table = np.array([[figures.measures[name].value for name in names] for figures in report.heads])
    apart = _standardised(table) - _standardised(table)[places.index(place)]  # [head, measure]
    return _nearest(places, np.sqrt((apart**2).mean(-1)), place, count)


def nearest_by_attention(
    trace: AttentionTrace, place: Head, count: int
) -> list[tuple[Head, float]]:
    """Find the `count` heads of the same kind with the least `total_variation`, and its values."""
    weights = trace.weights(place.kind)  # [layer, head, query, key]
    causal = place.kind == "decoder_self" and trace.causal
    apart = total_variation(weights, weights[place.layer, place.head], causal=causal)
    there = trace.existing_heads(place.kind)
    places = [Head(place.kind, *map(int, at)) for at in np.argwhere(there)]
    return _nearest(places, apart[there], place, count)


def _standardised(table: Floats) -> Floats:
    """Scale each column to standard deviations from its mean; a constant column is 0."""
    centred = table - table.mean(0)
    deviations = table.std(0)
    differ = deviations > 1e-12
    return np.divide(centred, deviations, out=np.zeros_like(centred), where=differ)


def _nearest(
    places: list[Head], distances: Floats, place: Head, count: int
) -> list[tuple[Head, float]]:
    order = np.argsort(distances, kind="stable")
    nearest = [(places[n], float(distances[n])) for n in order if places[n] != place]
    return nearest[:count]
