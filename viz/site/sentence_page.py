"""The page of one sentence: the player, its links, its costliest heads, and every head."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from transformer import Translator
from transformer.analysis.heads.effect import Effect, effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal
from transformer.analysis.heads.removal_order import CANDIDATES, removal_order
from viz.draw.formatting import counted, format_difference, format_number
from viz.report import saved_page
from viz.site.pictures import Pictures, languages, pictures, removal_text
from viz.site.sentences import Line

COSTLIEST = 4  # heads that are removed, each alone, then all


@dataclass(frozen=True, eq=False)
class ShownSentence:
    """A sentence with all that its page shows."""

    line: Line
    pictures: Pictures
    removals: Sequence[tuple[Sequence[Head], Effect]] = field(repr=False)

    @property
    def page(self) -> str:
        """The name of its file."""
        return f"{languages(self.pictures.trace)[0] or 'text'}-{self.line.number}.html"


def show_sentence(translator: Translator, line: Line) -> ShownSentence:
    """Translate a sentence, remove its costliest heads, and encode all pictures."""
    shown = pictures(translator, line.text)
    order = removal_order(translator.model, shown.trace, length=COSTLIEST)
    removals = [
        (heads, effect(translator, shown.trace, [Removal(*head) for head in heads]))
        for heads in (*([head] for head in order), order)
    ]
    return ShownSentence(line, shown, removals)


def sentence_page(sentence: ShownSentence) -> str:
    """Make the page of a sentence."""
    trace, (source, target) = sentence.pictures.trace, sentence.pictures.texts
    log_p = format_number(float(trace.log_probs.sum()))
    about = f"Log probability {log_p} ({counted(len(trace.log_probs), 'subword')})"
    about = escape(" · ".join(filter(None, [sentence.line.about, about])))
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in trace.notes)
    heads = sum(sum(trace.head_count(kind)) for kind in trace.kinds)
    body = f"""<nav><a href="index.html">All sentences</a></nav>
<h1>{source}</h1>
<p class="translation">{target}</p>
<p>{about}</p>
{notes}</header>
<main>
<section id="watch"><h2>Watch it translate</h2>
<div data-picture="watch-data"></div></section>
<section id="links"><h2>Which words belong together</h2>
<div data-picture="links-data"></div></section>
<section id="without"><h2>Without its costliest heads</h2>
<p>The heads are in the order in which the page removes them. Without the first one, of all heads,
the translation becomes least probable; each other one is the worst, with those before it removed,
of the {CANDIDATES} that are worst alone. A number is the change in log probability without this
head alone. Choose a head to see what the model writes without it. Bold: new. Struck through:
dropped.</p>
{_removals(sentence)}</section>
<section id="heads"><h2>Every head</h2>
<p>Each small map is one of {heads} heads; choose one to open it.</p>
<div data-picture="heads-data"></div></section>
</main>
<footer><p>{escape(sentence.pictures.made_by)}.</p></footer>"""
    return saved_page(
        "site",
        f"{trace.source} · Headlight",
        "auto",
        body=body,
        blocks=sentence.pictures.blocks,
        description=f"How a Transformer translates “{trace.source}”, head by head.",
    )


def _removals(sentence: ShownSentence) -> str:
    """Format a button for each removal, and the translations that they show."""
    buttons, texts = "", ""
    for number, (heads, changed) in enumerate(sentence.removals):
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
