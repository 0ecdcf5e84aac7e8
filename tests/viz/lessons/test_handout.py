import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import segno

from viz.lessons.classroom import class_link
from viz.lessons.grading import Answer, answer_key
from viz.lessons.handout import handout


@pytest.fixture
def page(lesson, bundled):
    return handout(lesson, list(answer_key(lesson, bundled)), "Headlight, model <x>")


def test_questions_come_first_and_their_answers_on_a_new_page(page):
    questions, answers = page.split("<section>")
    assert re.findall(r'<article id="card-(\d)"', questions) == list("123456")
    assert re.findall(r"<li>(\w+)</li>", questions) == ["man", "horse", "Eva", "Adam"]
    assert questions.count('class="blank"') == 1 + 3  # the name, and answers without choices
    for text in ("zuerst", "Auf <strong>", "<p class", "→"):
        assert text in answers
    assert "zuerst" not in questions
    assert "→" not in questions
    assert "section { margin-top: 3rem; break-before: page; }" in page
    right = dict(re.findall(r'id="answer-(\d)">.*?class="right">(.*?)</p>', answers, re.DOTALL))
    assert [right[number] for number in "123"] == ["horse", "7", "Eva"]
    assert "Auf <strong>horse</strong>." in answers
    assert re.findall(r"Satz</b> (.+?) →", answers)[:2] == ["A man rides a horse.", "A dog sleeps."]


def test_with_a_host_it_has_whole_addresses_and_a_code_for_the_class(lesson, bundled):
    host = "http://192.168.1.5:8501/base"
    page = handout(lesson, list(answer_key(lesson, bundled)), "", host)
    assert f"{host}/heads?kind=cross-attention&amp;layer=4&amp;head=5&amp;lesson=heads.de" in page
    assert f"{host}/roles?text=A+dog+sleeps.&amp;roles_view=Remove+heads" in page
    # each opens its view on the sentence that it is about
    views = re.findall(rf"{re.escape(host)}(/\S+?)</p>", page)[1:]
    texts = [parse_qs(urlsplit(unescape(view)).query)["text"] for view in views]
    assert texts == [[lesson.sentence], [lesson.sentence], ["A dog sleeps."], [lesson.sentence]]
    link = class_link(lesson, host)
    size = segno.make(link, micro=False).symbol_size(scale=4)[0]
    assert f'<svg width="{size}" height="{size}"' in page
    assert parse_qs(urlsplit(link).query)["class"] == ["1"]
    assert not re.search(r"<script|<img|\bsrc=|href=|url\(", page)


def test_numbers_are_written_as_in_the_language_of_the_lesson(page):
    assert re.search(r'id="answer-6">.*?class="right">−?\d+,\d\d</p>', page, re.DOTALL)


def test_nothing_in_it_is_interpreted_or_fetched(page, lesson, bundled):
    assert "<h1>Köpfe &lt;b&gt;&amp;amp;</h1>" in page
    assert "&lt;i&gt;eine&lt;/i&gt;" in page
    assert "model &lt;x&gt;" in page
    assert "1. Eine Zeile &amp; mehr" in page
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<img|<link|<a |\bsrc=|href=|url\(|@import", page)
    for text in [r"lang=\"de\"", "Ziel: ", "5 Minuten", ">Satz<", ">Öffne<", "Lösungen: "]:
        assert re.search(text, page)
    key = list(answer_key(lesson, bundled))
    planted = key[0]._replace(answer=Answer("<img src=x>", "x"))
    assert "<img" not in handout(lesson, [planted], "")
    assert "<img" not in handout(replace(lesson, notes="<img src=x>", text="<img src=x>"), [], "")
