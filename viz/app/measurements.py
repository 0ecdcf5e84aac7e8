"""Measured times and memory of layers, written by `python -m benchmarks` into a file of assets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from transformer.files import installed
from transformer.files.documents import parse_json
from viz.app.chrome import charts
from viz.app.view import compute, figure, part
from viz.figures.growth import growth_chart

FOLDER = installed.ASSETS
FIELDS = {"seconds": ("ms for a forward pass", 1e3), "bytes": ("MiB held for the way back", 2**-20)}
"""Title and factor of what is drawn, by the field of the file."""


class Measurement(NamedTuple):
    """Curves over the length by field and layer, as lengths and values."""

    curves: Mapping[str, Mapping[str, tuple[list[float], list[float]]]]
    sizes: tuple[int, ...]
    about: str  # a sentence on how and where it was measured


def read_measurement(file: Path, sizes: Sequence[str]) -> Measurement | None:
    """Read the file that a benchmark writes; None if it is missing or is not such a file."""
    try:
        content = parse_json(file.read_text("utf-8"))
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
        return None


def read_or_say_missing(name: str, *sizes: str) -> Measurement | None:
    """Return what the benchmark of a name has measured; None after saying that it is missing."""
    result = compute("measured", read_measurement, FOLDER / f"{name}.json", sizes)
    if result is None:
        st.text(
            f"There is no measurement in assets/{name}.json: run python -m benchmarks {name}, then "
            "reload this page."
        )
    return result


def draw(measurement: Measurement, field: str) -> None:
    """Draw what was measured as dots."""
    title, curves = FIELDS[field][0], part(field, measurement.curves, field)
    charts.altair_chart(
        figure(f"{field}_chart", growth_chart, curves, quantity=title, dots=True),
        alt=f"{title} over the length of the sequence, as measured.",
    )
