"""The line of the translation, which grows while the search runs, and others beside it."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import Translation
from transformer.text import languages
from transformer.translation import result
from viz.app.chrome import explanations, fields
from viz.app.sentence import search_request
from viz.draw import formatting
from viz.draw.changed_words import mark_changed_words

_TERMS = ("log probability", "subword")  # that the help of its figures explains


class TranslationLine:
    """Line of the translation, rewritten in place; `label` is the language before it."""

    def __init__(self, figures: DeltaGenerator, before: str, label: str, source: str) -> None:
        self.figures = figures
        self._before, self._label, self._source = before, label, source
        self._places: tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator] | None = None

    def write_part(self, part: result.Partial) -> None:
        """Write the partial translation; the rest of the last one stays after it, pale."""
        if not part.tentative:
            return
        rest = " ".join(self._before.split()[len(part.tentative.split()) :])
        kinds = {
            "settled": part.text,
            "tentative": part.tentative.removeprefix(part.text),
            "outdated": f" {rest}" if rest else "…",
        }
        html = (
            f'<span class="headlight-{kind}">{escape(text)}</span>' for kind, text in kinds.items()
        )
        self._write("".join(html), "searching", is_html=True)

    def write_place(self, place: int) -> None:
        """Write how many sentences are translated before or with this one."""
        pale = f'<span class="headlight-outdated">{escape(self._before)}</span>'
        self._write(pale, f"Your sentence is number {place:,} in the queue.", is_html=True)

    def write(self, translation: Translation, used: search_request.SearchRequest) -> None:
        """Write the translation, with its figures."""
        subwords = formatting.counted(len(translation.best.pieces), "subword")
        figures = [
            f"log probability {formatting.format_number(translation.log_prob)} ({subwords})",
            *([] if used.edited else [f"{translation.seconds * 1000:.0f} ms"]),
        ]
        text = translation.text or "(The model ended the sentence before its first word.)"
        self.figures.text(" · ".join(figures), help=explanations.help_of(_TERMS))
        row = self._write(text, used.steers)
        if used.steers:
            with row:
                name = "Back to the model’s translation"
                fields.button(name, "release", search_request.release, type="tertiary")

    def say(self, problem: str) -> None:
        """Show why there is no translation."""
        self._row().container(key="problem").text(problem)

    def _write(self, text: str, status: str, *, is_html: bool = False) -> DeltaGenerator:
        """Write both texts; return their row."""
        if self._places is None:
            row = self._row()
            translation = row.container(key="translation")
            written = translation.html(text) if is_html else translation.text(text)
            beside = row.container(key="status", width="content").empty()
            self._places = row, written, beside
        else:  # the elements that are there change; new ones would flicker
            row, written, beside = self._places
            (written.html if is_html else written.text)(text)
        if status:
            beside.text(status)
        else:
            beside.empty()
        return row

    def _row(self) -> DeltaGenerator:
        # st.text, never Markdown: what a person types is shown as it is
        row = st.container(key="translation-line", horizontal=True, gap="small")
        label = row.container(key="translation-label", width="content", gap=None)
        label.text(self._label)
        source, target = languages.code_of_name(self._source), languages.code_of_name(self._label)
        # for js/languages.js
        label.html(
            f'<span hidden data-source-language="{source}" data-target-language="{target}"></span>'
        )
        return row


MARKS = "Bold: new. Struck through: dropped."


def show_candidate(text: str, translation: str, caption: str, *, title: str = "") -> None:
    """Draw a text, its words compared with a translation; caption and title are HTML."""
    above = f"<small>{title}</small>" if title else ""
    nothing = "" if text.strip() else "<i>(nothing: the sentence ends at once)</i> "
    st.html(
        f'<div class="headlight-candidate">{above}{nothing}'
        f"<bdi>{mark_changed_words(text, translation)}</bdi><small>{caption}</small></div>"
    )
