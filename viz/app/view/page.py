"""Pages of the app, and their views."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from viz.app.chrome import fields, problems
from viz.app.links import first_steps
from viz.app.sentence import python_code, worth_seeing
from viz.app.sentence.sentence_bar import NothingToDrawError
from viz.app.sentence.worth_seeing import Question
from viz.app.view.compute import LISTING
from viz.app.view.listing import Listing

_ROW, _FINDINGS = "view.row", "view.findings"
"""In the session, while a view is drawn: the row of its page's menu, and that of its findings."""


@dataclass(frozen=True)
class View:
    """One of several pictures on a page."""

    key: str  # in the menu of views, and in links
    draw: Callable[[], None]
    needs_sentence: bool
    question: str  # that it answers; "" for that of its page
    find: worth_seeing.Find  # what it finds on the sentence


def view(
    key: str = "",
    *,
    needs_sentence: bool = False,
    question: str = "",
    find: worth_seeing.Find = "page",
) -> Callable[[Callable[[], None]], View]:
    """Make a view of the function that draws it."""
    return lambda draw: View(key, draw, needs_sentence, question, find)


@dataclass(frozen=True)
class Page:
    """A page of the app: the question that it answers, and its views."""

    path: str  # in links
    question: str  # "" where each view has its own
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
        return any(view.needs_sentence for view in self.views)

    def show(self) -> None:
        """Draw the question, the menu of views, the chosen view, and the code of its numbers."""
        findings = worth_seeing.begin()
        first_steps.show(self.path)
        row = fields.controls_row(self.row) if self.row else None
        with row or nullcontext():
            keys = [view.key for view in self.views]
            key = self.pick("View", keys, self.menu) if self.menu else keys[0]
        chosen = next(view for view in self.views if view.key == key)
        asked = Question(chosen.question or self.question, self.terms)
        worth_seeing.show(self.path, key, chosen.find, findings, asked)
        st.session_state[_ROW], st.session_state[_FINDINGS] = row, findings
        try:
            with program():
                chosen.draw()
        finally:
            del st.session_state[_ROW], st.session_state[_FINDINGS]
        self.foot()


@contextmanager
def program() -> Iterator[None]:
    """List the calls of a view, or of a fragment in it, and draw their code below."""
    around = st.session_state.get(LISTING)
    listing = st.session_state[LISTING] = Listing()
    try:
        yield
        if listing.values:
            python_code.show_program(listing.source())
    except NothingToDrawError:
        pass  # the view has said why
    except HeadlightError as error:
        problems.say(error)
    finally:  # they hold traces
        st.session_state[LISTING] = around


def controls() -> DeltaGenerator:
    """Return the row of the menu of views, to draw the controls of a view in it."""
    row: DeltaGenerator = st.session_state[_ROW]
    return row


def findings_row() -> DeltaGenerator:
    """Return the row of the question, for the findings of a view that has them only when drawn."""
    row: DeltaGenerator = st.session_state[_FINDINGS]
    return row
