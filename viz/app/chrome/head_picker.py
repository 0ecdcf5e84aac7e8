"""Kind, layer, head and the name of a row as small menus whose choice stands in the URL."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import streamlit as st

from transformer import Kind, Translator, kinds
from transformer.analysis import alignment_settings
from transformer.analysis.heads import removal_text
from transformer.analysis.heads.head import Head
from viz.app.chrome.fields import button, choose_first_of_link, choose_one, menu, text_input
from viz.app.links import address, navigation
from viz.draw.labels import KINDS_BY_NAME, ROW_NAMES, SCREEN_NAMES, head_title

KIND = "kind"  # name in the URL of the kind of attention, on every page that asks for one
MEAN = "mean"

ROW = "rows"  # name in the URL of the choice which word names a decoder row in ribbons and links
_MEASURED_ROW = "head_picker.measured_row"

WITHOUT_SINKS = "without_sinks"  # name in the URL of the switch that rescales maps without sinks


class UrlNames(NamedTuple):
    """Names of a choice in the URL; pages that share the names share the choice."""

    layer: str
    head: str


HEAD = UrlNames("layer", "head")  # one head, wherever one is looked at


def pick_kind(*, default: str = SCREEN_NAMES["cross"], disabled: bool = False) -> Kind:
    """Draw the choice among the three kinds of attention, at first `default` as on the screen."""
    _keep_in_link(KIND, list(KINDS_BY_NAME), default)
    name = choose_one("Attention", KINDS_BY_NAME, KIND, default=default, disabled=disabled)
    return KINDS_BY_NAME[name]


def pick_row(translator: Translator, *, disabled: bool = False) -> kinds.Row:
    """Draw the switch between the two words of a decoder's row; at first, as links are measured."""
    rows = {name: row for row, name in ROW_NAMES.items()}
    first = ROW_NAMES[alignment_settings.read_alignment(translator).row]
    state = st.session_state
    if state.get(ROW) == state.get(_MEASURED_ROW, first) != first:
        state[ROW] = first  # another model, and nothing was chosen
    state[_MEASURED_ROW] = first
    label = "Name each step by"
    name = choose_one(label, rows, ROW, default=first, labelled=True, disabled=disabled)
    return rows[name]


def pick_sinks() -> bool:
    """Draw the switch “Without sinks”; return whether maps keep what goes to them."""
    return not st.toggle(
        "Without sinks",
        key=WITHOUT_SINKS,
        bind="query-params",
        help="Many heads give most of their weight to sinks: *start*, *end* and punctuation. This "
        "leaves the sinks out and scales each row to the rest. A faint row then looks as strong as "
        "any other, so a line above the map says how much is left out.",
    )


def pick_layer(name: str, layers: int, *, default: int = 0) -> int:
    """Draw the menu of a layer, from 0 as `default`; the screen and the URL count from 1."""
    return int(_menu("Layer", name, layers, default)) - 1


def pick_number_or_mean(label: str, name: str, count: int, *, default: int | None) -> int | None:
    """Draw the menu of layers, or of heads, with their mean, which is None; as `pick_layer`."""
    choice = _menu(label, name, count, default, mean=True)
    return None if choice == MEAN else int(choice) - 1


def pick_layer_and_head(
    names: UrlNames, layers: int, heads: int, default: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Draw the menus of layer and head, from 0; at first the first head of the last layer."""
    first = default or (layers - 1, 0)
    layer = pick_layer(names.layer, layers, default=first[0])
    return layer, int(_menu("Head", names.head, heads, first[1])) - 1


def first_head(choices: Mapping[str, str], kind: Kind) -> tuple[int, int] | None:
    """Return layer and head of a finding on heads of a kind, from 0; None for another kind."""
    if choices.get(KIND) != SCREEN_NAMES[kind]:
        return None
    return int(choices[HEAD.layer]) - 1, int(choices[HEAD.head]) - 1


def pick_head(translator: Translator, choices: Mapping[str, str]) -> Head:
    """Draw the menus of one head, at first that of a finding's choices; see `first_head`."""
    kind = pick_kind(default=choices.get(KIND, SCREEN_NAMES["cross"]))
    stack = translator.model.config.stack(kind)
    return Head(kind, *pick_layer_and_head(HEAD, stack.N, stack.h, first_head(choices, kind)))


def open_head(head: Head) -> None:
    """Set the menus of a head, and that of its kind, to a head that was clicked."""
    st.session_state[KIND] = SCREEN_NAMES[head.kind]
    choose(HEAD, head.layer, head.head)


def head_buttons(key: str, heads: Iterable[tuple[Head, str]]) -> None:
    """Draw a button for each head, with the figure behind its name; it opens the head."""
    with st.container(horizontal=True, gap="small"):
        for head, figure in heads:
            own_key = f"{key}-{head.kind}-{head.layer}-{head.head}"
            button(f"{head_title(*head)} {figure}", own_key, open_head, head)


def head_heading(head: Head, *more: str) -> None:
    """Draw the heading of one head, in the colour of its kind, with more about it after a dot."""
    with st.container(key=f"heading-of-{head.kind}"):
        st.subheader(" · ".join([head_title(*head), *more]), anchor=False)


def choose(names: UrlNames, layer: int, head: int) -> None:
    """Set the menus to a head that was chosen elsewhere, before they are drawn again."""
    st.session_state[names.layer], st.session_state[names.head] = _name(layer), _name(head)


def link_parameters(kind: Kind, layer: int, head: int | None) -> dict[str, str]:
    """Return the URL parameters of a link to a head, or to the mean of a layer; both from 0."""
    return {KIND: SCREEN_NAMES[kind], HEAD.layer: _name(layer), HEAD.head: _name(head)}


def _menu(label: str, name: str, count: int, default: int | None, *, mean: bool = False) -> str:
    options, first = [*[MEAN] * mean, *map(_name, range(count))], _name(default)
    _keep_in_link(name, options, first)
    width = 128 if mean else 100
    return menu(label, options, name, width=width, index=options.index(first))


def _keep_in_link(name: str, options: list[str], first: str) -> None:
    """Put the choice into the address if the default, which the address leaves out, has changed."""
    state, before = st.session_state, f"head_picker.first.{name}"
    choose_first_of_link(name, first)
    left_out = name not in st.query_params  # else a link that was just followed names another
    if left_out and state.get(before, first) != first and state.get(name) in options:
        state[name] = state[name]  # setting it puts it there
    state[before] = first


def _name(index: int | None) -> str:
    return MEAN if index is None else str(index + 1)


def removed_field() -> str:
    """Draw the field, and return its text; earlier names in a link become those of the screen."""
    if address.has_arrived() or navigation.REMOVED not in st.session_state:
        linked = st.query_params.get(navigation.REMOVED, "")
        removals, wrong = removal_text.parse_removals(linked, None)
        if not wrong and (text := removal_text.format_removals(removals)) != linked:
            address.restate(navigation.REMOVED, text)
    return text_input(
        "Removed heads",
        key=navigation.REMOVED,
        help="Write L2 H4 cross, L1 H1 encoder: zeros replace their outputs. Add uniform, mean, z "
        "or weights for another replacement.",
        placeholder="e.g. L2 H4 cross, L1 H1 encoder",
        autocomplete="off",
    )


def set_removed(text: str) -> None:
    """Set the heads that the next run of the page removes, as text of the link."""
    st.session_state[navigation.REMOVED] = text
