"""The page “Tables 2 and 3”: the paper's results beside models that were trained here."""

from viz.app.sentence import worth_seeing
from viz.pages.tables import table_3


def show() -> None:
    """Draw the page."""
    worth_seeing.ask("tables")
    table_3.show()
