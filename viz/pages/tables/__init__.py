"""The page “Tables 2 and 3”: the paper's results, their cost, and models that were trained here."""

from viz.app.sentence import python_code, worth_seeing
from viz.pages.tables import table_2, table_3


def show() -> None:
    """Draw the page."""
    worth_seeing.ask("tables")
    table_2.show()
    table_3.show()
    python_code.show_code(table_2.CODE, table_3.CODE)
