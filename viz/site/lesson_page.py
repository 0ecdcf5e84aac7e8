"""A lesson of the bundled model as a page, whose answers the browser checks."""

from html import escape

from markdown_it import MarkdownIt

from transformer import Translator
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.removal_text import parse_removals
from viz.draw import wire
from viz.lessons import grading
from viz.lessons.lesson import Lesson
from viz.lessons.texts import TEXTS, hint
from viz.report import saved_page
from viz.sentence_parts import removal_text
from viz.site.live_page import Direction, field_html, live_data, store_sentence
from viz.site.sentences import Line

_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def lesson_page(lesson: Lesson, direction: Direction | None) -> str:
    """Compute the answers of a lesson and make its page.

    With a direction, the page has the model, and its pictures follow a sentence that is typed; the
    answers stay those of the lesson's sentence. Cards without a sentence are left out.
    """
    translator = Translator.load()
    key = [entry for entry in grading.answer_key(lesson, translator) if entry.sentence]
    stored = store_sentence(0, translator, Line(1, lesson.sentence, ""))
    texts = TEXTS[lesson.language]
    minutes = texts["minutes"].format(minutes=lesson.minutes)
    cards = "".join(_card(number, key, texts) for number in range(len(key)))
    body = f"""<nav><a href="index.html">Any sentence, every head</a></nav>
<h1>{escape(lesson.title)}</h1>
<p>{texts["goal"]}: {escape(lesson.goal)} · {minutes}</p>
{_MARKDOWN.render(lesson.text)}</header>
<main id="lesson">
{field_html(translator, lesson.sentence)}
<p id="own" hidden>The pictures show your sentence; the questions stay about
“{escape(lesson.sentence)}”</p>
{cards}</main>"""
    answers = wire.packed(wire.encode({"texts": texts, "cards": list(map(_answer, key))}))
    shown = direction or Direction(translator, "", 0, [])
    return saved_page(
        "live",
        f"{lesson.title} · Headlight",
        "auto",
        body=body,
        blocks={
            "live-data": live_data([shown], [stored]),
            "stored-0": stored.text,
            "lesson-data": answers,
        },
        description=f"A lesson on attention, with questions. {lesson.goal}",
        is_live=True,
    )


def _answer(entry: grading.KeyEntry) -> dict[str, object]:
    """Return what `viz/browser/lesson.ts` needs to check the answer to a card."""
    card, answer = entry.card, entry.answer or grading.Answer("", "")
    is_number = not card.choices and not isinstance(answer.value, str)
    return {
        "answer": answer.text,
        # of a typed word, also as it is in German
        "right": [
            *(c.text for c in card.choices if grading.is_right(card, c.text, answer)),
            *([] if card.choices else [answer.text, grading.format_answer(answer, "de")]),
        ],
        "value": answer.value if is_number else None,
        "tolerance": card.answer.tolerance if card.answer else 0.0,
    }


def _card(number: int, key: list[grading.KeyEntry], texts: dict[str, str]) -> str:
    card = key[number].card
    fields = (
        "".join(
            f'<label><input type="radio" name="answer" value="{escape(choice.text)}">'
            f"{_MARKDOWN.renderInline(choice.text)}</label>"
            for choice in card.choices
        )
        or f'<input name="answer" autocomplete="off" aria-label="{texts["answer"]}">'
    )
    form = f"""<form>
<fieldset><legend>{_MARKDOWN.renderInline(card.ask)}</legend>{fields}</fieldset>
<button>{texts["check"]}</button> <button type="button" data-show>{texts["show"]}</button></form>
"""
    ends = {-1: number == 0, 1: number == len(key) - 1}
    back, on = (
        f'<button type="button" data-go="{way}"{" disabled" * ends[way]}>{texts[name]}</button>'
        for way, name in ((-1, "back"), (1, "next"))
    )
    reveal = _MARKDOWN.render(card.reveal).replace("{answer}", "<span data-answer></span>")
    return f"""<article class="card"{" hidden" * bool(number)}>
<div class="task"><h2 tabindex="-1">{number + 1}. {escape(card.title)}</h2>
{_MARKDOWN.render(card.text)}{form if card.ask else ""}<p class="verdict" role="status"></p>
<div class="hint" hidden>{_MARKDOWN.render(hint(card, texts))}</div>
<div class="reveal" hidden>{reveal}</div>
<p class="ways">{back} {texts["card"].format(number=number + 1, count=len(key))} {on}</p>
<p class="score" role="status"></p></div>
<div>{_picture(key[number], texts["without"])}</div>
</article>
"""


def _picture(entry: grading.KeyEntry, opens: str) -> str:
    """Make the picture that a card is about; of a removal, the translation without the heads."""
    card, sentence = entry.card, entry.sentence
    if sentence and (removed := grading.parameters(card).get("removed")):
        removals, _ = parse_removals(removed, sentence.translator.model)
        changed = effect(sentence.translator, sentence.trace, removals)
        return f"<details><summary>{opens}</summary>{removal_text(changed)}</details>"
    if head := grading.head_in_link(card):
        return f'<div data-picture="heads" data-head="{".".join(map(str, head))}"></div>'
    return '<div data-picture="watch"></div>'
