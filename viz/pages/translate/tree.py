"""The tree of the beam search: every ranked prefix, which a click forces."""

from __future__ import annotations

import streamlit as st

from transformer import HeadlightError, Translation, Translator
from transformer.decoding.hypothesis import Reason, SearchTree
from viz.app.cache import cached_results
from viz.app.chrome.mounts import mount_tree, say_late
from viz.app.chrome.problems import say
from viz.app.sentence.request_translation import settings_of
from viz.app.sentence.search_request import is_asked
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.beam_tree import DrawnNode, encode_tree
from viz.draw.caption import Origin
from viz.pages.translate import clicks

EDITED_NOTE = "The translation above is edited by hand; the tree is the model’s own search."


def show_tree(bar: BarTranslation) -> None:
    """Draw the tree of the search that found the translation in the bar."""
    try:
        translation = _searched(bar)
    except HeadlightError as error:  # an edited translation can have untested settings
        say(error)
        return
    tree = translation.tree
    if tree is None or not tree.nodes:
        return
    forced = len(translation.prefix)
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    nodes = drawn_nodes(bar.translator, tree, translation)

    def pick(node: int | None) -> None:
        if node is None or not is_asked(request):
            say_late()
        else:
            clicks.force(tokenizer, [nodes[index].text for index in tree.path(node)])

    data = encode_tree(
        nodes,
        best=tree.best,
        chosen=forced - 1 if forced else None,
        languages=bar.translator.languages.for_text(translation.source),
        caption=Origin.from_translator(
            bar.translator, translation.source, translation.text
        ).caption(
            f"Beam search with a beam of {translation.settings.beam_size} and "
            f"α = {translation.settings.alpha:g}."
        ),
    )
    mount_tree("translate-tree", data, nodes, pick)
    if bar.used.edited:
        st.caption(EDITED_NOTE)


def _searched(bar: BarTranslation) -> Translation:
    if not bar.used.edited:
        return bar.translation
    settings = settings_of(bar.used)
    return cached_results.search(bar.translator, bar.used.text, settings)


def drawn_nodes(
    translator: Translator, tree: SearchTree, translation: Translation
) -> list[DrawnNode]:
    """Convert the nodes of a search for the picture."""
    pieces = translator.target_tokenizer.pieces_of([node.piece for node in tree.nodes])
    sentences = reasons(translation.settings.beam_size)
    forced = len(translation.prefix)
    drawn = []
    for index, (node, piece) in enumerate(zip(tree.nodes, pieces, strict=True)):
        state = "finished" if node.state == "unfinished" else node.state
        drawn.append(
            DrawnNode(
                node.parent,
                piece.text,
                node.log_prob,
                node.total,
                node.step,
                "forced" if index < forced else state,
                sentences[node.reason],
                node.score,
            )
        )
    return drawn


def reasons(beam_size: int) -> dict[Reason, str]:
    """Return the sentence for each reason why a prefix was dropped or has no end."""
    return {
        "": "",
        "beam": f"Not among the {beam_size} best of its step."
        if beam_size > 1
        else "Not the most probable piece of its step.",
        "forbidden": "It writes a forbidden word, or leads to one.",
        "full": "The search had all its hypotheses by then, or enough better ones.",
        "bound": "It could no longer become one of the best.",
        "limit": "The length limit ended it.",
        "stopped": "The search was stopped there.",
    }
