"""Python for the numbers of the page Translate."""

import streamlit as st

from transformer import Translation
from transformer.analysis.alignment_settings import AlignmentSettings
from viz.app.cache.cached_results import ALTERNATIVES
from viz.app.sentence.python_code import load_call, mean_code, search_code
from viz.app.sentence.sentence_bar import BarTranslation
from viz.draw.word_links import TITLE
from viz.pages.translate import both_links
from viz.pages.translate.both_links import BothLinks
from viz.pages.translate.maps import MapChoice
from viz.pages.translate.versus import OtherDecoding
from viz.pages.translate.where_from import WHERE_FROM


def code_parts(
    bar: BarTranslation,
    links: AlignmentSettings | BothLinks | None,
    compared: tuple[OtherDecoding, Translation] | None,
    choice: MapChoice,
) -> list[str]:
    """Return the code of each picture that is drawn."""
    parts = []
    if isinstance(links, BothLinks):
        parts.append(f"""
            # {both_links.TITLE}
            reverse = {load_call(links.model)}
            result = align_both(translator, reverse, trace)
        """)
    elif links is not None:
        parts.append(f"""
            # {TITLE}
            settings = replace(read_alignment(translator), row={links.row!r})
            result = strongest(aligned_shares(translator, trace, settings), "mutual")
        """)
    if links is not None and st.session_state.get(WHERE_FROM):
        parts.append("""
            # Where it comes from
            shares = source_share.source_shares(translator, trace)
            result = source_share.by_words(shares, trace)
        """)
    traced = "trace" if choice.sinks else 'without_sinks(trace, "cross")'
    parts.append(f"""
        # What the beam search considered
        result = translator.translate(trace.source{search_code()}, tree=True).tree
        # What the model almost wrote
        target = [piece.text for piece in trace.target_pieces]
        scored = translator.score(trace.source, target, alternatives={ALTERNATIVES})
        result = scored.alternatives
        # Subword by subword
        weights = {mean_code(f"{traced}.cross", choice.layer, choice.head)}
        labels = trace.labels("cross", "writes")
        figure = head_map(weights, *labels, kind="cross", languages=trace.languages)
    """)
    if not bar.used.edited:
        parts.append(f"""
            # Runner-up translations
            candidates = translator.translate(trace.source{search_code()}).candidates
            result = [(other.text, other.hypothesis.log_prob) for other in candidates[1:]]
        """)
    if compared is not None:
        other = compared[0]
        is_same = other.model == bar.requested.model
        load = "translator" if is_same else load_call(other.model)
        parts.append(f"""
            # The other decoding
            translation = {load}.translate({other.text!r}{search_code(other.settings)})
            result = translation.text, translation.log_prob
        """)
    return parts
