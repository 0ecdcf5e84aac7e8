"""A translation with its pictures, packed as texts of a page."""

from dataclasses import dataclass, field, replace
from html import escape
from typing import get_args

import numpy as np

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import read_alignment
from transformer.decoding.hypothesis import SearchTree
from transformer.text.languages import Side, code_of_name
from viz.draw import explorer, watched, word_links
from viz.draw.caption import Origin, head_caption
from viz.draw.heads_view import ExplorerOptions
from viz.draw.player import encode_player
from viz.findings import opening
from viz.saved_page import packed


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
    heads = explorer.encode_page(trace, ExplorerOptions(*opening(trace, "cross")), origin)
    blocks = player_and_links(translator, trace, translation.tree)
    return Pictures(trace, origin.made_by, {**blocks, "heads-data": heads.message, **heads.heads})


def player_and_links(
    translator: Translator, trace: AttentionTrace, tree: SearchTree | None
) -> dict[str, str]:
    """Encode player and links; the player shows what the search held at each step of `tree`."""
    origin = Origin.from_translator(translator, trace.source, trace.target)
    settings, shares = read_alignment(translator), np.zeros((0, 0), np.float32)
    source, target = map(word_links.word_texts, (trace.source_pieces, trace.target_pieces))
    if source and target:
        shares = aligned_shares(translator, trace, settings)
    every, mutual = strongest(shares, "each"), strongest(shares, "mutual")
    pieces = [piece.text for piece in trace.target_pieces]
    score = translator.score(trace.source, pieces, alternatives=watched.OPTIONS)
    player = encode_player(
        trace,
        watched.search_steps(translator.target_tokenizer, score, tree),
        selected=watched.watched_heads(trace, mutual),
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
    return {"watch-data": packed(player), "links-data": packed(links)}
