"""Pictures of `viz.draw` in Streamlit: the only module that calls `st.components.v2`.

`mount` shows an encoded picture; `mount_choice` also returns the user's choice, checked, since a
browser can send anything. `key` names the component in the session.

One component draws all pictures. Its script is loaded once, by an address that changes with its
content; a message holds no program text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from transformer import trace
from transformer.analysis.heads.head import Head
from transformer.files import installed
from viz.app.links import address
from viz.draw import attention_map, head_grid
from viz.draw.open_head import Heads

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

T = TypeVar("T")

COMPONENT = "headlight.pictures"
SCRIPT = "headlight-*.js"


def mount(key: str, data: bytes, picked: Callable[[object], None] | None = None) -> None:
    """Put a component on the page; `picked` takes anything that the browser sends."""
    # Streamlit itself looks for such folders among distributions, in the package of the same name,
    # which `headlight-attention` does not have
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(COMPONENT) is None:
        package, name = COMPONENT.split(".")
        config = ComponentConfig(name, asset_dir="browser")
        manifest = ComponentManifest(package, version="", components=[config])
        manager.register_from_manifest(manifest, installed.PACKAGES / package)
    if picked is None:
        _pictures()(key=key, data=data)
        return

    def changed() -> None:
        state = st.session_state.get(key)
        value = state.get("picked") if isinstance(state, Mapping) else None
        is_short = len(json.dumps(value, ensure_ascii=False)) <= address.MAX_TYPED
        picked(value if is_short else None)

    _pictures()(key=key, data=data, on_picked_change=changed)


@cache
def _pictures() -> "ComponentRenderer":
    """Return the component that draws all pictures: the data say which."""
    # not when this module is imported: only a running app knows the folder. The shadow root keeps
    # Streamlit's styles out and these in
    return st.components.v2.component(COMPONENT, js=SCRIPT)  # noqa: TID251


def mount_choice(
    key: str, data: bytes, read: Callable[[object], T | None], choose: Callable[[T], None]
) -> None:
    """Mount a picture; `choose` gets what `read` parses of what was sent, unless it is None."""

    def picked(value: object) -> None:
        if (choice := read(value)) is not None:
            choose(choice)

    mount(key, data, picked)


def mount_map(key: str, labels: trace.Labels, encode: Callable[..., bytes | None]) -> bool:
    """Mount a map with the pinned row of the URL, from 1; return False if nothing is encoded."""
    name, state, shown = f"{key}{address.PINNED_ROW}", f"{key}-labels", tuple(labels)
    if st.session_state.setdefault(state, shown) != shown and not address.has_arrived():
        address.choose(name, None)
    st.session_state[state] = shown
    text = st.query_params.get(name, "")
    row = int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0
    if (data := encode(pinned=row - 1 if row <= len(labels.queries) else -1)) is None:
        return False

    def pin(row: int) -> None:
        address.choose(name, None if row < 0 else str(row + 1))

    mount_choice(key, data, lambda sent: attention_map.pinned_row(sent, labels), pin)
    return True


def mount_grid(
    key: str,
    data: bytes,
    kinds: Sequence[Heads],
    *,
    selected: Head,
    on_pick: Callable[[Head], None],
) -> None:
    """Mount the grid of all heads, encoded under the same key, with the selected head outlined."""
    shapes = {heads.kind: heads.axes.weights.shape[:2] for heads in kinds}

    def pick(click: tuple[Head, int]) -> None:
        head, st.session_state[f"{key}-answered"] = click
        on_pick(head)

    mount_choice(key, data, lambda value: head_grid.click_of(value, shapes), pick)
    mount(f"{key}-selection", head_grid.encode_selection(key, selected))


def answered_click(key: str) -> int:
    """Return the number of the last click in a grid, which is encoded with the answer to it."""
    number: int = st.session_state.get(f"{key}-answered", 0)
    return number


LATE = "Your click was about an earlier sentence or model. Try it again here."


def queue_outdated_notice() -> None:
    """Let the next run say that a click came too late."""
    st.session_state["mounts.late"] = True


def show_outdated_notice() -> None:
    """Show this message once."""
    if st.session_state.pop("mounts.late", False):
        st.caption(LATE)
