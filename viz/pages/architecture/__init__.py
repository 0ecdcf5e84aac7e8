"""The page “Figure 1”: the model as the paper draws it, and its parameters."""

from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator

from viz.app.chrome.fields import controls_row, menu
from viz.pages.architecture import drawing, norms, parameters

DRAWING, PARAMETERS = "drawing", "parameters"

VIEWS: dict[str, Callable[[DeltaGenerator], None]] = {
    DRAWING: drawing.show,
    drawing.NORMS: norms.show,
    PARAMETERS: parameters.show,
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    row = controls_row("arch-controls")
    with row:
        view = menu("View", list(VIEWS), drawing.VIEW, width=270)
    VIEWS[view](row)
