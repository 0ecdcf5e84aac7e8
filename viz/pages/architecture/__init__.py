"""The page “Architecture”: Figure 1, the size and the cost of the model, and the paper's tables."""

from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator

from viz.app.chrome.fields import controls_row, menu
from viz.pages.architecture import drawing, parameters, tables, work

DRAWING, PARAMETERS, TABLES = "drawing", "parameters", "tables 2 and 3"
WORK = "computation and memory"

VIEWS: dict[str, Callable[[DeltaGenerator], None]] = {
    DRAWING: drawing.show,
    PARAMETERS: parameters.show,
    WORK: lambda _row: work.show(),
    TABLES: lambda _row: tables.show(),
}


def show() -> None:
    """Draw the page: the menu of views, then the chosen view."""
    row = controls_row("arch-controls")
    with row:
        view = menu("View", list(VIEWS), drawing.VIEW, width=270)
    VIEWS[view](row)
