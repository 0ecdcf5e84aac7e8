"""Address of a view: cleaned before a widget reads it, carried from page to page.

Widgets are bound to the address by `bind="query-params"`. Nothing else in the app writes to it:
`st.query_params` ends the page where a widget has, or had, the name. Bound widgets lack two things,
which this module does before the first widget of a run. Streamlit lets a widget read a number that
it cannot hold, such as infinity. It also removes a name from the address of the next page if a
widget of the last page had it, even if a link or Back has just put it there.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from urllib.parse import parse_qs, unquote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer.errors import one_line, shortened
from viz.app import streamlit_internals

FREE_TEXTS = frozenset(
    {
        *("text", "more", "text2", "donor", "other", "edited", "versus_prefix"),
        *("removed", "pairs", "pe_dimensions"),
        *("match_source", "match_translation", "match_subwords"),
        *("model", "model2", "versus_model"),
        *("lesson", "answers"),
    }
)
"""Names whose values may be any text, “Infinity” included, beside those of search options."""

MAX_QUERY = 64_000  # largest length of a query; a longer one is not read

MAX_LINK_CHARACTERS = 8_000
"""Characters of the sentences in a URL; a server refuses a request line of more than 16 kB."""

MAX_CHARACTERS = 600
"""Characters of each other text, which shares the address with the sentence in the bar."""

MAX_TYPED = 100_000
"""Characters of a sentence that is typed: more than any model reads, and than a link holds."""

_LONGEST = {
    "answers": 6_000,  # some tries on each of the cards that a lesson may have
    **dict.fromkeys(("text", "edited", "prefix"), MAX_LINK_CHARACTERS),
    "removed": 6_000,  # every head of a model, or a few with painted rows
}


def longest(name: str) -> int:
    """Give the characters that a text may have under a name of the address."""
    return _LONGEST.get(name, MAX_CHARACTERS)


IN_CLASS, PRESENT, MINUTES, LOCKED = "class", "present", "minutes", "locked"
UNLOCKED = "address.unlocked"  # in the session: whether the open card lets a class write a sentence
CARRIED = ("lesson", "card", "answers", IN_CLASS, PRESENT, MINUTES, LOCKED)
"""Names that stay in the address from page to page, without a widget that has them."""

STOP = "stop"
"""Name of the stop of the first steps, from 1, which a link within its page keeps."""

WATCHED = "watched"
"""Name of the head that the player draws, as `cross-6-4`; the browser writes it."""

LINKED = "linked"
"""Name at the beginning of the query of a link, which `prepare` takes out. Streamlit leaves the
address as it is where the page of a link is open; where another page is, it takes names out of it,
and puts the choices of that page before those of the link."""

OF_ONE_SENTENCE = ("step", "numbers", "break")
"""Names that belong to the sentence they were chosen on, like pinned rows, whose names end in
`PINNED_ROW`: another sentence begins without them."""
PINNED_ROW = "-row"

EMBEDDING = ("embed", "embed_options")
"""Names that a page in a frame has in its address, and that Streamlit refuses in a link."""

RESERVED = "$$ID"  # prefix of the names that Streamlit's session reserves
LARGEST = 2.0**53  # largest whole number: a browser cannot tell larger ones apart

_HEAD = {"kind": "kind", "layer": "layer", "head": "head"}
_MAP = {"rows": "rows", "without_sinks": "without_sinks"}
SHARED: dict[str, dict[str, str]] = {
    "translate": _MAP,
    "heads": {**_HEAD, **_MAP},
    **dict.fromkeys(("inside", "roles", "corpus", "figure2", "additive"), _HEAD),
    "training": {"kind": "kind"},
    "architecture": {"arch_layer": "layer"},
    "hooks": {"layer": "layer", "head": "head"},
}
"""By page: the names in the address that stand for a choice which several pages share."""

_PAGE, _RAW, _ARRIVED = "address.page", "address.raw", "address.arrived"
_ARRIVALS = "address.arrivals"
_CARRIED, _SHARED_CHOICES = "address.carried", "address.shared_choices"
_QUERY_BY_PAGE = "address.query_by_page"

PAGE_CHANGED = "address.page_changed"
"""In the session: whether the page is another one than that to which the sentence bar has carried
what stands in it. A run can be ended before it has."""


def prepare(page: str, texts: Collection[str] = ()) -> None:
    """Put into the address what the widgets of a page read; `texts` extend `FREE_TEXTS`."""
    # it changes as the widgets are read
    raw = st.session_state[_RAW] = streamlit_internals.query_string()
    left, linked, own = raw.rpartition(f"{LINKED}=")
    query = _read(own)
    if _PAGE not in st.session_state:  # a link from elsewhere, which may have been coded twice
        for values in query.values():
            values[:] = [unquote(v) if "%20" in v and len(v.split()) == 1 else v for v in values]
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if page_changed := before != page:
        st.session_state[PAGE_CHANGED] = True
    followed = page_changed and not is_restored()
    arrived = st.session_state[_ARRIVED] = bool(linked) or page_changed or is_restored()
    st.session_state[_ARRIVALS] = arrivals() + arrived
    if linked:  # else the widgets of the open page would keep what they have
        for name in query:
            st.session_state.pop(name, None)
    wanted = query
    if linked and "card" in query:  # a card of a lesson shows its view, whatever was chosen before
        for name in SHARED.get(page, {}):
            st.session_state.pop(name, None)
        wanted = {**st.session_state.get(_CARRIED, {}), **query}
    elif followed:
        wanted = _query_of_new_page(before, page, _read(left) if linked else query)
        if linked:
            wanted |= query
    wanted = clean(wanted, texts)
    st.session_state[_CARRIED] = {name: wanted[name] for name in CARRIED if name in wanted}
    stands = {name: st.query_params.get_all(name) for name in st.query_params}
    if linked or followed or wanted != stands:
        streamlit_internals.replace_query(wanted)


def link_query(
    path: str, choices: Mapping[str, str | Sequence[str]]
) -> Mapping[str, str | Sequence[str]]:
    """Return the URL parameters of a link to a page; if it is open, with all that stays."""
    carried = {}
    if st.session_state.get(_PAGE) == path:
        names = (*CARRIED, STOP)
        carried = {name: st.query_params[name] for name in names if name in st.query_params}
    usable = {name: choices[name] for name in choices if name.lower() not in EMBEDDING}
    return {LINKED: "", **carried, **usable}


def clamp_number(name: str, most: int) -> None:
    """Clamp a number from 1 to `most` in the address: its widget would take its default instead."""
    try:
        given = int(st.query_params.get(name, ""))
    except ValueError:
        return
    if 1 <= given <= most:
        return
    restate(name, str(min(max(given, 1), most)))


def choose_by_number(name: str, options: Sequence[str]) -> None:
    """Let a link choose an option by the number that it begins with, whatever comes after it."""
    given = st.query_params.get(name, "")
    number = given.partition(" ")[0]
    for option in options:
        if option != given and option.partition(" ")[0] == number:
            restate(name, option)


def restate(name: str, value: str) -> None:
    """Change the value of a name in the address before a widget reads it, never after."""
    streamlit_internals.write_to_query(name, value)
    streamlit_internals.reread_query()


def choose(name: str, value: str | None) -> None:
    """Put a choice into the address, or None to remove it; a widget that is drawn keeps its own."""
    streamlit_internals.write_to_query(name, value)
    if name in CARRIED:  # the next page has it, too
        carried = st.session_state.setdefault(_CARRIED, {})
        carried.pop(name, None)
        carried |= {} if value is None else {name: [value]}


def forget_sentence() -> None:
    """Take what belongs to the last sentence out of the address, and of that of each other page."""

    def outdated(names: Iterable[str]) -> list[str]:
        return [n for n in names if n in OF_ONE_SENTENCE or n.endswith(PINNED_ROW)]

    for name in outdated(st.query_params):
        streamlit_internals.write_to_query(name, None)
    for query in st.session_state.get(_QUERY_BY_PAGE, {}).values():
        for name in outdated(query):
            del query[name]


def has_arrived() -> bool:
    """Return whether this run is the first at its address: later ones can have other choices."""
    return bool(st.session_state.get(_ARRIVED, True))


def arrivals() -> int:
    """Return how often this session has come to an address: by a link, another page, or Back."""
    return int(st.session_state.get(_ARRIVALS, 0))


def in_class() -> bool:
    """Return whether a teacher's link opened the page, which fixes the sentence."""
    return st.query_params.get(IN_CLASS) == "1" and not st.session_state.get(UNLOCKED)


