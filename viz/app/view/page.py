"""Pages of the app, and their views."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from viz.app.chrome import explanations, fields, problems
from viz.app.links import first_steps
from viz.app.sentence import sentence_bar, worth_seeing
from viz.app.sentence.sentence_bar import Bar
from viz.app.sentence.worth_seeing import Question
from viz.app.view.compute import LISTING, NothingToDrawError
from viz.app.view.listing import Listing

TITLE = "Python for these numbers"

_ROW, _FINDINGS = "view.row", "view.findings"
"""In the session, while a view is drawn: the row of its page's menu, and that of its findings."""


Need = Literal["nothing", "bar", "model", "sentence", "trace"]
"""Inputs of a view: nothing, all of the bar, its model, or its translation.

With a sentence, the view is drawn without a translation, too; with a trace, only if it has one.
"""


@dataclass(frozen=True)
class View:
    """One of several pictures on a page."""

    key: str  # in the menu of views, and in links
    draw: Callable[..., None]  # takes what the view needs
    needs: Need
    question: str  # that it answers; "" for that of its page
    find: worth_seeing.Find  # what it finds on the sentence


def view(
    key: str = "",
    *,
    needs: Need = "nothing",
    question: str = "",
    find: worth_seeing.Find = "page",
) -> Callable[[Callable[..., None]], View]:
    """Make a view of the function that draws it."""
    return lambda draw: View(key, draw, needs, question, find)


@dataclass(frozen=True)
class Page:
    """A page of the app: the question that it answers, and its views."""

    path: str  # in links
    # "" where each view has its own, or the page begins otherwise
    question: str
    terms: tuple[str, ...]  # that the help of the question explains, of `explanations.TERMS`
    views: tuple[View, ...]
    menu: str = ""  # name of the menu of views in links
    pick: Callable[..., str] = fields.choose_one
    """Draws the menu of views: its label, its options, and its name in links."""
    row: str = ""  # key of the row of the menu and of `controls`; without one, the menu has no row
    foot: Callable[[], None] = lambda: None  # draws what stands below every view

    @property
    def needs_sentence(self) -> bool:
        """True where a view needs a sentence: without one, the page shows the menu of models."""
        return any(view.needs in ("sentence", "trace") for view in self.views)

    def show(self, bar: Bar) -> None:
        """Draw the question, the menu of views, the chosen view, and the code of its numbers."""
        asks = any(self.question or view.question for view in self.views)
        findings = worth_seeing.begin() if asks else None
        if asks:
            first_steps.show(self.path)
        row = fields.controls_row(self.row) if self.row else None
        with row or nullcontext():
            keys = [view.key for view in self.views]
            key = self.pick("View", keys, self.menu) if self.menu else keys[0]
        chosen = next(view for view in self.views if view.key == key)
        st.session_state[_ROW], st.session_state[_FINDINGS] = row, findings
        try:
            with program(bar):
                if asks:
                    asked = Question(chosen.question or self.question, self.terms)
                    worth_seeing.show(self.path, bar.translation, chosen.find, findings, asked)
                chosen.draw(*_drawn_with(chosen.needs, bar))
        finally:
            del st.session_state[_ROW], st.session_state[_FINDINGS]
        self.foot()


def _drawn_with(needs: Need, bar: Bar) -> tuple[object, ...]:
    """Return what a view is drawn with, or say what is missing."""
    if needs == "nothing":
        return ()
    if needs == "bar":
        return (bar,)
    if needs == "model":
        if bar.translator is None:
            raise NothingToDrawError
        return (bar.translator,)
    if (translation := bar.translation) is None:
        st.text("Without a translation there is nothing to draw.")
    if needs == "trace" and (translation is None or not sentence_bar.is_traced(translation)):
        raise NothingToDrawError
    return (translation,)


@contextmanager
def program(bar: Bar | None = None) -> Iterator[None]:
    """List the calls of a view, or of a fragment in it, and draw their code below."""
    around: Listing | None = st.session_state.get(LISTING)
    listing = st.session_state[LISTING] = Listing(bar if around is None else around.bar)
    try:
        yield
        if listing.values:
            _show_code(listing.source())
    except NothingToDrawError:
        pass  # the view has said why
    except HeadlightError as error:
        problems.say(error)
    finally:  # they hold traces
        del st.session_state[LISTING]
        if around is not None:
            st.session_state[LISTING] = around


def _show_code(source: str) -> None:
    """Draw a closed expander with the code of all numbers of a view."""
    with st.expander(TITLE):
        st.code(source, language="python", wrap_lines=True)
        if lines := explanations.named_lines():
            listed = (f"`{line}` {name}" for name, line in lines.items())
            st.caption(f"Where to read on: {' · '.join(listed)}")


def controls() -> DeltaGenerator:
    """Return the row of the menu of views, to draw the controls of a view in it."""
    row: DeltaGenerator = st.session_state[_ROW]
    return row


def findings_row() -> DeltaGenerator:
    """Return the row of the question, for the findings of a view that has them only when drawn."""
    row: DeltaGenerator = st.session_state[_FINDINGS]
    return row
