"""Downloads of the Heads page: numbers, and a page that needs no server."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from transformer import AttentionTrace
from viz.app.origin import origin_of
from viz.draw.open_head import OpenMap
from viz.pages.heads.controls import Controls
from viz.report import View, report


@dataclass(frozen=True)
class Screen:
    """What the page has drawn beside what `Controls` say.

    Args:
        shown: the open map.
        step: of the decoder, from 0; None where no step is chosen.
        over: layer and head of those whose ribbons lie over the open one's.
        compared: the second map, where there is one.
    """

    shown: OpenMap
    step: int | None = None
    over: tuple[tuple[int, int], ...] = ()
    compared: OpenMap | None = None


def download_menu(trace: AttentionTrace, screen: Screen, controls: Controls) -> None:
    """Draw the menu of downloads; each file is made when it is asked for."""
    origin = origin_of(trace)
    link = _link()

    def page() -> bytes:
        made = report(trace, view_of(screen, controls), origin=origin, link=link)
        return made.encode(errors="replace")

    with st.popover("Download", width="content"):
        st.caption(
            "The address of this page is a link to what is on the screen: sentence, head, and "
            "every choice above. Below each picture stand PNG and SVG."
        )
        name = origin.file_name(screen.shown.title, "csv")
        _button("This map as CSV", lambda: csv(screen.shown), name, "text/csv")
        name = origin.file_name("all heads", "csv")
        _button("All heads as CSV", lambda: all_csv(trace), name, "text/csv")
        name = origin.file_name("all heads", "npz")
        _button("All heads as NPZ", lambda: npz(trace), name, "application/octet-stream")
        name = origin.file_name(f"report {screen.shown.title}", "html")
        _button("HTML report", page, name, "text/html")


def view_of(screen: Screen, controls: Controls) -> View:
    """What is on the screen, as a report shows it."""
    return View(
        controls.kind,
        controls.layer,
        controls.head,
        words=controls.words,
        special=controls.special,
        kinds=controls.kinds,
        layers=controls.layers,
        sort=controls.sort,
        scale=controls.scale,
        threshold=controls.threshold,
        over=screen.over,
        step=screen.step,
        compared=screen.compared,
    )


def _link() -> str:
    """The address in the reader's browser; "" where the server does not know it."""
    address = st.context.url
    chosen = urlencode(
        [(name, value) for name in st.query_params for value in st.query_params.get_all(name)],
        errors="replace",
    )
    return f"{address.split('?')[0]}?{chosen}" if address else ""


def csv(shown: OpenMap) -> bytes:
    """One line for each weight of the map on the screen, in full precision, counted from 1."""
    queries, keys = shown.labels
    frame = pd.DataFrame(
        {
            "query_from_1": [q + 1 for q in range(len(queries)) for _ in keys],
            "key_from_1": [k + 1 for _ in queries for k in range(len(keys))],
            "query_token": [token for token in queries for _ in keys],
            "key_token": [token for _ in queries for token in keys],
            "weight": shown.weights.ravel(),
        }
    )
    return frame.to_csv(index=False).encode()


def all_csv(trace: AttentionTrace) -> bytes:
    """One line for each weight of every head, by pieces, counted from 1 as on the screen."""
    counted = ["layer", "head", "query", "key"]
    frame = trace.to_frame()
    frame[counted] += 1
    out = io.StringIO()
    frame.rename(columns={name: f"{name}_from_1" for name in counted}).to_csv(out, index=False)
    return out.getvalue().encode()


def npz(trace: AttentionTrace) -> bytes:
    """The whole trace, as `AttentionTrace.load` reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()


def _button(label: str, data: Callable[[], bytes], name: str, mime: str) -> None:
    st.download_button(label, data, name, mime, on_click="ignore", width="stretch")
