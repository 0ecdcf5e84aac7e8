"""A lesson of the bundled model as a page, whose answers the browser checks."""

from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt

from transformer import Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.removal_text import parse_removals
from transformer.files.installed import ASSETS
from transformer.text.languages import code_of_name
from viz.draw import wire
from viz.draw.caption import Origin
from viz.lessons.grading import (
    KeyEntry,
    answer_key,
    head_in_link,
    in_language,
    is_right,
    parameters,
)
from viz.lessons.reading import read_lesson
from viz.lessons.texts import TEXTS
from viz.report import packed, saved_page
from viz.site.sentence_page import pictures, removal_text

LESSON = ASSETS / "lessons" / "attention.en.md"

_BODY = """<nav><a href="index.html">All sentences</a></nav>
<h1>{title}</h1>
<p>{goal}</p>
<p class="translation">{source} → <span lang="{code}">{target}</span></p>
</header>
<main id="lesson">
{cards}</main>"""
_CARD = """<article class="card"{hidden}>
<div class="task">{before}<h2 tabindex="-1">{number}. {title}</h2>
{text}{form}<p class="verdict" role="status"></p>
<div class="hint" hidden>{hint}</div><div class="reveal" hidden>{reveal}</div>
<p class="ways">{ways}</p><p class="score" role="status"></p></div>
<div class="picture">{picture}</div>
</article>
"""
_FORM = """<form><fieldset><legend>{ask}</legend>{fields}</fieldset>
<button>{check}</button> <button type="button" data-show>{show}</button></form>
"""
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class LessonPage:
    """The page of a lesson, with what a link to it says."""

    title: str
    about: str
    html: str

    @property
    def page(self) -> str:
        """The name of its file."""
        return f"lesson-{LESSON.name.partition('.')[0]}.html"


def lesson_page() -> LessonPage:
    """Compute the answers of the lesson and the pictures of its cards, and make its page.

    Cards on a sentence of the reader's own are left out: no model runs in the page.
    """
    lesson, translator = read_lesson(LESSON), Translator.load()
    key = [entry for entry in answer_key(lesson, translator) if entry.sentence]
    translation = translator.translate(lesson.sentence, tree=True)
    trace = translator.trace_of(translation)
    origin = Origin.from_translator(translator, trace.source, trace.target)
    texts = TEXTS[lesson.language]
    cards = [_card(number, key, lesson.text, texts) for number in range(len(key))]
    goal = f"{texts['goal']}: {lesson.goal}"
    about = f"{goal} · {texts['minutes'].format(minutes=lesson.minutes)}"
    answers = {"texts": texts, "cards": list(map(_answer, key))}
    html = saved_page(
        "site",
        f"{lesson.title} · Headlight",
        "auto",
        body=_BODY.format(
            title=escape(lesson.title),
            goal=escape(about),
            source=escape(trace.source),
            target=escape(trace.target),
            code=code_of_name(trace.languages.name("target")),
            cards="".join(cards),
        ),
        blocks={
            "lesson-data": packed(wire.encode(answers)),
            **pictures(translator, translation, trace, origin),
        },
        description=f"A lesson on attention, with questions. {lesson.goal}",
    )
    return LessonPage(lesson.title, about, html)


def _answer(entry: KeyEntry) -> dict[str, object]:
    """Return what `viz/browser/lesson.ts` needs to check the answer to a card."""
    card, answer = entry.card, entry.answer
    if answer is None:
        return {"answer": "", "right": [], "value": None, "tolerance": 0.0}
    choices = [n for n, choice in enumerate(card.choices) if is_right(card, choice.text, answer)]
    is_word = bool(card.choices) or isinstance(answer.value, str)
    return {
        "answer": answer.text,
        "right": [*map(str, choices)] if card.choices else [answer.text, in_language(answer, "de")],
        "value": None if is_word else answer.value,
        "tolerance": card.answer.tolerance if card.answer else 0.0,
    }


def _card(number: int, key: list[KeyEntry], text: str, texts: dict[str, str]) -> str:
    entry = key[number]
    card = entry.card
    fields = "".join(
        f'<label><input type="radio" name="answer" value="{n}">'
        f"{_MARKDOWN.renderInline(choice.text)}</label>"
        for n, choice in enumerate(card.choices)
    )
    if not card.choices:
        fields = f'<input name="answer" autocomplete="off" aria-label="{texts["answer"]}">'
    form = _FORM.format(
        ask=_MARKDOWN.renderInline(card.ask),
        fields=fields,
        check=texts["check"],
        show=texts["show"],
    )
    place = texts["card"].format(number=number + 1, count=len(key))
    ends = {-1: number == 0, 1: number == len(key) - 1}
    back, on = (
        f'<button type="button" data-go="{way}"{" disabled" * ends[way]}>{texts[name]}</button>'
        for way, name in ((-1, "back"), (1, "next"))
    )
    return _CARD.format(
        hidden=" hidden" * bool(number),
        before="" if number else _MARKDOWN.render(text),
        number=number + 1,
        title=escape(card.title),
        text=_MARKDOWN.render(card.text),
        form=form if card.ask else "",
        hint=_MARKDOWN.render(card.hint or texts["hint"]),
        reveal=_MARKDOWN.render(card.reveal).replace("{answer}", "<span data-answer></span>"),
        ways=f"{back} {place} {on}",
        picture=_picture(entry, texts),
    )


def _picture(entry: KeyEntry, texts: dict[str, str]) -> str:
    """Make the picture that a card is about; of a removal, the translation without the heads."""
    card, sentence = entry.card, entry.sentence
    assert sentence is not None
    trace, removed = sentence.trace, parameters(card).get("removed")
    if removed:
        removals, _ = parse_removals(removed, sentence.translator.model)
        changed = effect(sentence.translator, trace, removals)
        code = code_of_name(trace.languages.name("target"))
        return f"<details><summary>{texts['open']}</summary>{removal_text(changed, code)}</details>"
    if (head := head_in_link(card)) and None not in head:
        name = ".".join(map(str, head))
        return f'<div data-picture="heads-data" data-head="{name}"></div>'
    return '<div data-picture="watch-data"></div>'
