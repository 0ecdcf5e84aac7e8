"""The bar of the pages that use a sentence: the sentence, its search, and its translation."""

from typing import NamedTuple
from urllib.parse import quote_plus

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Translation, Translator
from transformer.decoding.settings import SearchSettings
from transformer.text.languages import OURS, Languages
from viz.app.cache import cached_results
from viz.app.chrome import fields, problems
from viz.app.links import address
from viz.app.links.address import MAX_LINK_CHARACTERS
from viz.app.models import menu
from viz.app.models.menu import OfferedModels
from viz.app.sentence import search_request, source_box, subwords
from viz.app.sentence.search_request import SearchRequest
from viz.app.sentence.translation_line import TranslationLine
from viz.draw import caption

TEXT = search_request.TEXT  # name in the URL

_LINKED, _IN_LINK, _LANGUAGES = (
    f"sentence_bar.{name}" for name in ("linked", "in_link", "languages")
)
_TRANSLATED = "sentence_bar.translated"
"""In the session: the last sentence and its translation, which stays until a new one comes."""


class BarTranslation(NamedTuple):
    """The translation in the bar, and what it was found with."""

    translator: Translator
    translation: Translation
    requested: SearchRequest  # what was to be found
    used: SearchRequest  # the same without what could not be done
    notices: tuple[str, ...]  # plain sentences on what a user should know

    @property
    def trace(self) -> AttentionTrace:
        """The trace of the translation, computed once; see `is_traced`."""
        return cached_results.trace(self.translator, self.translation)

    @property
    def origin(self) -> caption.Origin:
        """The origin of its trace."""
        return self.origin_of(self.trace)

    def origin_of(self, trace: AttentionTrace) -> caption.Origin:
        """Return the origin of a trace that its model made."""
        return caption.Origin.from_translator(self.translator, trace.source, trace.target)

    def translate(self, text: str, translator: Translator | None = None) -> Translation:
        """Translate another text with the beam size of the bar, by its model or another one."""
        settings = SearchSettings(beam_size=self.requested.beam_size)
        return cached_results.search(translator or self.translator, text, settings)


class Bar(NamedTuple):
    """The sentence bar of one run; None for what it says is missing."""

    text: str = ""  # as typed; "" on a page that uses no sentence
    model: str = ""  # its name in the menu of models
    translator: Translator | None = None
    translation: BarTranslation | None = None


def show(*, is_used: bool = True) -> Bar:
    """Draw the bar; return what the page below is drawn with."""
    # what the session began with: a click can end its first run before the fields have taken it
    linked = st.session_state.setdefault(_LINKED, st.query_params.to_dict())
    if st.session_state.get(address.PAGE_CHANGED):
        search_request.restore_from_link(linked)
        st.session_state[address.PAGE_CHANGED] = False
    offered = menu.offered_models()
    wrong = " ".join(filter(None, [*search_request.problems_of_link(), menu.problem(offered)]))
    with st.container(key="sentence-bar" if is_used else "unused-sentence", gap="small"):
        inputs = st.container(
            key="inputs", horizontal=True, vertical_alignment="bottom", gap="small"
        )
        loading = st.container(key="loading")
        with inputs:
            sentence = st.container()
            name = menu.choose(offered)
        translator, bar, no_model = None, None, ""
        try:
            with loading:
                translator = menu.load(offered.folders[name])
            st.session_state[_LANGUAGES] = translator.languages
        except HeadlightError as error:
            # the box stays as it is, so that nothing that was typed is lost
            no_model = problems.without_paths(error)
        search_request.release_outdated()
        with inputs:
            request, figures = _inputs(sentence, name, offered)
        search_request.record_request(request, wrong)
        # a block that came before the fields would be drawn anew for a run that ends with the next
        # letter, and its line be empty for a moment
        with st.container(key="answer", gap=None):
            # the end of the last translation stays in sight until the new one is found
            label = source_box.label(languages(), "target", request.text)
            _, before = st.session_state.get(_TRANSLATED, ("", ""))
            line = TranslationLine(figures, before, label, languages().source)
            if translator is None:
                line.say(" ".join([no_model, *search_request.notices()]))
            else:
                bar = _answer(translator, request, line, problems.without_paths(offered.problem))
            if bar is not None and bar.notices:
                _show_notices(bar, menu.reverse_of(languages(), offered))
        if not in_link():
            with st.container(key="no-link"):
                st.text("The text is too long for a link: reloading the page loses it.")
    problem = " ".join(filter(None, [no_model, *search_request.notices()]))
    if problem and not is_used:
        st.text(problem)
    return Bar(request.text if is_used else "", name, translator, bar)


