"""The parts of a page on a sentence before its heads: player, links and costliest heads."""

from collections.abc import Sequence
from typing import TypeAlias

from transformer import AttentionTrace, Translator
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import removal_order
from viz.draw.changed_words import mark_changed_words
from viz.draw.formatting import format_difference, format_number
from viz.site.pictures import languages

COSTLIEST = 4  # heads that are removed, each alone, then all

Removals: TypeAlias = Sequence[tuple[Sequence[Head], Effect]]


def costliest_heads(translator: Translator, trace: AttentionTrace) -> Removals:
    """Remove the heads without which a translation becomes least probable."""
    order = removal_order(translator.model, trace, length=COSTLIEST, greedy=COSTLIEST)
    return [
        (heads, effect(translator, trace, [Removal(*head) for head in heads]))
        for heads in (*([head] for head in order), order)
    ]


def parts(removals: Removals) -> str:
    """Make the parts; their pictures are those of `player_and_links`."""
    return f"""<section id="watch"><h2>Watch it translate</h2>
<div data-picture="watch-data"></div></section>
<section id="links"><h2>Which words belong together</h2>
<div data-picture="links-data"></div></section>
<section id="without"><h2>Without its costliest heads</h2>
<p>The heads are in the order in which the page removes them: each time the head without which the
translation becomes least probable. A number is the change in log probability without this head
alone. Choose a head to see what the model writes without it. Bold: new. Struck through:
dropped.</p>
{_choices(removals)}</section>
"""


def _choices(removals: Removals) -> str:
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
