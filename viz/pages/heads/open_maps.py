"""Large maps of the Heads page: the open map with its ribbons, or two maps side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from transformer import AttentionTrace
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_text import format_removals
from transformer.text.languages import Languages
from viz.app.chrome.head_picker import in_link
from viz.app.chrome.mounts import mount
from viz.app.links import navigation
from viz.app.links.role_views import REMOVED, TAKE_AWAY, VIEW
from viz.app.sentence.origin import origin_of
from viz.draw.attention_map import encode_map
from viz.draw.caption import head_caption
from viz.draw.explorer_options import SecondMap
from viz.draw.lens_words import amount, row_note, tells_heads
from viz.draw.open_head import Heads, OpenMap, open_map, outlined, short_name
from viz.draw.ribbons import MOST_HEADS, encode_ribbons
from viz.pages.heads.compare import second_map
from viz.pages.heads.controls import Controls
from viz.pages.heads.disagreement import show_disagreement
from viz.pages.heads.numbers import show_numbers


def show_open(
    trace: AttentionTrace, controls: Controls, heads: Heads, opened: OpenMap
) -> list[tuple[int, int]]:
    """Draw the open map and its ribbons; return the heads whose ribbons overlay its own."""
    caption = _caption(trace, controls)
    _map(controls, opened, trace.languages, caption, key="heads-map")
    show_numbers(controls, heads, opened)
    if controls.layer is not None and controls.head is not None:
        url = in_link(controls.kind, controls.layer, controls.head)
        navigation.link("inside", "how this head comes to its weights", url)
        removal = format_removals([Removal(controls.kind, controls.layer, controls.head)])
        removal_url = {**url, VIEW: TAKE_AWAY, REMOVED: removal}
        navigation.link("roles", "take this head away", removal_url)
    st.subheader("Ribbons", anchor=False)
    over = _overlaid(controls, heads)
    maps = [open_map(heads, *place) for place in over]
    names = [short_name(controls.lens, *place) for place in over]
    ribbons = encode_ribbons(
        [(opened.title, opened.weights)]
        + [(name, url.weights) for name, url in zip(names, maps, strict=True)],
        opened.labels,
        heads.kind,
        languages=trace.languages,
        threshold=controls.threshold,
        amount=amount(heads.lens),
        reads=opened.reads,
        writes=opened.writes,
        caption=caption,
    )
    mount("heads-ribbons", ribbons)
    return over


def _overlaid(controls: Controls, heads: Heads) -> list[tuple[int, int]]:
    """Draw the menu of overlaid ribbons; return layer and head of each."""
    places = [*np.ndindex(heads.axes.weights.shape[:2])]
    named = {short_name(controls.lens, *place): place for place in places}
    subject, key = ("heads", "over") if tells_heads(controls.lens) else ("layers", "over_layers")
    others = st.multiselect(
        f"Overlay other {subject}",
        list(named),
        max_selections=MOST_HEADS - 1,
        key=key,
        bind="query-params",
        placeholder=f"Choose {subject} of the same kind",
    )
    own = outlined(controls.lens, controls.layer, controls.head)
    # in the order of the menu, as the ribbons and their switches
    return [named[name] for name in others if named[name] != own]


def show_compared(
    trace: AttentionTrace, controls: Controls, heads: Heads, first: OpenMap
) -> SecondMap | None:
    """Draw the open map, a second one and their difference; return the second one."""
    result = second_map(controls, trace)
    if result is None:
        return None
    compared, second_heads = result
    second, languages, caption = compared
    own = _caption(trace, controls)
    columns = st.columns(3, gap="medium")
    with columns[0]:
        _map(controls, first, trace.languages, own, beside_difference=True, key="heads-first")
    with columns[1]:
        _map(controls, second, languages, caption, beside_difference=True, key="heads-second")
    with columns[2]:
        if first.labels != second.labels:
            st.text("A difference needs the same tokens along both axes; these maps differ there.")
            return compared
        difference = encode_map(
            first.weights - second.weights,
            first.labels,
            controls.kind,
            title="first minus second",
            languages=trace.languages,
            reads=first.reads,
            writes=first.writes,
            signed=True,
            note=None if controls.special else "Each square is first minus second.",
            caption=["First:", *own, "Second:", *caption],
        )
        mount("heads-difference", difference)
    if first.lens != second.lens:
        show_disagreement(controls, heads, second_heads)
    return compared


def _caption(trace: AttentionTrace, controls: Controls) -> list[str]:
    return origin_of(trace).caption(
        head_caption(controls.kind, controls.layer, controls.head, controls.lens)
    )


def _map(
    controls: Controls,
    drawn: OpenMap,
    languages: Languages,
    caption: Sequence[str],
    *,
    key: str,
    beside_difference: bool = False,
) -> None:
    note = row_note(drawn.lens, controls.kind)
    if drawn.absorbed is not None:
        left_out = (
            f"Special tokens are left out: {drawn.absorbed:.0%} of these rows' "
            f"{amount(drawn.lens)} goes there."
        )
        # the note on weights says that rows sum to 1, which is not so here
        note = left_out if drawn.lens == "weights" else f"{note} {left_out}"
    data = encode_map(
        drawn.weights,
        drawn.labels,
        controls.kind,
        title=drawn.title,
        languages=languages,
        reads=drawn.reads,
        writes=drawn.writes,
        scale=controls.scale,
        threshold=controls.threshold,
        amount=amount(drawn.lens),
        note=note,
        beside_difference=beside_difference,
        caption=caption,
    )
    mount(key, data)