def in_link() -> bool:
    """Return whether the address has the sentence; one that is too long is left out."""
    return bool(st.session_state.get(_IN_LINK, True))


def languages() -> Languages:
    """Return the languages of the model in the bar, or of the last one that was loaded."""
    known: Languages = st.session_state.get(_LANGUAGES, OURS)
    return known


def url_choices() -> dict[str, str]:
    """Return the URL parameters of the sentence in the bar and of its search."""
    names = (name for name in search_request.NAMES if name in st.query_params)
    choices = {name: st.query_params[name] for name in names}
    if in_link() and (text := fields.read_text(TEXT)):  # the address leaves out the first example
        choices[TEXT] = text
    return choices


def is_traced(bar: BarTranslation) -> bool:
    """Return whether the translation has a trace; False after saying why it has none."""
    try:
        return bool(bar.trace)
    except HeadlightError as error:
        problems.say(error)
        return False


def _show_notices(bar: BarTranslation, reverse: str) -> None:
    """Show the notices on a translation, and the model that reads its language."""
    with st.container(key="notices", gap=None):
        read = bar.translator.languages
        other = read.mistaken(bar.requested.text)
        for notice in bar.notices:
            st.text(notice)
            is_other = other is not None and notice == read.notice(bar.requested.text)
            if is_other and reverse and not address.in_class():
                fields.button(f"⇄ Translate from {other}", "reread", _read_by, reverse)


def _read_by(reverse: str) -> None:
    """Let the other model read the sentence, as it is."""
    for option in search_request.CONSTRAINTS:
        st.session_state[option.name] = getattr(search_request.DEFAULTS, option.field)
    st.session_state.update({menu.MODEL: reverse, search_request.EDITED: ""})


def show_notices_of(bar: BarTranslation, other: Translation) -> None:
    """Show the notices on another translation, but not those of the bar's."""
    for notice in other.notices:
        if notice not in bar.notices:
            st.text(notice)


def _inputs(
    sentence: DeltaGenerator, model: str, offered: OfferedModels
) -> tuple[SearchRequest, DeltaGenerator]:
    # sentences that would make the URL too long for a reload stay out of it
    text, edited = fields.read_text(TEXT), fields.read_text(search_request.EDITED)
    if restored := address.is_restored():  # the URL leaves out long texts
        text = st.query_params.get(TEXT, "" if in_link() else text)
        edited = st.query_params.get(search_request.EDITED, "" if in_link() else edited)
    fits = len(quote_plus(f"{text}{edited}", errors="replace")) <= MAX_LINK_CHARACTERS
    if fits and not in_link() and not restored:
        st.session_state[TEXT] = text  # short again: setting it puts it back into the URL
    st.session_state[_IN_LINK] = fits
    read = languages()
    with sentence, st.container(key=source_box.container_key(read)):
        text = source_box.show(read, in_link=fits)
        reverse = menu.reverse_of(read, offered)
        if reverse and not address.in_class():
            about = f"Translates the {read.target} sentence into {read.source}"
            fields.button(f"⇄ From {read.target}", "swap", _swap, reverse, help=about)
        source_box.show_examples(read)
    return search_request.draw(text, model, in_link=fits)


def _answer(
    translator: Translator, request: SearchRequest, line: TranslationLine, problem_of_models: str
) -> BarTranslation | None:
    """Translate, and write the translation; None after writing why there is none."""
    try:
        # what stood here stays until something comes (by style/)
        translation, used, problem = search_request.translate_request(translator, request, line)
    except HeadlightError as error:
        st.session_state.pop(_TRANSLATED, None)
        line.say(" ".join([problems.without_paths(error), *search_request.notices()]))
        return None
    server_problems = (problem_of_models, menu.limit_problem())
    notices = (
        *filter(None, [problem, *search_request.notices(), *server_problems]),
        *translation.notices,
    )
    st.session_state[_TRANSLATED] = request.text, translation.text
    line.write(translation, used)
    with line.figures:
        subwords.show(translator, translation)
    return BarTranslation(translator, translation, request, used, notices)


def _swap(reverse: str) -> None:
    """Swap sentence and translation; a text that is not translated yet stays as it is."""
    text, translation = st.session_state.get(_TRANSLATED, ("", ""))
    is_current = text == fields.read_text(TEXT) and translation
    search_request.put_text(translation if is_current else fields.read_text(TEXT))
    _read_by(reverse)  # beam and α stay; what was forced or forbidden belongs to the other language
