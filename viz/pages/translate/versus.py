"""Two decodings of one sentence side by side, with differences marked and both maps."""

from dataclasses import replace
from html import escape
from typing import NamedTuple

import streamlit as st

from transformer import HeadlightError, Translation, Translator
from transformer.analysis.alignment_settings import read_alignment
from transformer.decoding.settings import SearchSettings
from viz.app.cache import cached_results
from viz.app.chrome import fields, mounts, problems
from viz.app.chrome.fields import text_field
from viz.app.models.menu import load, offered_models, reverse_of
from viz.app.sentence import (
    other_model,
    search_request,
    sentence_bar,
    translation_line,
)
from viz.app.view import list_result, name_model
from viz.draw.labels import quoted
from viz.pages.translate.forcing import figures
from viz.pages.translate.maps import MapChoice, draw_map

VERSUS = "versus"  # name in the URL, and the beginning of those of the fields below

NOTHING, GREEDY, OTHER_BEAM, OTHER_ALPHA, OTHER_PREFIX, OTHER_MODEL, BACK = SUBJECTS = (
    "nothing", "greedy search", "another beam", "another α", "another prefix", "another model",
    "translation back",
)  # fmt: skip
"""The last one with the model of the other direction, where there is one."""
MAPS = "versus_maps"  # name in the URL: whether the maps of both are drawn


class OtherDecoding(NamedTuple):
    """The second decoding before its search: a model, its name in the menu, and a source text."""

    translator: Translator
    model: str
    text: str
    settings: SearchSettings
    is_back: bool = False  # whether the text is the translation in the bar


def show_versus(bar: sentence_bar.BarTranslation) -> tuple[OtherDecoding, Translation] | None:
    """Draw the menu of comparisons; return the second decoding and its translation, if any."""
    try:
        with st.container(key="versus-controls", horizontal=True, gap="small"):
            decoding = _pick_decoding(bar)
        if decoding is None:
            return None
        other = cached_results.search(decoding.translator, decoding.text, decoding.settings)
    except HeadlightError as error:
        problems.say(error)
        return None
    translator = decoding.translator
    if translator is not bar.translator:
        name_model("other_translator", decoding.model, translator)
    search = search_request.arguments(decoding.settings)
    list_result("other", other, translator.translate, decoding.text, **search)
    left, right = st.columns(2, gap="large")
    own = bar.translation
    shown, title = own.text, "The other decoding"
    with left, st.container(key="versus-here"):
        settings = bar.used.steers if bar.used.edited else _describe_settings(own.settings)
        about = f"{settings} · {figures(own.best)}"
        if decoding.is_back:
            shown, title, about = bar.used.text, "Translated back", bar.translator.languages.source
        translation_line.show_candidate(shown, shown, about, title="In the bar")
    with right:
        model = f"{escape(quoted(decoding.model))} · "
        model = "" if decoding.translator is bar.translator else model
        same = " · the same words" if other.text == shown else ""
        about = f"{model}{_describe_settings(decoding.settings)} · {figures(other.best)}{same}"
        translation_line.show_candidate(other.text, shown, about, title=title)
        sentence_bar.show_notices_of(bar, other)
        st.button(
            "Use this translation",
            key="versus-take",
            type="tertiary",
            on_click=_take,
            args=(bar.requested, decoding.model, other),
            help="Uses it on all pages. The browser’s Back brings the other one back.",
        )
    caveat = ""
    if not decoding.is_back and decoding.translator is not bar.translator:
        caveat = " Log probability compares two models only where they divide a text into the same "
        caveat += "subwords."
    elif decoding.settings.alpha != bar.used.settings.alpha:
        caveat = " Scores under two α have two penalties ((5 + subwords) / 6)^α (§6.1), so log "
        caveat += "probability alone compares them."
    st.caption(f"{translation_line.MARKS}{caveat}")
    return decoding, other


def _pick_decoding(bar: sentence_bar.BarTranslation) -> OtherDecoding | None:
    offered = offered_models()
    reverse = reverse_of(bar.translator.languages, offered)
    subject = fields.menu("Compare with", SUBJECTS if reverse else SUBJECTS[:-1], VERSUS, width=260)
    if subject == NOTHING:
        return None
    settings = bar.used.settings
    other = OtherDecoding(bar.translator, bar.requested.model, bar.used.text, settings)
    if subject == OTHER_MODEL:
        if (choice := other_model.pick_other(bar, "versus_model")) is None:
            return None
        if choice.same_target:  # its pieces differ
            settings = replace(settings, prefix=search_request.as_text(settings.prefix))
        else:
            settings = search_request.unconstrained(settings)
        other = OtherDecoding(choice.translator, choice.name, choice.text, settings)
    elif subject == BACK:
        settings = search_request.unconstrained(settings)
        translator = load(offered.folders[reverse])
        other = OtherDecoding(translator, reverse, bar.translation.text, settings, is_back=True)
    elif subject == GREEDY:
        settings = replace(settings, beam_size=1)
    elif subject == OTHER_BEAM:
        beams = search_request.BEAMS
        beam_size = fields.menu("Beam size", beams, "versus_beam", width=160, index=len(beams) - 1)
        settings = replace(settings, beam_size=beam_size)
    elif subject == OTHER_ALPHA:
        bounds = *search_request.ALPHAS, 1.0, 0.1, "%.1f"
        alpha = st.number_input("α", *bounds, key="versus_alpha", bind="query-params", width=170)
        settings = replace(settings, alpha=alpha)
    else:
        prefix = text_field("Prefix", key="versus_prefix", placeholder="none", width=320)
        settings = replace(settings, prefix=prefix)
    st.checkbox("Show both maps", key=MAPS, bind="query-params")
    return other._replace(settings=settings)


def _describe_settings(settings: SearchSettings) -> str:
    beam = "greedy search" if settings.beam_size == 1 else f"beam size {settings.beam_size}"
    prefix = settings.prefix
    text = prefix if isinstance(prefix, str) else search_request.as_text(prefix)
    # the caption is HTML
    begins = f" · begins with {escape(quoted(text))}" if text.strip() else ""
    return f"{beam} · α {settings.alpha:g}{begins}"


def _take(request: search_request.SearchRequest, model: str, other: Translation) -> None:
    if not search_request.is_asked(request):
        mounts.queue_outdated_notice()
        return
    settings = replace(other.settings, prefix=tuple(piece.text for piece in other.prefix))
    text = other.source if model != request.model else request.text
    changed = {**search_request.fields_of(settings), "text": text, "edited": "", "model": model}
    search_request.set_request(request._replace(**changed))


def show_both_maps(
    bar: sentence_bar.BarTranslation,
    compared: tuple[OtherDecoding, Translation],
    choice: MapChoice,
) -> None:
    """Draw a map of both translations, as `show_versus` returns them."""
    decoding, other = compared
    here, there = st.columns(2, gap="large")
    there_choice = choice
    if decoding.translator is not bar.translator:  # its layers and heads differ
        alignment = read_alignment(decoding.translator)
        there_choice = choice._replace(layer=alignment.layer, head=alignment.head)
    for column, translator, translation, drawn, key in (
        (here, bar.translator, bar.translation, choice, "here"),
        (there, decoding.translator, other, there_choice, "there"),
    ):
        with column:
            try:
                trace = cached_results.trace(translator, translation)
            except HeadlightError as error:
                problems.say(error)
            else:
                name = "weights" if key == "here" else ""
                draw_map(translator, trace, drawn, f"versus-map-{key}", name=name)
