"""The page “Figure 2”: scaled dot-product attention and multi-head attention."""

from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator

from transformer import HeadlightError
from transformer.analysis.heads.head import Head
from viz.app.chrome import fields, head_picker, problems
from viz.app.sentence import sentence_bar, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.pages.figure2 import matrices, one_head

VIEW = "figure2_view"  # name in the URL of the choice among the views

VIEWS: dict[str, Callable[[BarTranslation, Head, DeltaGenerator], None]] = {
    "all matrices": matrices.show,
    "one head instead of h": one_head.show,
}


def show() -> None:
    """Draw the page for the sentence in the bar."""
    row = fields.controls_row("figure2-controls")
    with row:
        view = fields.choose_one("View", VIEWS, VIEW)
    if (bar := sentence_bar.traced()) is None:
        return
    with row:
        place = head_picker.pick_head(bar.translator, worth_seeing.default_choices("inside"))
    try:
        VIEWS[view](bar, place, row)
    except HeadlightError as error:
        problems.say(error)
