"""The page “Positions”: the encoding of §3.5, and edits of it in the model."""

from functools import partial

from viz.app.chrome import fields
from viz.app.view import Page
from viz.pages.positions import longer, sentence, tables

VIEW = "pe_view"  # name in the URL

PAGE = Page(
    "positions",
    "How does the model know word order?",
    ("encoder", "decoder", "nat"),
    (
        tables.encoding,
        tables.curves,
        tables.similarity,
        tables.rotation,
        sentence.embeddings,
        tables.draw_learned,
        longer.longer,
        sentence.remove_positions,
    ),
    menu=VIEW,
    pick=partial(fields.choose_one, default="Remove positions"),
)
