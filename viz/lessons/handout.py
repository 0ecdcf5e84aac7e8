"""Handout of a lesson: one printable HTML page, the questions first and the answers on a new page.

It has no script and needs no network. Texts of the lesson file are Markdown without HTML.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from viz.lessons.classroom import class_link, qr_code
from viz.lessons.grading import KeyEntry, format_answer
from viz.lessons.lesson import Card, Language, Lesson
from viz.lessons.texts import TEXTS

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<main>
{questions}
</main>
<section>
{answers}
</section>
</body>
</html>
"""
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def handout(lesson: Lesson, key: Sequence[KeyEntry], made_by: str, host: str = "") -> str:
    """Make the page of a lesson; `made_by` names program and model that computed the answers.

    With the host of an app, it has the link for a class with its QR code, and whole addresses.
    """
    texts = TEXTS[lesson.language]
    about = f"{texts['goal']}: {lesson.goal} · {texts['minutes'].format(minutes=lesson.minutes)}"
    questions = [
        _blank(texts["name"]),
        f"<h1>{escape(lesson.title)}</h1>",
        f'<p class="about">{escape(about)}</p>',
        *_labelled(texts["source"], lesson.sentence),
        *_link(lesson, host, texts),
        _MARKDOWN.render(lesson.text),
        *(_question(number, entry, lesson, host) for number, entry in enumerate(key, start=1)),
    ]
    answers = [
        f"<h1>{texts['solutions']}: {escape(lesson.title)}</h1>",
        f'<p class="about">{escape(texts["computed"].format(model=made_by))}</p>',
        *_answers(key, lesson.language),
    ]
    if lesson.notes:
        notes = [f"<h2>{texts['notes']}</h2>", _MARKDOWN.render(lesson.notes)]
        answers.append(_article("notes", notes))
    return _PAGE.format(
        language=lesson.language,
        title=escape(lesson.title),
        css=Path(__file__).with_name("handout.css").read_text("utf-8"),
        questions="\n".join(questions),
        answers="\n".join(answers),
    )


def _link(lesson: Lesson, host: str, texts: dict[str, str]) -> list[str]:
    """Format the link for a class and its QR code, where there is a host."""
    link = class_link(lesson, host)
    return [*_labelled(texts["link"], link, "link"), qr_code(link)] if host else []


def _question(number: int, entry: KeyEntry, lesson: Lesson, host: str) -> str:
    card, texts = entry.card, TEXTS[lesson.language]
    parts = [_heading(number, card)]
    if entry.sentence and entry.sentence.trace.source != lesson.sentence:
        parts += _labelled(texts["source"], entry.sentence.trace.source)
    parts.append(_MARKDOWN.render(card.text))
    if card.view:
        view = card.view
        if host and (sentence := lesson.sentence_of(card)):
            view = view._replace(choices={**view.choices, "text": [sentence]})
        parts += _labelled(texts["link"], host + view.url, "link")
    if card.ask:
        parts.append(f'<div class="ask">{_MARKDOWN.render(card.ask)}</div>')
        boxes = "".join(f"<li>{_MARKDOWN.renderInline(c.text)}</li>" for c in card.choices)
        parts.append(f"<ul>{boxes}</ul>" if boxes else _blank(texts["solution"]))
    return _article(f"card-{number}", parts)


def _answers(key: Sequence[KeyEntry], language: Language) -> list[str]:
    """Format the answers to the questions, each sentence with its translation once."""
    parts, source, texts = [], "", TEXTS[language]
    for number, (card, sentence, answer, problem) in enumerate(key, start=1):
        if not card.ask:
            continue
        lines = [_heading(number, card)]
        if sentence and sentence.trace.source != source:
            source = sentence.trace.source
            lines += _labelled(texts["source"], f"{source} → {sentence.trace.target}")
        text = escape(format_answer(answer, language) if answer else problem or texts["own"])
        reveal = _MARKDOWN.render(card.reveal) if answer else ""
        # the answer is text, and put in after the Markdown is HTML
        reveal = reveal.replace("{answer}", text)
        lines += [f'<p class="right">{text}</p>', reveal]
        parts.append(_article(f"answer-{number}", lines))
    return parts


def _heading(number: int, card: Card) -> str:
    return f"<h2>{number}. {escape(card.title)}</h2>"


def _article(name: str, parts: Sequence[str]) -> str:
    return "\n".join([f'<article id="{name}">', *parts, "</article>"])


def _blank(label: str) -> str:
    return f'<p class="blank"><b>{label}</b><span></span></p>'


def _labelled(label: str, text: str, style: str = "sentence") -> list[str]:
    return [f'<p class="{style}"><b>{label}</b> {escape(text)}</p>'] if text else []
