"""Downloads of the Heads page: numbers, and a page that needs no server."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import streamlit as st

from transformer import AttentionTrace
from viz.draw.open_head import OpenMap
from viz.pages.heads.controls import Controls
from viz.report import report


def download_menu(trace: AttentionTrace, shown: OpenMap, controls: Controls) -> None:
    """Draw the menu of downloads; each file is made when it is asked for."""

    def page() -> bytes:
        # a mean is no head: the report opens the first one that it is made of
        selected = (controls.kind, controls.layer or 0, controls.head or 0)
        return report(
            trace, selected=selected, words=controls.words, special=controls.special
        ).encode(errors="replace")

    with st.popover("Download", width="content"):
        st.caption(
            "The address of this page is a link to what is on the screen: sentence, head, and "
            "every choice above. Below each picture stand PNG and SVG."
        )
        _button("This map as CSV", lambda: csv(shown), "headlight-map.csv", "text/csv")
        _button("All heads as CSV", lambda: _all_csv(trace), "headlight-trace.csv", "text/csv")
        _button(
            "All heads as NPZ",
            lambda: npz(trace),
            "headlight-trace.npz",
            "application/octet-stream",
        )
        _button(
            "HTML report",
            page,
            "headlight-report.html",
            "text/html",
        )


def csv(shown: OpenMap) -> bytes:
    """One line for each weight of the map on the screen, in full precision."""
    queries, keys = shown.labels
    frame = pd.DataFrame(
        {
            "query": [q for q in range(len(queries)) for _ in keys],
            "key": [k for _ in queries for k in range(len(keys))],
            "query_token": [token for token in queries for _ in keys],
            "key_token": [token for _ in queries for token in keys],
            "weight": shown.weights.ravel(),
        }
    )
    return frame.to_csv(index=False).encode()


def npz(trace: AttentionTrace) -> bytes:
    """The whole trace, as `AttentionTrace.load` reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()


def _all_csv(trace: AttentionTrace) -> bytes:
    out = io.StringIO()
    trace.to_frame().to_csv(out, index=False)
    return out.getvalue().encode()


def _button(label: str, data: Callable[[], bytes], name: str, mime: str) -> None:
    st.download_button(label, data, name, mime, on_click="ignore", width="stretch")
