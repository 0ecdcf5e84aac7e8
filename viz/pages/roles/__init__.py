"""The page “What heads do”: roles as measured, and the effect of removing heads."""

from viz.app.chrome.moved import choose_view
from viz.app.links.navigation import VIEW
from viz.app.view import Page
from viz.pages.roles import corpus_roles, layer_by_layer, removal, why_this_word

PAGE = Page(
    "roles",
    "",
    ("head", "encoder", "decoder", "cross-attention", "weight", "end", "loss", "nat"),
    (
        corpus_roles.roles,
        removal.remove_heads,
        why_this_word.why_this_word,
        layer_by_layer.layer_by_layer,
    ),
    menu=VIEW,
    pick=choose_view,
)
