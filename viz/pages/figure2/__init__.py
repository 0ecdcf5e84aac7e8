"""The page “Figure 2”: scaled dot-product attention and multi-head attention."""

from viz.app.view import Page
from viz.pages.figure2 import matrices, one_head

PAGE = Page(
    "figure2",
    "How are queries, keys and values multiplied?",
    ("head", "encoder", "decoder", "cross-attention", "weight", "end"),
    (matrices.all_matrices, one_head.one_head),
    menu="figure2_view",
    row="figure2-controls",
)
