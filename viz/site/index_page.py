"""The first page of a site: one sentence that is being translated, and all sentences."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from transformer.text.languages import code_of_name
from viz.draw.labels import capitalised
from viz.report import saved_page
from viz.site.lesson_page import LessonPage
from viz.site.sentence_page import ShownSentence

DESCRIPTION = (
    "Watch a Transformer translate, word by word. See what each attention head looks at, which "
    "words belong together, and what changes without a head."
)
_BODY = """<h1>Headlight</h1>
<p class="lead">{description}</p>
<nav><a href="{lesson_page}">Take a lesson: {lesson}</a>{docs}</nav>
</header>
<main>
<section id="watch"><p><span lang="{source_code}">{source}</span> \
<a href="{page}">Look inside this sentence</a></p>
<div data-picture="watch-data"></div></section>
{cards}</main>
<footer><p>The pages load nothing from elsewhere, and no model runs in them: everything was \
computed beforehand. For your own sentences, install Headlight and run <code>headlight app</code>.
</p></footer>"""
_CARD = """<li><a href="{page}"><small>{about}</small><span lang="{source_code}">{source}</span>
<span class="translation" lang="{target_code}">{target}</span></a></li>
"""


def index_page(every: Sequence[ShownSentence], lesson: LessonPage, docs: str) -> str:
    """Make the first page; `docs` is the address of the documentation, or ""."""
    first = every[0]
    cards = []
    for languages, same in groupby(every, lambda sentence: sentence.trace.languages):
        names = [languages.name(side) for side in ("source", "target")]
        items = "".join(
            _CARD.format(
                page=sentence.page,
                about=escape(sentence.line.about),
                source=escape(sentence.trace.source),
                target=escape(sentence.trace.target),
                source_code=code_of_name(names[0]),
                target_code=code_of_name(names[1]),
            )
            for sentence in same
        )
        title = escape(" to ".join(map(capitalised, names)))
        cards.append(f'<section><h2>{title}</h2>\n<ul class="cards">\n{items}</ul></section>\n')
    return saved_page(
        "site",
        "Headlight: watch a Transformer translate",
        "auto",
        body=_BODY.format(
            description=DESCRIPTION,
            lesson_page=lesson.page,
            lesson=escape(lesson.title),
            docs=f'<a href="{escape(docs)}">Documentation</a>' if docs else "",
            source_code=code_of_name(first.trace.languages.name("source")),
            source=escape(first.trace.source),
            page=first.page,
            cards="".join(cards),
        ),
        blocks={"watch-data": first.blocks["watch-data"]},
        description=DESCRIPTION,
    )
