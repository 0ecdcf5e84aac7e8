"""The page “Tables 2 and 3”: the paper's results, their cost, and models that were trained here."""

from viz.app.view import Page, view
from viz.pages.tables import table_2, table_3


@view()
def tables() -> None:
    """Draw both tables, each with its charts."""
    table_2.show()
    table_3.show()


PAGE = Page(
    "tables",
    "How good is it, what does it cost, and what does each part do?",
    ("loss", "subword"),
    (tables,),
)
