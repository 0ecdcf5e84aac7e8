"""Two decodings of one sentence side by side, with differences marked and both maps."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import NamedTuple

import streamlit as st

from transformer import HeadlightError, Translation, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.chrome.fields import text_field
from viz.app.chrome.mounts import say_late
from viz.app.chrome.problems import say
from viz.app.sentence import search_request
from viz.app.sentence.candidates import MARKS, show_candidate
from viz.app.sentence.other_model import pick_other
from viz.app.sentence.request_translation import settings_of
from viz.app.sentence.search_request import SearchRequest
from viz.app.sentence.sentence_bar import BarTranslation, show_notices_of
from viz.draw.labels import quoted
from viz.pages.translate.forcing import figures
from viz.pages.translate.maps import MapChoice, draw_map

VERSUS, BEAM, ALPHA, PREFIX, MODEL, MAPS = (
    "versus",
    "versus_beam",
    "versus_alpha",
    "versus_prefix",
    "versus_model",
    "versus_maps",
)
"""Names in the URL."""

NOTHING, GREEDY, OTHER_BEAM, OTHER_ALPHA, OTHER_PREFIX, OTHER_MODEL = (
    "nothing",
    "greedy search",
    "another beam",
    "another α",
    "another prefix",
    "another model",
)


class OtherDecoding(NamedTuple):
    """The second decoding before its search.

    Args:
        translator: the model.
        model: name of the model in the menu.
        text: source text for this model.
        settings: settings of the search.
    """

    translator: Translator
    model: str
    text: str
    settings: SearchSettings


def show_versus(bar: BarTranslation) -> tuple[OtherDecoding, Translation] | None:
    """Draw the menu of comparisons and the second decoding, if any.

    Returns:
        The second decoding and its translation, if both maps are requested.
    """
    with st.container(key="versus-controls", horizontal=True, gap="small"):
        try:
            decoding = _pick_decoding(bar)
        except HeadlightError as error:
            say(error)
            return None
    if decoding is None:
        return None
    try:
        other = cached_results.search(decoding.translator, decoding.text, decoding.settings)
    except HeadlightError as error:
        say(error)
        return None
    left, right = st.columns(2, gap="large")
    own = bar.translation
    with left, st.container(key="versus-here"):
        show_candidate(
            own.text,
            own.text,
            f"{_in_words(bar)} · {figures(own.best)}",
            title="In the bar",
        )
    with right:
        same = " · the same words" if other.text == own.text else ""
        show_candidate(
            other.text,
            own.text,
            f"{_other_in_words(bar, decoding)} · {figures(other.best)}{same}",
            title="The other decoding",
        )
        show_notices_of(other)
        st.button(
            "Take this one",
            key="versus-take",
            type="tertiary",
            on_click=_take,
            args=(bar.requested, decoding.model, other),
            help="Makes it the translation, on all pages; Undo takes it back",
        )
    st.caption(" ".join([MARKS, *_caveats(bar, decoding)]))
    return (decoding, other) if st.session_state.get(MAPS) else None


def _pick_decoding(bar: BarTranslation) -> OtherDecoding | None:
    """Draw the menus; return the second decoding, or None without one.

    Raises:
        CheckpointError: if the chosen model cannot be loaded.
    """
    subject = st.selectbox(
        "Compare with",
        [NOTHING, GREEDY, OTHER_BEAM, OTHER_ALPHA, OTHER_PREFIX, OTHER_MODEL],
        key=VERSUS,
        bind="query-params",
        width=260,
    )
    if subject == NOTHING:
        return None
    settings = settings_of(bar.used)
    other = OtherDecoding(bar.translator, bar.requested.model, bar.used.text, settings)
    if subject == OTHER_MODEL:
        if (choice := pick_other(bar, MODEL)) is None:
            return None
        # its pieces differ, and so do the words of another language
        prefix = search_request.as_text(bar.used.pieces) if choice.same_target else ""
        forbidden = settings.forbidden if choice.same_target else ()
        settings = replace(settings, prefix=prefix, forbidden=forbidden)
        other = OtherDecoding(choice.translator, choice.name, choice.text, settings)
    elif subject == GREEDY:
        settings = replace(settings, beam_size=1)
    elif subject == OTHER_BEAM:
        beams = search_request.BEAMS
        beam_size = st.selectbox(
            "Beam", beams, len(beams) - 1, key=BEAM, bind="query-params", width=120
        )
        settings = replace(settings, beam_size=beam_size)
    elif subject == OTHER_ALPHA:
        alpha = st.number_input(
            "α", *search_request.ALPHAS, 1.0, 0.1, "%.1f", key=ALPHA, bind="query-params", width=170
        )
        settings = replace(settings, alpha=alpha)
    else:
        prefix = text_field("Prefix", key=PREFIX, placeholder="none", width=320)
        settings = replace(settings, prefix=prefix)
    st.checkbox("both maps", key=MAPS, bind="query-params")
    return other._replace(settings=settings)


def _caveats(bar: BarTranslation, other: OtherDecoding) -> list[str]:
    """Name the figures that cannot be compared, if any."""
    if other.translator is not bar.translator:
        return ["Log p compares two models only where they divide a text into the same pieces."]
    if other.settings.alpha != settings_of(bar.used).alpha:
        return [
            "Scores under two α have two penalties ((5 + pieces) / 6)^α (§6.1), so log p alone "
            "compares them."
        ]
    return []


def _in_words(bar: BarTranslation) -> str:
    return bar.used.steers if bar.used.edited else _settings_in_words(bar.translation.settings)


def _other_in_words(bar: BarTranslation, other: OtherDecoding) -> str:
    settings = _settings_in_words(other.settings)
    same = other.translator is bar.translator
    return settings if same else f"{escape(quoted(other.model))} · {settings}"


def _settings_in_words(settings: SearchSettings) -> str:
    beam = "greedy search" if settings.beam_size == 1 else f"beam {settings.beam_size}"
    prefix = settings.prefix
    text = prefix if isinstance(prefix, str) else search_request.as_text(prefix)
    # the caption is HTML
    begins = f" · begins with {escape(quoted(text))}" if text.strip() else ""
    return f"{beam} · α {settings.alpha:g}{begins}"


def _take(request: SearchRequest, model: str, other: Translation) -> None:
    if not search_request.is_asked(request):
        say_late()
        return
    settings = other.settings
    search_request.set_request(
        request._replace(
            text=other.source if model != request.model else request.text,
            beam_size=settings.beam_size,
            alpha=settings.alpha,
            prefix=" ".join(piece.text for piece in other.prefix),
            forbid=" ".join(settings.forbidden),
            edited="",
            model=model,
        )
    )


def show_both_maps(
    bar: BarTranslation, compared: tuple[OtherDecoding, Translation], choice: MapChoice
) -> None:
    """Draw a map of both translations, as `show_versus` returns them."""
    decoding, other = compared
    columns = st.columns(2, gap="large")
    other_choice = choice
    if decoding.translator is not bar.translator:  # its layers and heads differ
        alignment = read_alignment(decoding.translator)
        other_choice = MapChoice(alignment.layer, alignment.head)
    for column, translator, translation, drawn, key in (
        (columns[0], bar.translator, bar.translation, choice, "versus-map-here"),
        (columns[1], decoding.translator, other, other_choice, "versus-map-there"),
    ):
        with column:
            try:
                trace = cached_results.trace(translator, translation)
            except HeadlightError as error:
                say(error)
            else:
                draw_map(translator, trace, drawn, key)
