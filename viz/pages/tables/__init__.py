"""The page “Tables 2 and 3”: the paper's results, their cost, and models that were trained here."""

from viz.app.sentence import python_code, worth_seeing
from viz.pages.tables import table_2, table_3


def show() -> None:
    """Draw the page."""
    worth_seeing.show("tables")
    table_2.show()
    table_3.show()
    python_code.show_code("""
        log = journal.read(BUNDLED / "run.jsonl")
        rows, _ = model_variations.read_all()
        # English to German
        figure = cost_chart("EN-DE")
        # English to French
        figure = cost_chart("EN-FR")
        # What training took
        result = results.TRAININGS, results.TEXTS, journal.plan(log), log[-2:]
        # Table 2
        result = results.TABLE_2
        # BLEU, difference to the base
        figure = difference_chart(model_variations.differences(rows), "bleu")
        # Perplexity, difference to the base
        figure = difference_chart(model_variations.differences(rows), "perplexity")
        # Table 3
        result = results.TABLE_3
    """)
