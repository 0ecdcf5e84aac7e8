"""The page “Why self-attention”: Table 1 as formulas, as curves, and as measured."""

from viz.app.view import Page
from viz.pages.self_attention.costs import why_self_attention

PAGE = Page(
    "self_attention",
    "Why attention and not recurrence or convolution?",
    ("subword",),
    (why_self_attention,),
)
