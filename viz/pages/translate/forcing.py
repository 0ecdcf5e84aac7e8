"""The editor, the tree of the search and its alternatives: what a click on a piece forces."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from transformer import HeadlightError, Translation, Translator, config, decoding
from transformer.decoding.hypothesis import Reason, SearchTree
from transformer.text.tokenizer import SPECIAL, Tokenizer
from transformer.translation import result
from transformer.translation.score import most_probable_others
from viz.app.cache import cached_results
from viz.app.chrome import explanations, mounts, problems
from viz.app.links import address
from viz.app.sentence import player, search_request, sentence_bar
from viz.app.sentence.translation_line import MARKS, show_candidate
from viz.app.view import list_result
from viz.draw import alternatives, beam_tree
from viz.draw.caption import Origin
from viz.draw.formatting import format_number


def force(tokenizer: Tokenizer, pieces: Sequence[str]) -> None:
    """Force these pieces in the next run: a prefix, or with the end token the whole translation.

    It takes no model, because Streamlit keeps callbacks with their arguments in memory.
    """
    *prefix, last = pieces
    if last == SPECIAL[config.EOS]:
        search_request.edit(tokenizer.decode(tokenizer.ids_of(prefix)))
    else:
        search_request.force(pieces)


_REVISION = "translate.revision"


def show_editor(bar: sentence_bar.BarTranslation) -> None:
    """Draw the translation of the bar in an editor, with its buttons."""
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    invalid = bool(request.edited) and not bar.used.edited
    try:
        pieces = [] if invalid else _pieces(bar)
    except HeadlightError:  # too long for the maps, which report it
        pieces = []

    def changed(change: alternatives.Edited | list[str] | None) -> None:
        if isinstance(change, alternatives.Edited):  # noted, even where the edit comes too late
            st.session_state[_REVISION] = change.revision
        if change is None or not search_request.is_asked(request):
            mounts.queue_outdated_notice()
        elif isinstance(change, alternatives.Edited):
            search_request.edit(change.text)
        else:
            force(tokenizer, change)

    data = alternatives.encode_editor(
        request.edited.strip() and request.edited if request.edited else bar.translation.text,
        pieces,
        revision=st.session_state.get(_REVISION, 0),
        forced=0 if request.edited else min(len(bar.translation.prefix), len(pieces)),
        by_hand=bool(request.edited),
        constrained=bool(bar.used.settings.constraints_phrase),
        languages=bar.translator.languages.for_text(request.text),
    )
    mounts.mount("translate-editor", data, lambda sent: changed(alternatives.edit_of(sent, pieces)))
    if bar.used.edited:
        score = player.score_translation(bar)
        written = [piece.text for piece in score.pieces]
        st.button(
            "Let the model finish the sentence",
            key="go-on",
            type="tertiary",
            on_click=_go_on,
            args=(request, written[:-1] if score.ended else written),
            help="Keeps your text; the search writes the rest",
        )


def _pieces(bar: sentence_bar.BarTranslation) -> list[alternatives.EditorPiece]:
    score = player.score_translation(bar)
    parts = zip(score.pieces, score.log_probs, score.alternatives, strict=True)
    return [
        alternatives.EditorPiece(
            piece.text, log_prob, tuple((o.piece, o.probability) for o in others)
        )
        for piece, log_prob, others in parts
    ]


def _go_on(request: search_request.SearchRequest, prefix: Sequence[str]) -> None:
    if search_request.is_asked(request):
        search_request.force(prefix)
    else:
        mounts.queue_outdated_notice()


DROPPED = "dropped"  # name in the URL: whether the tree shows its dropped candidates
EDITED_NOTE = "The translation above is your version. The tree shows the model’s own search."


def show_tree(bar: sentence_bar.BarTranslation) -> None:
    """Draw the tree of the search that found the translation in the bar."""
    translation = bar.translation
    try:
        if bar.used.edited:
            asked = bar.used
            translation = cached_results.search(bar.translator, asked.text, asked.settings)
    except HeadlightError as error:  # an edited translation can have untested settings
        problems.say(error)
        return
    list_search("translation", bar, translation, tree=True)
    tree = translation.tree
    if tree is None or not tree.nodes:
        return
    forced = len(translation.prefix)
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    nodes = drawn_nodes(bar.translator, tree, translation)

    def pick(sent: object) -> None:
        if (shows_dropped := beam_tree.dropped_of(sent)) is not None:
            address.choose(DROPPED, "true" if shows_dropped else None)
            return
        node = beam_tree.node_of(sent, nodes)
        if node is None or not search_request.is_asked(request):
            mounts.queue_outdated_notice()
        else:
            force(tokenizer, [nodes[index].text for index in tree.path(node)])

    st.subheader("What the beam search considered", anchor=False)
    used = translation.settings
    origin = Origin.from_translator(bar.translator, translation.source, translation.text)
    data = beam_tree.encode_tree(
        nodes,
        best=tree.best,
        chosen=forced - 1 if forced else None,
        dropped=st.query_params.get(DROPPED) == "true",
        languages=bar.translator.languages.for_text(translation.source),
        caption=origin.caption(
            f"Beam search with a beam of {used.beam_size} and α = {used.alpha:g}."
        ),
    )
    mounts.mount("translate-tree", data, pick)
    if bar.used.edited:
        st.caption(EDITED_NOTE)


REASONS: dict[Reason, str] = {
    "": "",
    "beam": "Not the most probable subword of its step.",
    "forbidden": "It writes a forbidden word, or leads to one.",
    "full": "The search already had all its translations, or enough better ones.",
    "bound": "It could no longer be among the best.",
    "limit": "The length limit ended it.",
    "stopped": "The search was stopped there.",
}
"""Why a prefix was dropped or has no end; "beam" of a greedy search."""


def drawn_nodes(
    translator: Translator, tree: SearchTree, translation: Translation
) -> list[beam_tree.DrawnNode]:
    """Convert the nodes of a search for the picture."""
    pieces = translator.target_tokenizer.pieces_of([node.piece for node in tree.nodes])
    sentences, beam_size = dict(REASONS), translation.settings.beam_size
    if beam_size > 1:
        sentences["beam"] = f"Not among the {beam_size} best of its step."
    forced = len(translation.prefix)
    drawn = []
    for index, (node, piece) in enumerate(zip(tree.nodes, pieces, strict=True)):
        state = "finished" if node.state == "unfinished" else node.state
        drawn.append(beam_tree.DrawnNode(
            node.parent, piece.text, node.log_prob, node.total, node.step,
            "forced" if index < forced else state, sentences[node.reason], node.score,
        ))  # fmt: skip
    return drawn


def list_search(
    name: str, bar: sentence_bar.BarTranslation, result: Translation, **more: Any
) -> None:
    """List the search that found a translation with the settings of the bar."""
    search = search_request.arguments(bar.used.settings)
    list_result(name, result, bar.translator.translate, bar.used.text, **search, **more)


def show_alternatives(bar: sentence_bar.BarTranslation) -> None:
    """Draw each written piece with its probability, the best alternatives beside it."""
    st.subheader("What the model almost wrote", anchor=False)
    request, tokenizer = bar.requested, bar.translator.target_tokenizer
    pieces = _pieces(bar)
    list_result(
        "scored", player.score_translation(bar), bar.translator.score, *player.scored_pair(bar),
        alternatives=cached_results.ALTERNATIVES, alpha=bar.used.alpha,
    )  # fmt: skip

    def pick(sent: object) -> None:
        forced = alternatives.choice_of(sent, pieces)
        if forced is None or not search_request.is_asked(request):
            mounts.queue_outdated_notice()
        else:
            force(tokenizer, forced)

    caption = bar.origin.caption("The most probable subwords of each step.")
    mounts.mount("translate-steps", alternatives.encode_bars(pieces, caption=caption), pick)
    st.caption(
        f"Each subword with its probability, given the {bar.translator.source_language} sentence "
        f"and all subwords before it: "
        f"{explanations.function_name(most_probable_others)}."
    )


def show_others(bar: sentence_bar.BarTranslation) -> None:
    """Draw the other hypotheses, best first, with differences from the translation marked."""
    if bar.used.edited:
        return  # no search made it
    st.subheader("Runner-up translations", anchor=False)
    list_search("translation", bar, bar.translation)
    best, *others = bar.translation.candidates
    if not others:
        st.caption("With a beam size of 1, the search keeps one translation and no other.")
        return
    for candidate in others:
        same = " · the same words, in other subwords" if candidate.text == best.text else ""
        show_candidate(candidate.text, best.text, figures(candidate) + same)
    st.caption(
        f"{MARKS} The best translation has {figures(best)}. The score is the log probability over "
        f"the length penalty of §6.1, so that a short sentence does not win for being short: "
        f"{explanations.function_name(decoding.length_penalty)}."
    )


def figures(candidate: result.Candidate) -> str:
    """Format score and log P of a hypothesis."""
    hypothesis = candidate.hypothesis
    score, log_prob = format_number(hypothesis.score), format_number(hypothesis.log_prob)
    return f"score {score} · log probability {log_prob}"