def is_restored() -> bool:
    """Return whether this run is one for Back or Forward.

    A bound widget then takes the value of the address when it is drawn. Until then the session has
    the state of the entry that was left.
    """
    return streamlit_internals.is_history_navigation()


def raw_value(name: str) -> str | None:
    """Return the value of a name in the URL as the browser sent it, before it was cleaned."""
    query = st.session_state.get(_RAW)
    if query is None:  # a part of the app is drawn by itself
        return st.query_params.get(name)
    return _read(query).get(name, [None])[-1]


def length_problem() -> str:
    """Describe in one sentence what in the address is too long to be read; "" if nothing is."""
    query = st.session_state.get(_RAW, "")
    if len(query) > MAX_QUERY:
        return f"The link has more than {MAX_QUERY:,} characters and was not read: shorten it."
    for name, values in _read(query).items():
        if max(map(len, values)) > longest(name):
            return (
                f"The text of the link under “{shortened(one_line(name), 40)}” has more than "
                f"{longest(name):,} characters and was not read: shorten it."
            )
    return ""


def write_address_marker(container: DeltaGenerator, url_path: str) -> None:
    """Name the address that the page now shows, for `js/history.js`; the last thing of a run."""
    restored = is_restored()
    # the script keeps what Back has opened, even where a widget would write it in another way
    query = st.session_state[_RAW] if restored else streamlit_internals.query_string()
    # the time, so that it changes with each run
    container.html(
        f'<i data-address="{escape(f"/{url_path}?{query}")}" data-restored="{restored}" '
        f'data-at="{time.time_ns()}"></i>'
    )


