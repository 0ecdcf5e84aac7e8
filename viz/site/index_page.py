"""The first page of a site: one sentence that is being translated, and all sentences."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from viz.draw.labels import capitalised
from viz.report import anchor, saved_page
from viz.site import lesson_page
from viz.site.sentence_page import ShownSentence

DESCRIPTION = (
    "Watch a Transformer translate, word by word. See what each attention head looks at, which "
    "words belong together, and what changes without a head."
)


def index_page(every: Sequence[ShownSentence], lesson: str, docs: str) -> str:
    """Make the first page, with the title of the lesson.

    `docs` is the address of the documentation, or "".
    """
    first, cards = every[0], ""
    for pair, same in groupby(every, lambda sentence: sentence.pictures.trace.languages):
        names = (capitalised(pair.name("source")), capitalised(pair.name("target")))
        cards += f'<section><h2>{" to ".join(names)}</h2>\n<ul class="cards">'
        cards += "".join(map(_card, same)) + "</ul></section>\n"
    way = anchor(docs, "Documentation") if docs else ""
    body = f"""<h1>Headlight</h1>
<p class="translation">{DESCRIPTION}</p>
<nav><a href="{lesson_page.PAGE}">Take a lesson: {escape(lesson)}</a>{way}</nav>
</header>
<main>
<section id="watch"><p>{first.pictures.texts[0]}
<a href="{first.page}">Look inside this sentence</a></p>
<div data-picture="player"></div></section>
{cards}</main>
<footer><p>The pages load nothing from elsewhere, and no model runs in them: everything was
computed beforehand. For your own sentences, install Headlight and run <code>headlight app</code>.
</p></footer>"""
    return saved_page(
        "site",
        "Headlight: watch a Transformer translate",
        "auto",
        body=body,
        blocks={"trace-data": first.pictures.blocks["trace-data"]},
        description=DESCRIPTION,
    )


def _card(sentence: ShownSentence) -> str:
    texts = "".join(sentence.pictures.texts)
    about = escape(sentence.line.about)
    return f'<li><a href="{sentence.page}"><small>{about}</small>{texts}</a></li>\n'
