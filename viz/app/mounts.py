"""The pictures of `viz.draw` in Streamlit.

Each function draws one component and takes what its `encode_…` function takes, which says what the
arguments are and what it raises; besides, `key` names the component in the session (one key, one
place on the page), and a callback takes what the reader chose, before the page's script runs again.
What a browser sends can be anything, so it is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viz.app.mount import mount
from viz.draw.architecture import DrawnBox, encode_architecture
from viz.draw.attention_map import Scale, encode_map, squares_of
from viz.draw.head_grid import GridPart, encode_grid, encode_selection, head_of
from viz.draw.inside_head import WalkStep, encode_inside, step_of
from viz.draw.mask_grids import MaskGrid, Row, encode_masks, row_of
from viz.draw.ribbons import encode_ribbons
from viz.draw.tensor_strip import encode_strip
from viz.draw.word_links import encode_links

if TYPE_CHECKING:
    from transformer.analysis.alignment import WordPair
    from transformer.analysis.heads.head import Head
    from transformer.analysis.paper.arithmetic import Arithmetic
    from transformer.kinds import Kind
    from transformer.languages import Languages
    from transformer.trace import Labels


def attention_map(
    weights: NDArray[np.float32],
    labels: Labels,
    kind: Kind,
    *,
    title: str,
    languages: Languages,
    key: str,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    scale: Scale = "linear",
    threshold: float = 0.0,
    signed: bool = False,
    amount: str = "weight",
    note: str | None = None,
    beside_difference: bool = False,
    on_paint: Callable[[list[tuple[int, int]]], None] | None = None,
    caption: Sequence[str] = (),
) -> None:
    """Draw one head large: queries down, keys across, each weight a hover away.

    Where `on_paint` is given, it is told row and column of the squares that were pressed, all of
    one row.
    """
    data = encode_map(
        weights,
        labels,
        kind,
        title=title,
        languages=languages,
        reads=reads,
        writes=writes,
        scale=scale,
        threshold=threshold,
        signed=signed,
        amount=amount,
        note=note,
        beside_difference=beside_difference,
        paints=on_paint is not None,
        caption=caption,
    )
    if on_paint is None:
        mount(key, data)
        return

    def picked(value: object) -> None:
        if squares := squares_of(value, labels):
            on_paint(squares)

    mount(key, data, picked)


def ribbons(
    heads: Sequence[tuple[str, NDArray[np.float32]]],
    labels: Labels,
    kind: Kind,
    *,
    languages: Languages,
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
    mount(
        key,
        encode_ribbons(
            heads,
            labels,
            kind,
            languages=languages,
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
    mount(key, data, picked)
    mount(f"{key}-selection", encode_selection(key, selected))


def inside_head(
    numbers: Arithmetic,
    keys: Sequence[str],
    query: str,
    kind: Kind,
    *,
    title: str,
    steps: Sequence[WalkStep],
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

    mount(key, data, picked)


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
    mount(key, encode_strip(values, rows, title=title, columns=columns, caption=caption))


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

    mount(key, data, picked)


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

    mount(key, data, picked)


def word_links(
    source: Sequence[str],
    target: Sequence[str],
    pairs: Sequence[WordPair],
    *,
    made_by: str,
    languages: Languages,
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw the words of two sentences with a link for each pair; its strength is a hover away."""
    data = encode_links(
        source, target, pairs, made_by=made_by, languages=languages, caption=caption
    )
    mount(key, data)