def clean(query: Mapping[str, list[str]], texts: Collection[str] = ()) -> streamlit_internals.Query:
    """Drop reserved names, texts that are too long, and infinite, NaN or huge numbers."""

    def is_usable(name: str, value: str) -> bool:
        if len(value) > longest(name) or name.startswith(RESERVED):
            return False
        try:
            # which NaN is not
            return name in FREE_TEXTS or name in texts or abs(float(value)) <= LARGEST
        except ValueError:
            return True

    usable = {name: [v for v in values if is_usable(name, v)] for name, values in query.items()}
    return {name: values for name, values in usable.items() if values}


_AS_LATIN = {0xDC00 + n: bytes([n]).decode("cp1252", "replace") for n in range(0x80, 0x100)}
_PUNCTUATED = re.compile(r"((?:^|&)(?:layer|head|card|word|step)=\d+)[.,;:)>\]]+$")


def _read(query: str) -> streamlit_internals.Query:
    """Read a query, also as HTML and mails change it: `&amp;`, Latin-1, the end of a sentence."""
    query = re.sub("&(amp;)+", "&", query) if len(query) <= MAX_QUERY else ""
    query = _PUNCTUATED.sub(r"\1", query)
    pairs = parse_qs(query, keep_blank_values=True, errors="surrogateescape").items()
    read = {n.translate(_AS_LATIN): [v.translate(_AS_LATIN) for v in values] for n, values in pairs}
    return {n: values for n, values in read.items() if not n.startswith(RESERVED)}


def _query_of_new_page(
    before: str, page: str, query: streamlit_internals.Query
) -> streamlit_internals.Query:
    """Return the query of a page that is opened: choices of the last page, else its own."""
    state = st.session_state
    wanted = dict(state.get(_CARRIED, {}))
    wanted |= {name: st.query_params.get_all(name) for name in st.query_params}
    wanted.pop(LINKED, None)
    query_by_page: dict[str, streamlit_internals.Query] = state.setdefault(_QUERY_BY_PAGE, {})
    # Streamlit has taken out what was bound on the last page
    query_by_page[before] = {name: query[name] for name in query if name not in wanted}
    shared: dict[str, str] = state.setdefault(_SHARED_CHOICES, {})
    for name, choice in SHARED.get(before, {}).items():
        if name in state:
            value = state[name]
            shared[choice] = str(value).lower() if isinstance(value, bool) else value
        elif name in query:
            shared[choice] = query[name][0]
    # a widget of the same name would begin with what the last page had, unseen in the address
    every = {name for names in SHARED.values() for name in names}
    for name in every - (SHARED.get(before, {}).keys() & SHARED.get(page, {}).keys()):
        state.pop(name, None)
    for name, values in query_by_page.get(page, {}).items():
        if name not in state:
            wanted.setdefault(name, values)
    for name, choice in SHARED.get(page, {}).items():
        if name in query or choice in shared:
            # a link's own word comes last
            wanted[name] = query.get(name, [shared.get(choice, "")])[-1:]
            state.pop(name, None)
    return wanted


def is_presented() -> bool:
    """Return whether the page is presented."""
    return st.query_params.get(PRESENT) == "1"


def mark_presentation(end: str) -> None:
    """Draw the mark, by which styles and `js/share.js` know it, and the button that ends it."""
    if is_presented():
        with st.container(key="presenting", horizontal=True):
            st.html("<i data-present hidden></i>")
            st.button(
                end, key="present-end", type="tertiary", on_click=choose, args=(PRESENT, None)
            )
