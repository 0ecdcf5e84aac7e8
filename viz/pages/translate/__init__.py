"""The page “Translate”: an editor, links between words, and the search as a tree."""

import streamlit as st

from transformer.analysis import alignment_settings, both_directions
from transformer.analysis.alignment import align
from transformer.attention import MultiHeadAttention, attention_scores
from transformer.decoding import BeamSearch
from viz.app.chrome import fields, mounts
from viz.app.chrome.explanations import explain, function_name
from viz.app.links import address
from viz.app.sentence import sentence_bar, subwords, worth_seeing
from viz.app.sentence.sentence_bar import BarTranslation
from viz.app.view import Page, view
from viz.pages.translate import both_links, forcing, maps, versus

VIEW = "translate_view"  # name in the URL
BEAM, ALMOST, OTHERS, ONE_MAP, COMPARE = VIEWS = (
    "Beam search", "Almost written", "Runners-up", "One map", "Compare",
)  # fmt: skip


@view(needs="sentence")
def translate(bar: BarTranslation | None) -> None:
    """Draw the player, the editor, and one view more of the sentence in the bar."""
    # each part has its own container: a change in one part would remount all parts below it
    words, editor = st.container(), st.container()
    if bar is None:
        return
    if is_traced := sentence_bar.is_traced(bar):
        alignment = alignment_settings.read_alignment(bar.translator)
        with words:
            links = maps.show_words(bar, bar.trace, alignment)
    with editor:  # also where it is too long to be traced
        forcing.show_editor(bar)
        mounts.show_outdated_notice()
    if not is_traced:
        return
    worth_seeing.show("translate", bar)  # below: what comes late moves nothing that is acted on
    trace = bar.trace
    with fields.controls_row():
        more = _pick_more()
        with st.popover("Subwords"):
            subwords.show(bar.translator, bar.translation)
    if more == BEAM:
        forcing.show_tree(bar)
        explain(
            "What the beam search of §6.1 ranked step by step: "
            f"{function_name(BeamSearch.step)}. A forced prefix is read before its first step, and "
            "forbidden words are left out of each."
        )
    elif more == ALMOST:
        forcing.show_alternatives(bar)
    elif more == OTHERS:
        forcing.show_others(bar)
    elif more == COMPARE:
        compared = versus.show_versus(bar)
        if compared is not None and st.session_state.get(versus.MAPS):
            choice = maps.pick_map(trace, alignment)
            versus.show_both_maps(bar, compared, choice)
    else:
        choice = maps.pick_map(trace, alignment)
        maps.draw_map(bar.translator, trace, choice, "translate-map", name="weights")
        if not choice.sinks:
            maps.link_norms(choice)
        explain(_about_maps(isinstance(links, both_links.BothLinks)))


def _pick_more() -> str:
    is_new = VIEW not in st.session_state or address.has_arrived()
    if is_new and VIEW not in st.query_params:  # a link that is about one view
        if versus.VERSUS in st.query_params:
            address.restate(VIEW, COMPARE)
        elif {*maps.MAP} & {*st.query_params}:
            address.restate(VIEW, ONE_MAP)
    return fields.choose_one("More about this translation", VIEWS, VIEW)


def _about_maps(both: bool) -> str:
    directions = (
        "Links by both directions combine those of two models (Och & Ney 2003, Koehn et al. 2003): "
        "the second reads the translation and is given the sentence to write, "
        f"{function_name(both_directions.align_both)}."
    )
    return (
        "At each step the decoder reads one subword and predicts the next. The weights are "
        "$\\mathrm{softmax}(QK^\\top/\\sqrt{d_k})$ of equation 1 in the encoder-decoder attention "
        f"of §3.2.3, so each row sums to 1: {function_name(attention_scores)}, "
        f"{function_name(MultiHeadAttention.attend)}. They say where the model looked, not why it "
        f"chose a word. Links between words are read from one such map by {function_name(align)}, "
        "as Garg et al. (2019) and Kobayashi et al. (2020) do; the alignment error rate (AER, Och "
        "& Ney 2003) against links that people drew is 0 % where all are the same. "
        f"{directions if both else ''}"
    )


PAGE = Page("translate", "", (), (translate,))
