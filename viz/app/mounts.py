"""The pictures of `viz.draw` in Streamlit: the only calls of `st.components.v2`.

Each function draws one component and takes what its `encode_…` function takes, which says what the
arguments are and what it raises; besides, `key` names the component in the session (one key, one
place on the page), and a callback takes what the reader chose, before the page's script runs again.
What a browser sends can be anything, so it is checked here.

The script of all components is loaded once, by an address that changes with its content; a message
holds no program text. Streamlit finds the script through `headlight/pyproject.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.errors import StreamlitAPIException

from viz.draw.architecture import DrawnBox, encode_architecture
from viz.draw.attention_map import Scale, encode_map
from viz.draw.head_grid import GridPart, encode_grid, encode_selection, head_of
from viz.draw.head_view import encode_view
from viz.draw.inside_head import Step, encode_inside, step_of
from viz.draw.mask_grids import MaskGrid, Row, encode_masks, row_of
from viz.draw.tensor_strip import encode_strip

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

    from transformer.analysis.arithmetic import Arithmetic
    from transformer.kinds import Kind
    from transformer.trace import Labels
    from viz.draw.head_grid import Head

COMPONENT = "headlight.pictures"
SCRIPT = "headlight-*.js"
NOT_INSTALLED = (
    "Streamlit does not find the script of the pictures: install Headlight with `pip install -e .` "
    "in its folder, then start the app again."
)


def attention_map(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    key: str,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    scale: Scale = "linear",
    threshold: float = 0.0,
    signed: bool = False,
    note: str | None = None,
    beside_difference: bool = False,
    caption: Sequence[str] = (),
) -> None:
    """Draw one head large: queries down, keys across, each weight a hover away."""
    data = encode_map(
        weights,
        labels,
        kind,
        title=title,
        reads=reads,
        writes=writes,
        scale=scale,
        threshold=threshold,
        signed=signed,
        note=note,
        beside_difference=beside_difference,
        caption=caption,
    )
    _mount(key, data)


def head_view(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: Labels,
    kind: Kind,
    *,
    key: str,
    threshold: float = 0.0,
    reads: Sequence[str] | None = None,
    caption: Sequence[str] = (),
    writes: Sequence[str] | None = None,
) -> None:
    """Draw queries on the left, keys on the right, a ribbon for each weight between them.

    A token that is picked, on either side, keeps its own ribbons alone, with the exact weights
    beside the tokens of the other side.
    """
    _mount(
        key,
        encode_view(
            heads,
            labels,
            kind,
            threshold=threshold,
            reads=reads,
            writes=writes,
            caption=caption,
        ),
    )


def head_grid(
    parts: Sequence[GridPart],
    *,
    selected: Head,
    on_pick: Callable[[Head], None],
    opens: str | None = None,
    key: str,
    order: Sequence[Head] | None = None,
    crossed: Sequence[Head] = (),
    switches: bool = False,
    step: int | None = None,
    caption: Sequence[str] = (),
) -> None:
    """Draw every head small and let one be chosen; the page alone remembers which."""
    shapes = {part.kind: part.weights.shape[:2] for part in parts}

    def picked(value: object) -> None:
        if (head := head_of(value, shapes)) is not None:
            on_pick(head)

    data = encode_grid(
        parts,
        key=key,
        opens=opens,
        order=order,
        crossed=crossed,
        switches=switches,
        step=step,
        caption=caption,
    )
    _mount(key, data, picked)
    _mount(f"{key}-selection", encode_selection(key, selected))


def inside_head(
    numbers: Arithmetic,
    keys: Sequence[str],
    query: str,
    kind: Kind,
    *,
    title: str,
    steps: Sequence[Step],
    step: int,
    on_step: Callable[[int], None],
    head: int,
    factor: str,
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw every number between x and the residual stream, each a hover away."""
    data = encode_inside(
        numbers,
        keys,
        query,
        kind,
        title=title,
        steps=steps,
        step=step,
        head=head,
        factor=factor,
        caption=caption,
    )

    def picked(value: object) -> None:
        if (chosen := step_of(value, len(steps))) is not None:
            on_step(chosen)

    _mount(key, data, picked)


def tensor_strip(
    values: NDArray[np.float32],
    rows: Sequence[str],
    *,
    title: str,
    key: str,
    columns: Sequence[str] | None = None,
    caption: Sequence[str] = (),
) -> None:
    """Draw a tensor large, each value a hover away."""
    _mount(key, encode_strip(values, rows, title=title, columns=columns, caption=caption))


def mask_grids(
    grids: Sequence[MaskGrid],
    kind: Kind,
    *,
    title: str,
    as_numbers: bool,
    chosen: Row,
    on_pick: Callable[[Row], None],
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw the masks of a batch and let a row be chosen."""
    data = encode_masks(
        grids, kind, title=title, as_numbers=as_numbers, chosen=chosen, caption=caption
    )

    def picked(value: object) -> None:
        if (row := row_of(value, grids)) is not None:
            on_pick(row)

    _mount(key, data, picked)


def architecture(
    boxes: Sequence[DrawnBox],
    *,
    layers: int,
    layer: int,
    selected: str,
    on_pick: Callable[[str], None],
    opens: str | None = None,
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw Figure 1 with a sentence in it, and let a box be opened."""
    data = encode_architecture(
        boxes, layers=layers, layer=layer, selected=selected, opens=opens, caption=caption
    )
    names = [box.name for box in boxes]

    def picked(value: object) -> None:
        if isinstance(value, str) and value in names:
            on_pick(value)

    _mount(key, data, picked)


def _mount(key: str, data: bytes, picked: Callable[[object], None] | None = None) -> None:
    """Put a component on the page; `picked` takes what the browser sends, whatever that is."""
    try:
        pictures = _pictures()
    except StreamlitAPIException:
        st.error(NOT_INSTALLED)
        return
    if picked is None:
        pictures(key=key, data=data)
    else:
        pictures(
            key=key,
            data=data,
            on_picked_change=lambda: picked(st.session_state[key].get("picked")),
        )


@cache
def _pictures() -> ComponentRenderer:
    """The component that draws all of them: the data say which.

    Raises:
        StreamlitAPIException: if Streamlit does not find the folder with the script, or no script
            in it.
    """
    # not when this module is imported: only a running app knows the folder. The shadow root keeps
    # Streamlit's styles out and these in
    return st.components.v2.component(COMPONENT, js=SCRIPT)
