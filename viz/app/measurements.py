"""Measured times and memory of layers, written by `python -m benchmarks` into a file of assets."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from transformer.files import installed
from transformer.files.documents import parse_json
from viz.app.chrome import charts
from viz.figures.growth import growth_chart

FOLDER = installed.ASSETS
FIELDS = {"seconds": ("ms for a forward pass", 1e3), "bytes": ("MiB held for the way back", 2**-20)}
"""Title and factor of what is drawn, by the field of the file."""


class Measurement(NamedTuple):
    """Curves over the length by field and layer, as lengths and values."""

    curves: Mapping[str, Mapping[str, tuple[list[float], list[float]]]]
    sizes: tuple[int, ...]
    about: str  # a sentence on how and where it was measured


def read(name: str, *sizes: str) -> Measurement | None:
    """Read the file that a benchmark of this name writes; None after saying that it is missing."""
    try:
        content = parse_json((FOLDER / f"{name}.json").read_text("utf-8"))
        layers = content["layers"].items()
        curves = {
            field: {
                layer: ([row["n"] for row in rows], [row[field] * factor for row in rows])
                for layer, rows in layers
            }
            for field, (_, factor) in FIELDS.items()
        }
        about = f"one sequence, median of {content['repeats']}, {content['threads']} thread"
        numbers = tuple(int(content[size]) for size in sizes)
        return Measurement(curves, numbers, f"{about}: {content['machine']}.")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        st.text(
            f"There is no measurement in assets/{name}.json: run python -m benchmarks {name}, then "
            "reload this page."
        )
        return None


def draw(measurement: Measurement, field: str) -> None:
    """Draw what was measured as dots."""
    title, curves = FIELDS[field][0], measurement.curves[field]
    chart = growth_chart(curves, quantity=title, dots=True)
    charts.altair_chart(chart, alt=f"{title} over the length of the sequence, as measured.")
