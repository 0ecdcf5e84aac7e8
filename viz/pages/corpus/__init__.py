"""The page “Corpus”: every head over many lines, examples or the user's own."""

from viz.app.chrome.moved import choose_view
from viz.app.links import navigation
from viz.app.view import Page
from viz.pages.corpus import dictionary, head, heads, pairs, removal, search

PAGE = Page(
    "corpus",
    "",
    ("head", "encoder", "decoder", "cross-attention", "weight", "subword", "end", "loss", "nat"),
    (
        heads.all_heads,
        head.one_head,
        removal.remove_heads,
        dictionary.dictionaries,
        search.search,
        pairs.minimal_pairs,
    ),
    menu=navigation.CORPUS_VIEW,
    pick=choose_view,
    row="corpus-controls",
)
