"""The page “Figure 1”: the model as the paper draws it, and its parameters."""

from functools import partial

from viz.app.chrome import fields
from viz.app.view import Page
from viz.pages.architecture import drawing, norms, parameters

PAGE = Page(
    "architecture",
    "What happens to your sentence inside the model?",
    ("head", "encoder", "decoder", "cross-attention", "weight"),
    (drawing.figure_1, norms.batch_or_layer, parameters.parameters),
    menu=drawing.VIEW,
    pick=partial(fields.menu, width=270),
    row="arch-controls",
)
