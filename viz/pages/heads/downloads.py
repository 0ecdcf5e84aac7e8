"""Downloads of the Heads page: CSV, NPZ, an HTML report."""

from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import urlencode
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import streamlit as st

from transformer import AttentionTrace, Kind
from transformer.analysis.lenses import AnyLens
from transformer.analysis.sinks import without_sinks
from transformer.files.atomic import temporary_folder
from viz.app.sentence import sentence_bar
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.attention_map import MapAxes
from viz.draw.caption import Origin, tells_heads, title_end
from viz.draw.heads_view import ExplorerOptions
from viz.draw.open_head import OpenMap
from viz.figures.heads import head_map
from viz.report import report
from viz.trace_files import column, csv_bytes, lens_frame, name_lens


def download_menu(
    bar: BarTranslation, trace: AttentionTrace, opened: OpenMap, options: ExplorerOptions
) -> None:
    """Draw the menu of downloads; each file is made when it is requested."""
    origin, link, lens, sinks = bar.origin, _link(), options.lens, options.sinks
    notices = bar.translation.notices

    def page() -> bytes:
        noted = replace(trace, notes=(*trace.notes, *notices))
        return report(noted, options, origin=origin, link=link).encode(errors="replace")

    with st.popover("Save data", width="content"):
        caption = "PNG, SVG and PDF are under “Save” at each picture."
        if sentence_bar.in_link():
            caption = f"To share this view, copy the page’s address. {caption}"
        st.caption(caption)
        subject = "All heads" if tells_heads(lens) else "All layers"
        every = " ".join([subject, *title_end(lens, sinks=sinks)])
        rows = partial(all_csv, trace, lens, sinks=sinks)
        arrays = partial(npz, trace, lens, sinks=sinks)
        for label, data, part, ending, mime in (
            ("This map as CSV", lambda: csv(opened), opened.title, "csv", "text/csv"),
            (f"{subject} as CSV", rows, every, "csv", "text/csv"),
            (f"{subject} as NPZ", arrays, every, "npz", "application/octet-stream"),
            (
                "This map as an interactive heat map",
                lambda: heat_map(opened, options.kind or "cross", trace, origin),
                *(f"heat map {opened.title}", "html", "text/html"),
            ),
            ("HTML report", page, f"report {opened.title}", "html", "text/html"),
        ):
            name = origin.file_name(part, ending)
            st.download_button(label, data, name, mime, on_click="ignore", width="stretch")


def _link() -> str:
    """Return the address in the user's browser; "" where it is incomplete or unknown."""
    address = st.context.url if sentence_bar.in_link() else None
    query = urlencode(
        [(name, value) for name in st.query_params for value in st.query_params.get_all(name)],
        errors="replace",
    )
    return f"{address.split('?')[0]}?{query}" if address else ""


def csv(opened: OpenMap) -> bytes:
    """Format the open map as CSV: a line for each weight in full precision, counted from 1."""
    query, key = (place.ravel() for place in np.indices(opened.weights.shape))
    tokens = {
        "query_token": [opened.labels.queries[n] for n in query],
        "key_token": [opened.labels.keys[n] for n in key],
    }
    frame = pd.DataFrame({"query_from_1": query + 1, "key_from_1": key + 1, **tokens})
    frame["lens"] = opened.lens
    frame[column(opened.lens, sinks=opened.sinks)] = opened.weights.ravel()
    return csv_bytes(frame)


def heat_map(opened: OpenMap, kind: Kind, trace: AttentionTrace, origin: Origin) -> bytes:
    """Draw the open map as a page to zoom, hover and save from, which needs no network."""
    figure = head_map(
        np.clip(opened.weights, 0, 1),  # sums of a word's subwords are rounded
        *opened.labels,
        kind=kind,
        languages=trace.languages,
        by_read=MapAxes.of(trace, kind).writes is not None,
    )
    page = figure.to_html(config={"displaylogo": False})
    caption = "".join(f"<p>{escape(line)}</p>" for line in origin.caption(opened.title))
    # the last one: the library in the page has some, too
    before, end, after = page.rpartition("</body>")
    return f"{before}{caption}{end}{after}".encode(errors="replace")


def all_csv(trace: AttentionTrace, lens: AnyLens, *, sinks: bool = True) -> bytes:
    """Format every head as CSV: a line for each weight, by pieces, counted from 1."""
    frame = lens_frame(trace if sinks else without_sinks(trace), lens, sinks=sinks)
    counted = [name for name in ("layer", "head", "query", "key") if name in frame]
    frame[counted] += 1
    return csv_bytes(frame.rename(columns={name: f"{name}_from_1" for name in counted}))


def npz(trace: AttentionTrace, lens: AnyLens, *, sinks: bool = True) -> bytes:
    """Save the trace, as `AttentionTrace.load` reads it, with the name of the lens."""
    with temporary_folder() as folder:
        path = folder / "trace.npz"
        name_lens(trace if sinks else without_sinks(trace), lens).save(path)
        with ZipFile(path, "a", ZIP_DEFLATED) as archive, archive.open("lens.npy", "w") as file:
            np.lib.format.write_array(file, np.array(lens), allow_pickle=False)
        return path.read_bytes()
