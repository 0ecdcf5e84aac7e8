"""Two decodings of one sentence side by side, with what differs marked and both attentions."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from transformer import HeadlightError, Translation
from transformer.search_settings import SearchSettings
from viz.app import serving, steered, steering
from viz.app.candidates import MARKS, show_candidate
from viz.app.sentence_bar import Found
from viz.draw.labels import quoted
from viz.pages.translate.others import figures
from viz.pages.translate.piece_map import Place, draw_map

VERSUS, BEAM, ALPHA, PREFIX, MAPS = (
    "versus",
    "versus_beam",
    "versus_alpha",
    "versus_prefix",
    "versus_maps",
)
"""Names in the URL."""

NOTHING, GREEDY, OTHER_BEAM, OTHER_ALPHA, OTHER_PREFIX = (
    "nothing",
    "greedy search",
    "another beam",
    "another α",
    "another prefix",
)


def show_versus(found: Found) -> Translation | None:
    """Draw what is compared, if anything is, and the menu that says what.

    Returns:
        The other translation, if the maps of both are asked for.
    """
    with st.container(key="versus-controls", horizontal=True, gap="small"):
        settings = _settings(found)
    if settings is None:
        return None
    try:
        other = serving.search(found.translator, found.used.text, settings)
    except HeadlightError as error:
        st.text(str(error))
        return None
    here, there = st.columns(2, gap="large")
    ours = found.translation
    with here, st.container(key="versus-here"):
        show_candidate(
            ours.text,
            ours.text,
            f"{_in_words(found)} · {figures(ours.best)}",
            title="In the bar",
        )
    with there:
        same = " · the same words" if other.text == ours.text else ""
        show_candidate(
            other.text,
            ours.text,
            f"{_settings_in_words(other.settings)} · {figures(other.best)}{same}",
            title="The other decoding",
        )
        st.button(
            "Take this one",
            key="versus-take",
            type="tertiary",
            on_click=_take,
            args=(found, other),
            help="Makes it the translation, on all pages; Undo takes it back",
        )
    st.caption(
        f"{MARKS} Scores under two α have two penalties ((5 + pieces) / 6)^α (§6.1), so log p "
        f"alone compares them."
    )
    return other if st.session_state.get(MAPS) else None


def _settings(found: Found) -> SearchSettings | None:
    """Draw the menus; the settings of the other search, or None where there is none."""
    what = st.selectbox(
        "Compare with",
        [NOTHING, GREEDY, OTHER_BEAM, OTHER_ALPHA, OTHER_PREFIX],
        key=VERSUS,
        bind="query-params",
        width=260,
    )
    if what == NOTHING:
        return None
    settings = steered.settings_of(found.used)
    if what == GREEDY:
        settings = replace(settings, beam_size=1)
    elif what == OTHER_BEAM:
        beams = steering.BEAMS
        beam_size = st.selectbox(
            "Beam", beams, len(beams) - 1, key=BEAM, bind="query-params", width=120
        )
        settings = replace(settings, beam_size=beam_size)
    elif what == OTHER_ALPHA:
        alpha = st.number_input(
            "α", *steering.ALPHAS, 1.0, 0.1, "%.1f", key=ALPHA, bind="query-params", width=170
        )
        settings = replace(settings, alpha=alpha)
    else:
        prefix = st.text_input(
            "Prefix",
            key=PREFIX,
            bind="query-params",
            live="250ms",
            autocomplete="off",
            placeholder="none",
            width=320,
        )
        settings = replace(settings, prefix=prefix or "")
    st.checkbox("both maps", key=MAPS, bind="query-params")
    return settings


def _in_words(found: Found) -> str:
    return (
        found.used.steers if found.used.german else _settings_in_words(found.translation.settings)
    )


def _settings_in_words(settings: SearchSettings) -> str:
    beam = "greedy search" if settings.beam_size == 1 else f"beam {settings.beam_size}"
    prefix = settings.prefix
    text = prefix if isinstance(prefix, str) else steering.as_text(prefix)
    # the caption becomes HTML
    begins = f" · begins with {escape(quoted(text))}" if text.strip() else ""
    return f"{beam} · α {settings.alpha:g}{begins}"


def _take(found: Found, other: Translation) -> None:
    settings = other.settings
    steering.ask(
        found.asked._replace(
            beam_size=settings.beam_size,
            alpha=settings.alpha,
            prefix=" ".join(piece.text for piece in other.prefix),
            german="",
        )
    )


def show_both_maps(found: Found, other: Translation, place: Place) -> None:
    """Draw one map of both translations.

    Args:
        other: as `show_versus` returns it.
        place: which map.
    """
    columns = st.columns(2, gap="large")
    for column, translation, key in zip(
        columns, (found.translation, other), ("versus-map-here", "versus-map-there"), strict=True
    ):
        with column:
            try:
                trace = serving.trace(found.translator, translation)
            except HeadlightError as error:
                st.text(str(error))
            else:
                draw_map(found.translator, trace, place, key)
