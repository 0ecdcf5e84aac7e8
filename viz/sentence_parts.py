"""The parts of a page on a sentence before its heads: player, links and costliest heads."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from transformer import AttentionTrace, Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import CANDIDATES, removal_order
from transformer.text.languages import Side, code_of_name
from viz.draw import trace_message, watched, wire
from viz.draw.caption import Origin
from viz.draw.changed_words import mark_changed_words
from viz.draw.formatting import format_difference, format_number
from viz.draw.word_links import word_texts

COSTLIEST = 4  # heads that are removed, each alone, then all


def parts_html(translator: Translator, trace: AttentionTrace) -> str:
    """Format the parts, with what the model writes without its costliest heads."""
    order = removal_order(translator.model, trace, length=COSTLIEST)
    removals = [
        (heads, effect(translator, trace, [Removal(*head) for head in heads]))
        for heads in (*([head] for head in order), order)
    ]
    return f"""<section id="watch"><h2>Watch it translate</h2>
<div data-picture="player"></div></section>
<section id="links"><h2>Which words belong together</h2>
<div data-picture="links"></div></section>
<section id="without"><h2>Without its costliest heads</h2>
<p>The heads are in the order in which the page removes them. Without the first one, of all heads,
the translation becomes least probable; each other one is the worst, with those before it removed,
of the {CANDIDATES} that are worst alone. A number is the change in log probability without this
head alone. Choose a head to see what the model writes without it. Bold: new. Struck through:
dropped.</p>
{_choices(removals)}</section>
"""


def _choices(removals: Sequence[tuple[Sequence[Head], Effect]]) -> str:
    """Format a button for each removal, and the translations that they show."""
    buttons, texts = "", ""
    for number, (heads, changed) in enumerate(removals):
        after, before = (float(trace.log_probs.sum()) for trace in (changed.after, changed.before))
        alone = len(heads) == 1
        name = heads[0].title if alone else f"All {len(heads)} together"
        opens = f' data-head="{".".join(map(str, heads[0]))}"' if alone else ""
        buttons += (
            f'<button type="button" aria-pressed="{str(not alone).lower()}" '
            f'aria-controls="without-{number}"{opens}>{name}'
            f"<small>{format_difference(after, before)}</small></button>"
        )
        texts += removal_text(changed, f'id="without-{number}"{" hidden" * alone}')
    return (
        f'<div class="choices" role="group" aria-label="Heads">{buttons}</div>\n'
        f'<div aria-live="polite">{texts}</div>\n'
    )


def removal_text(changed: Effect, attributes: str = "") -> str:
    """Format a translation without heads: its changed words, and log P of the original one."""
    text, before = changed.translation.text, changed.before.target
    written = mark_changed_words(text, before) if text.strip() else "(nothing)"
    log_p = [
        format_number(float(trace.log_probs.sum())) for trace in (changed.before, changed.after)
    ]
    same = " The translation stays the same." if text == before else ""
    return (
        f'<div class="without" {attributes}>'
        f'<p class="translation" lang="{languages(changed.before)[1]}">{written}</p>'
        f"<p>Log probability of the original translation: {log_p[0]} with all heads, "
        f"{log_p[1]} without.{same}</p></div>"
    )


def part_pictures(translator: Translator, trace: AttentionTrace) -> dict[str, str]:
    """Pack the trace that player, links and heads draw, by the id of the element that holds it."""
    origin = Origin.from_translator(translator, trace.source, trace.target)
    beside = trace_message.about(trace.languages, origin.made_by, read_alignment(translator))
    message = sentence_fields(translator, trace, whole=trace_message.is_whole(trace))
    return {"trace-data": wire.packed(wire.encode({"trace": message, "about": beside}))}


def sentence_fields(
    translator: Translator,
    trace: AttentionTrace,
    *,
    whole: bool = True,
    beginnings: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return the message of a trace with the search that wrote it; see `trace_fields`.

    It has the links of words that a page cannot read from whole maps of weights.
    """
    pieces = [piece.text for piece in trace.target_pieces]
    score = translator.score(trace.source, pieces, alternatives=watched.OPTIONS)
    steps, settings = watched.search_steps(score), read_alignment(translator)
    message = trace_message.trace_fields(trace, steps, whole=whole, beginnings=beginnings)
    if not whole or settings.lens != "weights":
        shares = np.zeros((0, 0), np.float32)
        if all(map(word_texts, (trace.source_pieces, trace.target_pieces))):
            shares = aligned_shares(translator, trace, settings)
        links = (strongest(shares, rule) for rule in ("each", "mutual"))
        message["links"] = trace_message.word_links(*links)
    return message


def languages(trace: AttentionTrace) -> list[str]:
    """Return the codes of both languages, "" where unknown."""
    return [code_of_name(trace.languages.name(side)) for side in get_args(Side)]
