"""Descriptions of what a page draws, in lines of text: marks, axes, titles, numbers of columns."""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.viz.draw.message import decode
from tests.viz.pages.reading import frames
from tests.viz.plotly_values import map_values

LONGEST = 160  # characters of a word, a list or an expression
NOT_DRAWN = {"code", "options", "beginnings", "css"}
"""Parts of messages that change with the code."""


def describe_page(app: AppTest) -> Iterator[str]:
    """Describe every chart, figure, picture and table of a page."""
    for number, element in enumerate(app.get("vega_lite_chart")):
        spec = json.loads(element.proto.spec)
        yield f"chart {number} · {element.proto.alt}"
        for layer in _layers(spec):
            yield f"chart {number} · {_layer(layer)}"
        for table in frames(app, number):
            yield f"chart {number} · {_table(table)}"
    for number, element in enumerate(app.get("plotly_chart")):
        spec = json.loads(element.proto.spec)
        yield f"figure {number} · {element.proto.alt} {', '.join(_texts(spec['layout']))}"
        for n, _ in enumerate(spec["data"]):
            yield f"figure {number} · map {n}: {_numbers(map_values(element.proto.spec, n))}"
    for element in app.get("bidi_component"):
        message, _ = decode(element.proto.bytes)
        for place, array in _arrays(message, ""):
            yield f"picture {message['component']} · {place}: {_numbers(array)}"
    for table in (*app.dataframe, *app.table):
        yield f"table · {_table(table.value)}"
    for frame in app.dataframe:
        yield f"columns · {', '.join(_texts(json.loads(frame.proto.columns or '{}')))}"
    for link in app.get("page_link"):
        query = unquote_plus(link.proto.query_string)
        yield f"link · {link.proto.label} to {link.proto.page}: {query}"
    for element in (*app.selectbox, *app.multiselect, *app.button_group):
        chosen, names = element.proto, map(str, element.options)
        yield f"menu · {chosen.label}: {element.value}; {_distinct(names)}; {chosen.help}"
    for field in (*app.number_input, *app.text_input, *app.toggle, *app.slider):
        ends = [getattr(field, name, "") for name in ("min", "max")]
        yield f"field · {field.label}: {field.value} {ends}; {field.proto.help}"
    for button in app.button:
        yield f"button · {button.label}; {button.proto.help}"


def _layers(spec: Any) -> Iterator[dict[str, Any]]:
    """Return the parts of a chart that have marks."""
    for part in spec.get("layer", ()):
        shared = {**spec.get("encoding", {}), **part.get("encoding", {})}
        yield from _layers({**part, "encoding": shared})
    if "mark" in spec:
        yield spec


def _layer(spec: dict[str, Any]) -> str:
    mark = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
    parts = [" ".join(f"{name}={_short(mark[name])}" for name in sorted(mark))]
    for name, channel in sorted(spec["encoding"].items()):
        parts.append(f"{name}: {', '.join(_texts(channel))}")
    parts += [_short(step) for step in spec.get("transform", ())]
    return " | ".join(parts)


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """Return each text and number of a specification with its name, in the order of names."""
    if isinstance(value, dict):
        for key in sorted(value.keys() - {"datasets", "template"}):
            yield from _texts(value[key], key)
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for part in value:
            yield from _texts(part, name)
    elif value is not None and name not in ("type", "format"):
        yield f"{name}={_short(value)}"
    elif value is not None and name in ("type", "format"):
        yield f"{value}"


def _table(table: pd.DataFrame) -> str:
    columns = (f"{name}: {_column(table.iloc[:, n])}" for n, name in enumerate(table.columns))
    return f"{len(table)} rows; {'; '.join(columns)}"


def _column(values: pd.Series) -> str:
    if values.dtype.kind in "iufb":
        return _numbers(values.to_numpy())
    return _distinct(map(str, values))


def _distinct(texts: Iterable[str]) -> str:
    """List different texts, as many as have room."""
    names = list(dict.fromkeys(texts))
    return f"{len(names)} of {_short(', '.join(names))}"


def _numbers(values: Any) -> str:
    """Give the mean, one in which each number counts by its place, and the ends."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    seen = np.isfinite(flat)
    if not seen.any():
        return f"{np.shape(values)}"
    flat, places = flat[seen], np.flatnonzero(seen) + 1
    amounts = flat.mean(), (flat * places).sum() / places.sum(), flat.min(), flat.max()
    texts = (_three_digits(amount) for amount in amounts)
    hidden = f", {(~seen).sum()} hidden" if not seen.all() else ""
    return f"{np.shape(values)} {' '.join(texts)}{hidden}"


def _three_digits(number: float) -> str:
    if abs(number) < 1e-5:  # what is 0 up to rounding
        return "0"
    digits = 2 - int(np.floor(np.log10(abs(number))))
    return f"{number:.{min(max(digits, 0), 5)}f}"


def _arrays(value: Any, place: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        yield place, value
    elif isinstance(value, dict):
        for name in sorted(value):
            if name not in NOT_DRAWN:
                yield from _arrays(value[name], f"{place} {name}".strip())
    elif isinstance(value, list):
        flat = np.array(value) if value and not isinstance(value[0], dict | list | str) else None
        if flat is not None and flat.dtype.kind in "iufb" and flat.size > 4:
            yield place, flat
            return
        for part in value:
            yield from _arrays(part, place)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return _three_digits(value) if np.isfinite(value) else str(value)
    if isinstance(value, list):
        value = f"[{', '.join(map(_short, value))}]"
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
