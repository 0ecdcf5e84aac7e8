"""The page of one sentence: the player, its links, its costliest heads, and every head."""

from dataclasses import dataclass, field
from html import escape

from transformer import Translator
from viz.draw.formatting import counted, format_number
from viz.report import saved_page
from viz.sentence_parts import languages, parts_html
from viz.site.pictures import Pictures, pictures
from viz.site.sentences import Line


@dataclass(frozen=True, eq=False)
class ShownSentence:
    """A sentence with all that its page shows."""

    line: Line
    pictures: Pictures
    parts: str = field(repr=False)  # HTML

    @property
    def page(self) -> str:
        """The name of its file."""
        return f"{languages(self.pictures.trace)[0] or 'text'}-{self.line.number}.html"


def show_sentence(translator: Translator, line: Line) -> ShownSentence:
    """Translate a sentence, encode its pictures, and remove its costliest heads."""
    shown = pictures(translator, line.text)
    return ShownSentence(line, shown, parts_html(translator, shown.trace))


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
{sentence.parts}<section id="heads"><h2>Every head</h2>
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
