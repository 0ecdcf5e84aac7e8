"""A translation with its pictures, packed as texts of a page."""

from dataclasses import dataclass, field, replace
from html import escape
from typing import get_args

import numpy as np

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.heads.effect import Effect
from transformer.text.languages import Side, code_of_name
from viz.draw import explorer, watched, word_links
from viz.draw.caption import Origin, head_caption
from viz.draw.changed_words import mark_changed_words
from viz.draw.formatting import format_number
from viz.draw.heads_view import ExplorerOptions
from viz.draw.player import encode_player
from viz.report import packed


@dataclass(frozen=True, eq=False)
class Pictures:
    """Player, links and heads of a translation."""

    trace: AttentionTrace
    made_by: str
    blocks: dict[str, str] = field(repr=False)  # by the ids of their elements

    @property
    def texts(self) -> tuple[str, str]:
        """The sentence and its translation as HTML, each in its language."""
        source, target = languages(self.trace)
        return (
            f'<span lang="{source}" dir="auto">{escape(self.trace.source)}</span>',
            f'<span lang="{target}" dir="auto">{escape(self.trace.target)}</span>',
        )


def languages(trace: AttentionTrace) -> list[str]:
    """Return the codes of both languages, "" where unknown."""
    return [code_of_name(trace.languages.name(side)) for side in get_args(Side)]


def pictures(translator: Translator, text: str) -> Pictures:
    """Translate a sentence and encode its pictures."""
    translation = translator.translate(text, tree=True)
    trace = translator.trace_of(translation)
    trace = replace(trace, notes=(*trace.notes, *translation.notices))
    origin = Origin.from_translator(translator, trace.source, trace.target)
    settings, shares = read_alignment(translator), np.zeros((0, 0), np.float32)
    source, target = map(word_links.word_texts, (trace.source_pieces, trace.target_pieces))
    if source and target:
        shares = aligned_shares(translator, trace, settings)
    every, mutual = strongest(shares, "each"), strongest(shares, "mutual")
    pieces = [piece.text for piece in trace.target_pieces]
    score = translator.score(trace.source, pieces, alternatives=watched.OPTIONS)
    first = watched.watched_heads(trace, mutual)
    player = encode_player(
        trace,
        watched.search_steps(score),
        selected=first,
        links=watched.piece_links(trace, mutual, every),
        caption=origin.caption("What every head looks at, step by step of the search."),
    )
    aligner = head_caption("cross", settings.layer, settings.head, settings.lens)
    links = word_links.encode_links(
        source,
        target,
        every,
        mutual=mutual,
        made_by=word_links.map_text(settings),
        languages=trace.languages,
        caption=origin.caption(aligner),
    )
    heads = explorer.encode_page(trace, ExplorerOptions(*first["cross"]), origin)
    blocks = {"watch-data": packed(player), "links-data": packed(links)}
    return Pictures(trace, origin.made_by, {**blocks, "heads-data": heads.message, **heads.heads})


def removal_text(changed: Effect, attributes: str = "") -> str:
    """Format a translation without heads: its changed words, and log P of the original one."""
    text, before = changed.translation.text, changed.before.target
    written = mark_changed_words(text, before) if text.strip() else "(nothing)"
    first, second = (
        format_number(float(trace.log_probs.sum())) for trace in (changed.before, changed.after)
    )
    same = " The translation stays the same." if text == before else ""
    return (
        f'<div class="without" {attributes}>'
        f'<p class="translation" lang="{languages(changed.before)[1]}">{written}</p>'
        f"<p>Log probability of the original translation: {first} with all heads, {second} "
        f"without.{same}</p></div>"
    )
